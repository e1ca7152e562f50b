/** `orrery serve` as used by its operator: rejected settings, output, shutdown. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Wallet } from 'ethers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HttpMatcherClient } from '../../src/http-client/index.ts';

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
    [
      CLI,
      'serve',
      '--data-dir',
      data,
      ...(args.includes('--port') ? [] : ['--port', '0']),
      ...args,
    ],
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
    'an invalid number of commands',
    () => ['--snapshot-every', '-1'],
    '--snapshot-every must be an integer of at least 0',
  ],
  ['a clock', () => ['--clock', 'sun'], 'clock'],
  ['a flag', () => ['--prot', '1'], 'prot'],
  ['a missing file', () => ['--config', join(folder, 'x.yaml')], 'no such file or folder'],
  ['a file that is not YAML', () => ['--config', file('c.yaml', 'config: [')], 'c.yaml: '],
  ['a key', () => ['--config', file('c.yaml', 'market: []')], 'market: unknown key'],
  [
    'a parameter',
    () => ['--config', file('c.yaml', 'config: { speed: 1 }')],
    'config.speed: unknown field',
  ],
  [
    'a market',
    () => ['--config', file('c.yaml', 'markets: [DOGE]')],
    'markets[0]: DOGE is not a predefined market',
  ],
  [
    'a market that is listed twice',
    () => ['--config', file('c.yaml', 'markets: [BTC-USD-PERP, { symbol: BTC-USD-PERP }]')],
    'markets[1]: BTC-USD-PERP is listed already, by markets[0]',
  ],
  [
    'a market’s term',
    () => ['--config', file('c.yaml', 'markets: [{ symbol: X, tickSize: "0", lotSize: "1" }]')],
    'market.tickSize: must be positive',
  ],
  [
    'a short secret',
    () => ['--secret-file', file('s', 'short')],
    'the secret of --secret-file has 5 bytes; at least 32 are required',
  ],
  [
    'a strategy without a replay',
    () => ['--clock', 'virtual', '--sim-token', 'dev', '--strategy', 'my.ts'],
    '--strategy applies to a replay: give --replay',
  ],
] as const)('%s is reported with exit code 2', (_name, args, words) => {
  const { status, stderr } = run(...args());
  expect(stderr).toContain(words);
  expect(status).toBe(2);
});

test('a port that another program has is reported with what to do', async () => {
  const other = createServer();
  const port = await new Promise<number>((done) => {
    other.listen(0, '127.0.0.1', () => {
      done((other.address() as AddressInfo).port);
    });
  });
  const { status, stderr } = run('--port', String(port), '--metrics-port', 'off');
  other.close();
  expect(stderr).toMatch(
    /cannot listen: .*EADDRINUSE.*; stop what listens there, or choose another --port/,
  );
  expect(status).toBe(2);
});

test('prints its address and the recovery, and ends on SIGTERM with a snapshot', async () => {
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
  expect(first.stderr).toContain('no secret is set');
  const [journal, logins, snapshot, ...others] = readdirSync(data).sort();
  expect([journal, logins, others]).toEqual(['journal-0000000000000001.orrery', 'logins', []]);
  expect(snapshot).toMatch(/^snapshot-\d{16}\.bin$/);
  const second = await once();
  expect(second.stderr).toMatch(
    /recovered .*: snapshot of command \d+, 0 commands replayed, state hash [0-9a-f]{64}/,
  );
});

describe('a running server', () => {
  let child: ChildProcess;
  let stdout = '';
  let stderr = '';
  let url = '';
  const SECRET = 'secret of the tokens of this server, long enough';
  beforeEach(async () => {
    const flags = ['--data-dir', join(folder, 'var'), '--port', '0', '--log-level', 'trace'];
    child = spawn(process.execPath, [CLI, 'serve', ...flags], {
      env: { ...process.env, ORRERY_SECRET: SECRET, ORRERY_SIM_TOKEN: 'token-of-the-simulation' },
    });
    stdout = '';
    stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    url = await new Promise<string>((resolve, reject) => {
      child.on('exit', () => {
        reject(new Error(stderr));
      });
      child.stdout?.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
        const found = /listens on (\S+)/.exec(stdout)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
  });
  afterEach(() => {
    child.kill('SIGKILL');
  });
  const ended = (): Promise<number | null> =>
    new Promise((resolve) => {
      child.on('exit', resolve);
    });

  test('logs each request with its id as JSON, without secrets', async () => {
    const client = new HttpMatcherClient({ url, signer: Wallet.createRandom() });
    const token = await client.bearer();
    await fetch(`${url}/time`, { headers: { 'x-request-id': 'mine-17' } });
    await fetch(`${url}/sim/hash`, {
      headers: { authorization: 'Bearer token-of-the-simulation' },
    });
    await fetch(`${url}/auth/claims`, { headers: { authorization: `Bearer ${token}` } });
    await expect.poll(() => stderr).toContain('mine-17');
    child.kill('SIGTERM');
    expect(await ended()).toBe(0);
    expect(stdout).toBe(`orrery listens on ${url}\n`);
    const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged).toContainEqual(
      expect.objectContaining({ reqId: 'mine-17', method: 'GET', route: '/time', status: 200 }),
    );
    for (const secret of [SECRET, token, 'token-of-the-simulation']) {
      expect(stderr + stdout).not.toContain(secret);
    }
  });

  test('ends within seconds despite open clients: one idle, one unresponsive, one slow', async () => {
    const { port, hostname } = new URL(url);
    const idle = connect(Number(port), hostname);
    const slow = connect(Number(port), hostname, () => {
      slow.write('GET /time HTTP/1.1\r\nX-A: ');
    });
    const feed = connect(Number(port), hostname, () => {
      feed.write(
        'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
    });
    for (const socket of [idle, slow, feed]) socket.on('error', () => undefined);
    await new Promise((resolve) => feed.once('data', resolve));
    const started = performance.now();
    child.kill('SIGINT');
    expect(await ended()).toBe(0);
    expect(performance.now() - started).toBeLessThan(20_000);
  }, 30_000);
});
