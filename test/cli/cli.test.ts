/** Manners of the command line: exit codes, errors in one line with place and limit, JSON for programs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'dist', 'cli', 'main.js');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-cli-'));
const journal = join(scratch, 'run.orrery');

function orrery(...args: string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: scratch,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
  const ran = orrery('run', join(root, 'scenarios', 'fees.yaml'), '--journal', journal);
  expect(ran.err).toBe('');
  expect(ran.status).toBe(0);
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('a journal replays and verifies', () => {
  const { status, out } = orrery('replay', journal, '--verify', '--json');
  expect(status).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ complete: true, mismatch: null });
  expect(orrery('replay', journal, '--until-seq', '2').out).toContain('commands    2');
});

test('inspect shows the header and the commands', () => {
  const shown = JSON.parse(orrery('inspect', journal, '--json', '--limit', '3').out) as {
    frames: { kind: string }[];
  };
  expect(shown.frames).toHaveLength(3);
  expect(shown.frames[0]).toMatchObject({ kind: 'listMarket', seq: 1 });
});

test('a flipped bit is named with frame and byte', () => {
  const bytes = readFileSync(journal);
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 4;
  const damaged = join(scratch, 'damaged.orrery');
  writeFileSync(damaged, bytes);
  const { status, err } = orrery('replay', damaged, '--verify');
  expect(status).toBe(2);
  expect(err).toMatch(
    /damaged\.orrery: journal (at byte \d+, after command \d+|header): .*checksum/,
  );
});

test.each([
  [['replay', 'missing.orrery'], 2, 'missing.orrery: no such file or folder'],
  [['replay', '.'], 2, 'no journal is in this folder'],
  [['replay'], 2, 'Not enough non-option arguments'],
  [['replay', 'x', '--until-seq=-1'], 2, '--until-seq must be a whole number from 0'],
  [['replya', 'x'], 2, 'Did you mean replay?'],
  [['run', 'nothing-here.yaml'], 2, 'nothing-here.yaml'],
  [['demo', '--colour'], 2, 'Unknown argument: colour'],
  [['demo', '--data', 'nowhere'], 2, 'nowhere: no such file or folder'],
  [['data', 'verify', 'nowhere'], 2, 'nowhere: no such file or folder'],
  [['data', 'book', '.', '--every', '0'], 2, '--every must be a whole number from 1'],
  [['data', 'import', 'stone', 'x', '--out', 'y'], 2, 'Invalid values'],
  [[], 2, 'name a command'],
])('%j exits %i and says why', (args, status, message) => {
  const ran = orrery(...args);
  expect(ran.err).toContain(message);
  expect(ran.err).not.toContain('    at ');
  expect(ran.status).toBe(status);
});

test('a truncated recording is refused, and nothing is left half-written', () => {
  const bytes = readFileSync(
    join(root, 'data', 'btcusdt-20240808', 'binance-raw', '00001-2024-08-08.levels.parquet'),
  );
  writeFileSync(join(scratch, 'not-a-recording'), bytes.subarray(0, 5000));
  const ran = orrery('data', 'import', 'binance-raw', 'not-a-recording', '--out', 'made');
  expect(ran.status).toBe(2);
  expect(ran.err).toContain('line 1');
  expect(spawnSync('ls', [scratch], { encoding: 'utf8' }).stdout).not.toContain('made');
});

test.each([
  ['--help'],
  ['replay', '--help'],
  ['inspect', '--help'],
  ['journal', 'verify', '--help'],
  ['run', '--help'],
  ['demo', '--help'],
  ['data', 'import', '--help'],
])('orrery %s %s shows help', (...args) => {
  const { status, out } = orrery(...args);
  expect(status).toBe(0);
  expect(out).toContain('--help');
});
