/**
 * Conventions of the command line: exit codes, one-line errors with place and limit, JSON for
 * programs.
 */
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

test('inspect shows the commands of a scenario, which it runs', () => {
  const scenario = fileURLToPath(new URL('../../scenarios/fees.yaml', import.meta.url));
  const shown = JSON.parse(orrery('inspect', scenario, '--json', '--limit', '2').out) as object;
  expect(shown).toMatchObject({
    afterSeq: 0,
    complete: true,
    counts: { listMarket: 2, end: 1 },
    frames: [{ kind: 'listMarket', seq: 1 }, { seq: 2 }],
  });
  const other = join(scratch, 'other.yaml');
  writeFileSync(other, 'orrery: 1\ntitle: t\nsteps: 3\n');
  const { status, err } = orrery('inspect', other);
  expect(status).toBe(2);
  expect(err).toContain('other.yaml:3:8: steps: ');
});

test('a flipped bit is reported with frame and byte', () => {
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
  [['replay'], 2, 'missing <journal>: journal file'],
  [['replay', 'x', '--until-seq=-1'], 2, '--until-seq must be a whole number from 0'],
  [['replya', 'x'], 2, 'unknown command "replya"; did you mean "replay"?'],
  [['run', 'nothing-here.yaml'], 2, 'nothing-here.yaml'],
  [['demo', '--colour'], 2, 'unknown option --colour'],
  [['demo', '--data', 'nowhere'], 2, 'nowhere: no such file or folder'],
  [['data', 'verify', 'nowhere'], 2, 'nowhere: no such file or folder'],
  [['data', 'book', '.', '--every', '0'], 2, '--every must be a whole number from 1'],
  [['data', 'import', 'stone', 'x', '--out', 'y'], 2, '<format> must be one of'],
  [[], 2, 'name a command'],
])('%j exits with %i and the reason', (args, status, message) => {
  const ran = orrery(...args);
  expect(ran.err).toContain(message);
  expect(ran.err).not.toContain('    at ');
  expect(ran.status).toBe(status);
});

test('a truncated recording is rejected, and no partial output remains', () => {
  const bytes = readFileSync(
    join(root, 'data', 'btcusdt-20240808', 'binance-raw', '00001-2024-08-08.levels.parquet'),
  );
  writeFileSync(join(scratch, 'not-a-recording'), bytes.subarray(0, 5000));
  const ran = orrery('data', 'import', 'binance-raw', 'not-a-recording', '--out', 'made');
  expect(ran.status).toBe(2);
  expect(ran.err).toContain('not-a-recording: it is a Parquet file');
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

const STRATEGY = join(root, 'examples', 'strategies', 'sma-cross.ts');
const RECORDED = join(root, 'data', 'btcusdt-20240808');
/** Equity that falls, so that negative rates are meaningful. */
const FALLING = 'time,equity\n2024-01-01,100\n2024-01-02,99\n2024-01-03,98.5\n2024-01-04,98\n';

test.each([
  [['--risk-free', '-0.01'], { riskFree: -0.01 }],
  [['--target', '-.02', '--level', '0.9'], { target: -0.02, level: 0.9 }],
  [['--benchmark-sharpe', '-1e-1'], { benchmarkSharpe: -0.1 }],
  [['--benchmark-sharpe=-1'], { benchmarkSharpe: -1 }],
])('accepts the negative value of %j', (flags, options) => {
  const path = join(scratch, 'falling.csv');
  writeFileSync(path, FALLING);
  const ran = orrery('metrics', path, '--json', ...flags);
  expect(ran).toMatchObject({ status: 0 });
  expect((JSON.parse(ran.out) as { options: unknown }).options).toMatchObject(options);
});

test.each([
  [['backtest', STRATEGY, '--data', 'nowhere', '--fees', '-0.0001,0.0004'], 'nowhere: '],
  [
    ['backtest', STRATEGY, '--data', RECORDED, '--fees', '-x,0.0004'],
    'market.makerFee: must be a decimal',
  ],
  [
    ['backtest', STRATEGY, '--data', RECORDED, '--balance', '-5'],
    "--balance '-5': must be a positive",
  ],
  [['sweep', STRATEGY, '--data', 'nowhere', '--objective', '-maxDrawdown'], 'nowhere: '],
  [
    ['sweep', STRATEGY, '--data', 'nowhere', '--objective', '-luck'],
    "objective '-luck': must be one of",
  ],
  [['replay', '--json', '-x'], 'missing <journal>: journal file'],
])('parses a value that begins with a minus sign: %j', (args, message) => {
  const ran = orrery(...args);
  expect(ran.status).toBe(2);
  expect(ran.err).toContain(message);
  expect(ran.err).not.toContain('unknown option');
});

test('shows help for -h after an option', () => {
  expect(orrery('backtest', '--json', '-h').out).toContain('orrery backtest [strategy..]');
});

test('control characters reach no terminal', () => {
  const { err } = orrery('run', 'red\u001b[31m\r\u009b.yaml');
  expect(err).toContain('red\\u001b[31m\\u000d\\u009b.yaml: no such file');
});
