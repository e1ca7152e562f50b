/** `orrery serve` as its operator meets it: what it refuses, what it says, how it ends. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orrery-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

function run(...args: string[]): { status: number | null; stderr: string } {
  const data = join(folder, 'var');
  const { status, stderr } = spawnSync(
    process.execPath,
    [CLI, 'serve', '--data-dir', data, '--port', '0', ...args],
    {
      encoding: 'utf8',
      timeout: 20_000,
    },
  );
  return { status, stderr };
}

test.each([
  ['a port', () => ['--port', '70000'], '--port must be from 0 to 65535'],
  [
    'a number of commands',
    () => ['--snapshot-every', '-1'],
    '--snapshot-every must be an integer of at least 0',
  ],
  ['a clock', () => ['--clock', 'sun'], 'clock'],
  ['a flag', () => ['--prot', '1'], 'prot'],
  [
    'a file that is not there',
    () => ['--config', join(folder, 'x.yaml')],
    'no such file or folder',
  ],
  ['a file that is no YAML', () => ['--config', file('c.yaml', 'config: [')], 'c.yaml: '],
  ['a key', () => ['--config', file('c.yaml', 'market: []')], 'market: unknown key'],
  [
    'a parameter',
    () => ['--config', file('c.yaml', 'config: { speed: 1 }')],
    'config.speed: unknown field',
  ],
  ['a market', () => ['--config', file('c.yaml', 'markets: [DOGE]')], 'DOGE is not out of the box'],
  [
    'a market’s term',
    () => ['--config', file('c.yaml', 'markets: [{ symbol: X, tickSize: "0", lotSize: "1" }]')],
    'market.tickSize: must be positive',
  ],
  [
    'a short secret',
    () => ['--secret-file', file('s', 'short')],
    'the secret has 5 bytes, at least 32 are needed',
  ],
] as const)('%s that is wrong is named, with exit code 2', (_name, args, words) => {
  const { status, stderr } = run(...args());
  expect(stderr).toContain(words);
  expect(status).toBe(2);
});

test('says where it listens and what it recovered, and ends on SIGTERM with a snapshot', async () => {
  const data = join(folder, 'var');
  const config = file(
    'c.yaml',
    'config: { name: Mine }\nmarkets: [ETH-USD-PERP, { symbol: X, tickSize: 0.10, lotSize: "1" }]',
  );
  const once = async (): Promise<{
    stdout: string;
    stderr: string;
    name: unknown;
    symbols: unknown;
  }> => {
    const child = spawn(process.execPath, [
      CLI,
      'serve',
      '--data-dir',
      data,
      '--port',
      '0',
      '--config',
      config,
    ]);
    let stdout = '';
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.on('exit', () => {
        reject(new Error(stderr));
      });
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
        const found = /^orrery listens on (\S+)\n/.exec(stdout)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    const { name } = (await (await fetch(`${url}/config`)).json()) as { name: string };
    const markets = (await (await fetch(`${url}/markets`)).json()) as {
      symbol: string;
      tickSize: string;
    }[];
    child.kill('SIGTERM');
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(0);
    return {
      stdout,
      stderr,
      name,
      symbols: markets.map(({ symbol, tickSize }) => `${symbol} ${tickSize}`),
    };
  };
  const first = await once();
  expect(first).toMatchObject({ name: 'Mine', symbols: ['ETH-USD-PERP 0.01', 'X 0.1'] });
  expect(first.stderr).toContain(`a new exchange in ${data}`);
  expect(first.stderr).toContain('no secret is given');
  expect(readdirSync(data).sort()).toEqual(['journal.orrery', 'snapshot-0000000000000002.bin']);
  const second = await once();
  expect(second.stderr).toMatch(
    /recovered .*: snapshot of command 2, 0 commands replayed, state hash [0-9a-f]{64}/,
  );
});
