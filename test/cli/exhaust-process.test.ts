/** `orrery exhaust` as used: the table, resumption, bad input. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'dist', 'cli', 'main.js');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-exhaust-cli-'));

function exhaust(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'exhaust', ...args], {
    cwd: scratch,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

const FAST = ['--world', 'money', '--depth', '2', '--oracle-depth', '0', '--sample', '0'];

beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('a stopped search continues with the same table, on another number of workers', () => {
  const whole = exhaust(...FAST, '--workers', '2', '--json', '--out', 'whole');
  expect(whole).toMatchObject({ status: 0, err: '' });
  const { levels, states, complete } = JSON.parse(whole.out) as Record<string, unknown>;
  expect(complete).toBe(true);
  const stopped = exhaust(...FAST, '--seconds', '0', '--json', '--out', 'parts');
  expect(stopped).toMatchObject({ status: 0, err: '' });
  expect(JSON.parse(stopped.out)).toMatchObject({ complete: false, levels: [] });
  const resumed = exhaust('--resume', '--workers', '1', '--json', '--out', 'parts');
  expect(resumed).toMatchObject({ status: 0, err: '' });
  expect(JSON.parse(resumed.out)).toMatchObject({ complete: true, levels, states });
  // A complete search has nothing left; its table stays.
  const again = exhaust('--resume', '--out', 'parts');
  expect(again.status).toBe(0);
  expect(again.out).toContain('depth │ states │ edges');
}, 180_000);

test('checkpoints that are missing, damaged or of another engine are refused', () => {
  expect(exhaust('--resume', '--out', 'none')).toMatchObject({ status: 2 });
  expect(existsSync(join(scratch, 'none'))).toBe(false);
  const whole = join(scratch, 'whole', 'checkpoint.bin');
  const bytes = readFileSync(whole);
  writeFileSync(whole, bytes.subarray(0, bytes.length - 16));
  const cut = exhaust('--resume', '--out', 'whole');
  expect(cut).toMatchObject({ status: 2 });
  expect(cut.err).toContain('not the checkpoint of a search');
  const text = bytes.toString('latin1').replace(/"identity":"(-?)\d/, '"identity":"$19');
  writeFileSync(whole, Buffer.from(text, 'latin1'));
  const other = exhaust('--resume', '--out', 'whole');
  expect(other).toMatchObject({ status: 2 });
  expect(other.err).toContain('another version of the engine');
});

test.each([
  [['--depth', '0'], '--depth must be a whole number from 1 to 12, got 0'],
  [['--sample', '2'], '--sample must be a number from 0 to 1, got 2'],
  [['--oracle-depth', '1.5'], '--oracle-depth must be a whole number from 0 to 12, got 1.5'],
])('%j is refused with its limit', (args, message) => {
  const { status, err } = exhaust(...args);
  expect(status).toBe(2);
  expect(err).toContain(message);
});

test('a folder to which another search writes is refused, and is free once that is killed', async () => {
  const args = ['exhaust', '--depth', '12', '--json', '--workers', '1', '--out', 'shared'];
  const begin = () => spawn(process.execPath, [main, ...args], { cwd: scratch, stdio: 'ignore' });
  let first = begin();
  try {
    // A search that begins before the first one has the lock ends at once; the first one may find
    // the lock taken by it, and then begins again.
    await expect
      .poll(
        () => {
          if (first.exitCode !== null) first = begin();
          return exhaust(...FAST, '--seconds', '0', '--out', 'shared').status;
        },
        { timeout: 60_000 },
      )
      .toBe(2);
    for (const more of [[...FAST], ['--resume']]) {
      const { status, err } = exhaust(...more, '--out', 'shared');
      expect(err).toContain('shared: another search writes to this folder');
      expect(err).toContain('name another one with --out');
      expect(status).toBe(2);
    }
    expect(first.exitCode).toBeNull();
  } finally {
    const ended = once(first, 'exit');
    first.kill('SIGKILL');
    if (first.exitCode === null) await ended;
  }
  expect(exhaust(...FAST, '--out', 'shared')).toMatchObject({ status: 0, err: '' });
  expect(readdirSync(join(scratch, 'shared'))).toEqual(['checkpoint.bin']);
}, 180_000);

test('a search that is killed at once is resumed, and not the one before it', async () => {
  expect(exhaust(...FAST, '--out', 'killed').status).toBe(0);
  const args = ['exhaust', '--world', 'risk', '--depth', '12', '--out', 'killed'];
  const search = spawn(process.execPath, [main, ...args], { cwd: scratch });
  const [line] = (await once(search.stdout, 'data')) as [Buffer];
  expect(line.toString()).toContain('world       risk');
  search.kill('SIGKILL');
  await once(search, 'exit');
  const { status, out } = exhaust('--resume', '--seconds', '0', '--json', '--out', 'killed');
  expect(status).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ world: 'risk', depth: 12, complete: false });
}, 180_000);
