/** `orrery sweep` and `orrery walkforward` on recorded data, in child processes. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'orrery-sweep-cli-'));
const STRATEGY = join(root, 'examples', 'strategies', 'sma-cross.ts');
const DATA = join(root, 'data', 'btcusdt-20240808');

function orrery(...args: string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'dist', 'cli', 'main.js'), ...args],
    {
      cwd: scratch,
      encoding: 'utf8',
      env: { ...process.env, ORRERY_STATE: join(scratch, 'state') },
    },
  );
  return { status, out: stdout, err: stderr };
}

const sweepOf = (out: string, ...more: string[]): string[] => [
  ...['sweep', STRATEGY, '--data', DATA, '--to', '2024-08-08T23:55:20Z', '--out', out],
  ...['--vary', 'fast=3:5:2', '--vary', 'slow=8:12:4', '--method', 'grid'],
  ...['--objective', 'totalReturn', ...more],
];
const sweep = (out: string, ...more: string[]) => orrery(...sweepOf(out, ...more));

beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

describe('a search in a folder to which another process writes', () => {
  it.each([
    ['sweep', sweepOf('taken-sweep')],
    ['walkforward', ['walkforward', ...sweepOf('taken-walkforward').slice(1)]],
  ])('%s is refused', (name, args) => {
    const out = join(scratch, `taken-${name}`);
    mkdirSync(out);
    writeFileSync(join(out, 'run.pid'), `${String(process.pid)}\n`);
    const lengths = name === 'sweep' ? [] : ['--train', '20s', '--test', '10s'];
    const { status, err } = orrery(...args, ...lengths);
    expect(err).toContain(`process ${String(process.pid)} is writing a run to it`);
    expect(status).toBe(2);
    expect(readdirSync(out)).toEqual(['run.pid']);
  });
});

describe('a search in a folder with files that no search wrote', () => {
  it.each([
    ['sweep', 'index.html', 'trials.jsonl'],
    ['sweep', 'sweep.json', 'trials.jsonl'],
    ['sweep', 'best', 'trials.jsonl'],
    ['walkforward', 'index.html', 'window-1.trials.jsonl'],
    ['walkforward', 'walk.json', 'window-1.trials.jsonl'],
  ])('%s is refused beside %s', (name, mine, log) => {
    const out = join(scratch, `mine-${name}-${mine}`);
    mkdirSync(out);
    writeFileSync(join(out, mine), 'mine');
    const lengths = name === 'sweep' ? [] : ['--train', '20s', '--test', '10s'];
    const { status, err } = orrery(name, ...sweepOf(out).slice(1), ...lengths);
    expect(err).toContain(`${join(out, mine)}: exists, and the folder has no ${log}`);
    expect(status).toBe(2);
    expect(readdirSync(out)).toEqual([mine]);
    expect(readFileSync(join(out, mine), 'utf8')).toBe('mine');
  });
});

describe('sweep', () => {
  it('one worker or two, restarted or resumed: the same result', { timeout: 400_000 }, () => {
    const first = sweep('two', '--workers', '2');
    expect(first.err).toBe('');
    expect(first.status).toBe(0);
    expect(first.out).toContain('overfitting');
    const summary = JSON.parse(readFileSync(join(scratch, 'two', 'sweep.json'), 'utf8')) as {
      trials: number;
      failed: number;
      all: { figures: { chainHash: string } }[];
      robustness: { stress: unknown[] };
    };
    expect(summary).toMatchObject({ trials: 4, failed: 0 });
    expect(summary.robustness.stress).toHaveLength(4);
    expect(new Set(summary.all.map(({ figures }) => figures.chainHash)).size).toBe(4);
    expect(readFileSync(join(scratch, 'two', 'best', 'report.json'), 'utf8')).toContain(
      '"count": 4',
    );
    const best = join('two', 'best');
    const { chainHash } = JSON.parse(
      readFileSync(join(scratch, best, 'run.json'), 'utf8'),
    ) as Record<string, string>;
    const replayed = orrery('replay', join(best, 'journal.orrery'), '--verify', '--json');
    expect(JSON.parse(replayed.out)).toMatchObject({ chainHash, ofItsRun: true, mismatch: null });
    const { verify } = JSON.parse(readFileSync(join(scratch, best, 'report.json'), 'utf8')) as {
      verify: string[];
    };
    const [, repeat = ''] = verify;
    expect(repeat).toContain(`npx orrery backtest ${STRATEGY} --data ${DATA}`);
    const words = repeat.split(' ').slice(2);
    const repeated = JSON.parse(orrery(...words, '--out', 'repeated', '--json').out) as object;
    expect(repeated).toMatchObject({ chainHash });

    const one = JSON.parse(
      sweep('one', '--workers', '1', '--json', '--no-robustness').out,
    ) as object;
    expect(one).toMatchObject({ all: summary.all });
    const again = sweep('two', '--json', '--no-robustness');
    expect(JSON.parse(again.out)).toMatchObject({ all: summary.all });
  });

  it('an interrupt keeps finished trials, and rerunning the command continues', async () => {
    const log = join(scratch, 'stopped', 'trials.jsonl');
    const lines = (): string[] =>
      existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
    const args = sweepOf('stopped', '--workers', '1', '--json', '--no-robustness');
    const child = spawn(process.execPath, [join(root, 'dist', 'cli', 'main.js'), ...args], {
      cwd: scratch,
      stdio: 'ignore',
    });
    while (lines().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGINT');
    expect((await once(child, 'exit')) as unknown[]).toEqual([130, null]);
    const before = lines();
    expect(before.length).toBeLessThan(5);
    const { status, out } = orrery(...args);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ trials: 4, failed: 0 });
    expect(lines()).toHaveLength(5);
    expect(lines().slice(0, before.length)).toEqual(before);
  });

  it.each([
    [['--vary', 'fast=3:5:2', '--objective', 'luck'], "objective 'luck': must be one of"],
    [['--vary', 'speed=1:2:1'], 'unknown parameter'],
    [['--vary', 'fast=0:5:1'], "parameter 'fast' is '0': must be a whole number from 2 to 100"],
    [['--vary', 'fast=x:y'], 'decimal numbers'],
    [['--param', 'fast=3..5'], "parameter 'fast' is '3..5': must be a whole number"],
    [['--param', 'speed=3'], "unknown parameter 'speed'"],
    [
      ['--param', 'fast=3', '--vary', 'fast=3:9:1'],
      '--vary fast: --param gives it a value; drop one of them',
    ],
    [['--trials', '0'], '--trials must be a whole number from 1'],
    [['--workers', 'many'], '--workers'],
  ])('%j is bad input', (more, words) => {
    const { status, err } = orrery('sweep', STRATEGY, '--data', DATA, '--out', 'bad', ...more);
    expect(err).toContain(words);
    expect(status).toBe(2);
  });

  it('reports a folder that cannot be created', () => {
    const out = join(STRATEGY, 'x');
    const varied = ['--vary', 'fast=3', '--vary', 'slow=8'];
    const { status, err } = orrery('sweep', STRATEGY, '--data', DATA, ...varied, '--out', out);
    expect(err).toBe(`orrery: ${out}: a component of the path is not a folder\n`);
    expect(status).toBe(2);
  });
});

it('walkforward: windows, results out of sample, and data too short for one', () => {
  const walk = (train: string, purge = '5s') =>
    orrery(
      ...['walkforward', STRATEGY, '--data', DATA, '--out', 'walk', '--train', train],
      ...[
        '--test',
        '1m',
        '--mode',
        'purged',
        '--purge',
        purge,
        '--vary',
        'fast=3:5:2',
        '--vary',
        'slow=8',
      ],
      ...['--method', 'grid', '--objective', 'totalReturn', '--json'],
    );
  const { status, out, err } = walk('3m');
  expect(err).toBe('');
  expect(status).toBe(0);
  const result = JSON.parse(out) as {
    trials: number;
    windows: {
      trials: number;
      periods: number;
      window: { trainToUs: number; testFromUs: number };
    }[];
  };
  // No trades between the end of the training and the test.
  for (const { window } of result.windows) {
    expect(window.testFromUs - window.trainToUs).toBe(5_000_000);
  }
  expect(readFileSync(join(scratch, 'walk/index.html'), 'utf8')).toContain('a gap of 5 s');
  const whole = walk('3m', '0s');
  expect(whole.status).toBe(2);
  expect(whole.err).toContain('--purge must be above 0');
  expect(result.windows.map(({ trials }) => trials)).toEqual(
    [2, 2, 2].slice(0, result.windows.length),
  );
  expect(result.windows.length).toBeGreaterThanOrEqual(2);
  expect(result.windows.every(({ periods }) => periods > 20)).toBe(true);
  // The ledger counts them, with the trials of the sweeps above, and each once.
  const own = result.windows.reduce((sum, { trials }) => sum + trials, 0);
  expect(result.trials).toBeGreaterThan(own);
  expect(JSON.parse(walk('3m').out)).toMatchObject({ trials: result.trials });
  const short = walk('1h');
  expect(short.status).toBe(2);
  expect(short.err).toContain('the data span');
});
