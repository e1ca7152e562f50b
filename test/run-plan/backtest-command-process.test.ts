import { spawn, spawnSync } from 'node:child_process';
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
import { afterAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { RunClaim } from '../../src/run-plan/run-claim.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import { DATASET, example } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-backtest-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const SHORT = ['--to', '2024-08-08T23:55:00Z'];

test('templates of `new` run without changes', async () => {
  expect(await main(['new', 'strategy', 'first', '--dir', folder])).toBe(0);
  expect(await main(['new', 'strategy', 'first', '--dir', folder])).toBe(2);
  expect(await main(['new', 'scenario', 'first', '--dir', folder])).toBe(0);
  expect(await main(['new', 'strategy', '../x', '--dir', folder])).toBe(2);
  expect(await main(['run', join(folder, 'first.yaml')])).toBe(0);
  const out = join(folder, 'first');
  const args = ['--data', DATASET, ...SHORT, '--param', 'bars=3', '--out', out, '--json'];
  expect(await main(['backtest', join(folder, 'first.ts'), ...args])).toBe(0);
  const run = await readRun(out);
  expect(run.strategies[0]!.summary.fills).toBeGreaterThan(0);
  expect(run.strategies[0]!.parameters).toMatchObject({ bars: 3 });
  expect(existsSync(join(out, 'index.html'))).toBe(true);
  expect(await main(['replay', join(out, 'journal.orrery'), '--verify', '--json'])).toBe(0);
});

test('it prints ratios, and which requests were rejected', () => {
  const path = join(folder, 'lost.js');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'lost', parameters: {},
  create: () => ({
    onStart: (context) => context.setTimer('cancel', 2_000_000),
    async onTimer(_, context) { await context.cancel('0'.repeat(64)); },
  }),
});`,
  );
  const out = join(folder, 'lost');
  const args = ['--data', DATASET, '--to', '2024-08-08T23:54:26Z', '--out', out];
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'src/cli/main.ts'), 'backtest', path, ...args],
    { cwd: ROOT, encoding: 'utf8' },
  );
  expect(status).toBe(0);
  // The recording is shorter than a day.
  expect(stdout).toMatch(/│ Sharpe, a year +│ +– │/);
  expect(stdout).toMatch(/│ trades \(won\) +│ +0 \(0\) │/);
  expect(stdout).toMatch(/^rejected lost: cancelOrder 1 times with 404, such as: .+$/m);
});

test('a run is not overwritten silently, and may keep no journal', async () => {
  const out = join(folder, 'named');
  const args = ['backtest', example('grid'), '--data', DATASET, '--out', out, '--json'];
  const short = ['--to', '2024-08-08T23:54:26Z'];
  expect(await main([...args, ...short, '--no-journal'])).toBe(0);
  expect(existsSync(join(out, 'journal.orrery'))).toBe(false);
  expect((await readRun(out)).assumptions.map(({ title }) => title)).toContain('No journal');
  expect(await main(['explain', out, '#1'])).toBe(2);
  expect(await main([...args, ...short])).toBe(2);
  expect(existsSync(join(out, 'run.json'))).toBe(true);
  expect(await main([...args, ...short, '--overwrite'])).toBe(0);
  expect(existsSync(join(out, 'journal.orrery'))).toBe(true);
  expect(await main([...args, '--name', 'x'])).toBe(2);
  expect(await main(['backtest', example('grid'), '--data', DATASET, '--name', '../x'])).toBe(2);
});

test('an overwritten run leaves nothing of the earlier one, and a journal must be of its run', async () => {
  const out = join(folder, 'replaced');
  const args = ['backtest', example('grid'), '--data', DATASET, '--out', out, '--json'];
  expect(await main([...args, '--to', '2024-08-08T23:54:26Z'])).toBe(0);
  expect(await main(['export', out])).toBe(0);
  const journal = join(out, 'journal.orrery');
  const earlier = readFileSync(journal);
  writeFileSync(join(out, 'notes.txt'), 'mine');
  writeFileSync(join(out, 'tables', 'mine.csv'), 'mine');
  const claim = RunClaim.take(out);
  expect(await main([...args, '--to', '2024-08-08T23:54:30Z', '--overwrite'])).toBe(2);
  expect(readFileSync(journal)).toEqual(earlier);
  claim.release();
  expect(await main([...args, '--to', '2024-08-08T23:54:30Z', '--overwrite'])).toBe(0);
  expect(existsSync(join(out, 'run.pid'))).toBe(false);
  expect(readdirSync(join(out, 'tables'))).toEqual(['mine.csv']);
  expect(existsSync(join(out, 'notes.txt'))).toBe(true);
  expect(await main(['replay', journal, '--verify', '--json'])).toBe(0);
  writeFileSync(journal, earlier);
  expect(await main(['replay', journal, '--verify', '--json'])).toBe(1);
});

test('--overwrite deletes nothing of a folder without a run', async () => {
  const out = join(folder, 'mine');
  mkdirSync(join(out, 'tables'), { recursive: true });
  const mine = ['index.html', 'prices.arrow', join('tables', 'equity.csv')];
  for (const name of mine) writeFileSync(join(out, name), 'mine');
  const short = ['--to', '2024-08-08T23:54:26Z', '--out', out, '--overwrite', '--json'];
  const run = ['backtest', example('grid'), '--data', DATASET, ...short];
  // The page of the run would replace a file of its name.
  expect(await main(run)).toBe(2);
  for (const name of mine) expect(readFileSync(join(out, name), 'utf8')).toBe('mine');
  rmSync(join(out, 'index.html'));
  expect(await main(run)).toBe(0);
  for (const name of mine.slice(1)) expect(readFileSync(join(out, name), 'utf8')).toBe('mine');
});

test('a run that fails leaves no folder', async () => {
  const out = join(folder, 'failing');
  const strategy = join(folder, 'failing.ts');
  writeFileSync(
    strategy,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'failing', parameters: {}, create: () => ({ onTrade() { throw new Error('no'); } }) });
`,
  );
  expect(await main(['backtest', strategy, '--data', DATASET, ...SHORT, '--out', out])).not.toBe(0);
  expect(existsSync(out)).toBe(false);
});

test('a journal that cannot be written is an error that names its file', () => {
  const out = join(folder, 'large');
  const main = join(ROOT, 'src/cli/main.ts');
  const args = ['backtest', example('sma-cross'), '--data', DATASET, '--out', out];
  // Blocks of the shell's limit have 512 bytes or 1 KiB; the journal has 2.8 MB.
  const limited = ['-c', 'ulimit -f 1000; exec "$@"', 'sh', process.execPath];
  const { status, stderr } = spawnSync('sh', [...limited, '--import', 'tsx', main, ...args], {
    encoding: 'utf8',
    cwd: ROOT,
  });
  const file = join(out, 'journal.orrery.partial');
  expect(stderr).toBe(`orrery: ${file}: larger than the limit of a file's size\n`);
  expect(status).toBe(2);
  expect(existsSync(out)).toBe(false);
});

test('the return of a report is the PnL on the deposit, whenever trading begins', async () => {
  const out = join(folder, 'returns');
  const strategy = join(folder, 'early.ts');
  // The fees of two orders, long before the first whole multiple of the samples' interval.
  writeFileSync(
    strategy,
    `import { defineStrategy } from 'orrery/strategy';
let sent = 0;
export default defineStrategy({ name: 'early', parameters: {}, create: () => ({
  async onBook(_book, context) {
    if (sent++ === 100) await context.submit({ side: 'buy', size: '0.1' });
    else if (sent === 200) await context.submit({ side: 'sell', size: '0.1' });
  },
}) });
`,
  );
  const args = ['--data', DATASET, ...SHORT, '--sample', '60s', '--out', out, '--json'];
  expect(await main(['backtest', strategy, ...args])).toBe(0);
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as {
    strategies: {
      summary: { pnl: string };
      metrics: { startEquity: number; totalReturn: number };
      benchmark: { startEquity: number };
    }[];
  };
  const [{ summary, metrics, benchmark }] = report.strategies as [(typeof report.strategies)[0]];
  expect(Number(summary.pnl)).toBeLessThan(-1);
  expect(metrics.startEquity).toBe(10_000);
  expect(metrics.totalReturn * 10_000).toBeCloseTo(Number(summary.pnl), 6);
  expect(benchmark.startEquity).toBe(10_000);
  const { markets, strategies } = await readRun(out);
  expect(strategies[0]?.equity[0]?.timeUs).toBe(strategies[0]?.benchmark[0]?.timeUs);
  const [first, second] = markets[0]?.series ?? [];
  expect(second!.timeUs - first!.timeUs).toBeLessThan(60_000_000);
});

test('the book is closed where a market has no bars; fills of a kept book are a warning', async () => {
  const table = (minutes: readonly number[]): string =>
    `timestamp,open,high,low,close,volume\n${minutes
      .map((minute) => `${1_704_067_200_000 + minute * 60_000},100,101,99,100,50\n`)
      .join('')}`;
  const data = join(folder, 'holes');
  const whole = join(folder, 'whole.csv');
  const holes = join(folder, 'holes.csv');
  writeFileSync(whole, table(Array.from({ length: 40 }, (_, i) => i)));
  // A hole from minute 10 to 19; the data end with minute 24.
  writeFileSync(holes, table([...Array(10).keys(), 20, 21, 22, 23, 24]));
  const load = ['--interval', '1m', '--tick', '0.01', '--lot', '0.001', '--out', data];
  expect(await main(['data', 'import', 'csv', whole, '--symbol', 'AAA', ...load])).toBe(0);
  expect(await main(['data', 'import', 'csv', holes, '--symbol', 'BBB', '--add', ...load])).toBe(0);
  const strategy = join(folder, 'holes.ts');
  const out = join(folder, 'in-holes');
  const runAt = async (
    minutes: readonly number[],
    ...more: readonly string[]
  ): Promise<{ fills: number; warnings: string }> => {
    writeFileSync(
      strategy,
      `import { defineStrategy } from 'orrery/strategy';
let bar = 0;
export default defineStrategy({ name: 'holes', parameters: {}, create: () => ({
  async onBar({ symbol }, context) {
    if (symbol !== 'AAA' || !${JSON.stringify(minutes)}.includes(bar++)) return;
    await context.submit({ symbol: 'BBB', side: 'buy', size: '0.1' });
  },
}) });
`,
    );
    const args = ['--data', data, '--out', out, '--overwrite', '--json', ...more];
    expect(await main(['backtest', strategy, ...args])).toBe(0);
    const run = await readRun(out);
    const warnings = run.data.flatMap(({ text, isWarning }) => (isWarning ? [text] : [])).join();
    return { fills: run.strategies[0]?.fills.length ?? 0, warnings };
  };
  expect(await runAt([3, 9, 21, 24])).toEqual({ fills: 4, warnings: '' });
  // In the hole twice, and after the end.
  expect(await runAt([3, 12, 15, 30])).toEqual({ fills: 1, warnings: '' });
  const kept = await runAt([3, 12, 15, 30], '--bars', 'holes=keep');
  expect(kept.fills).toBe(4);
  expect(kept.warnings).toContain('3 fills of BBB where bars are missing');
});

test('several strategies share one exchange, each with its own account and parameters', async () => {
  const out = join(folder, 'two');
  const files = [example('grid'), example('sma-cross')];
  const parameters = ['grid.stepBp=2', 'sma-cross.fast=2', 'sma-cross.slow=4'];
  const params = parameters.flatMap((text) => ['--param', text]);
  const args = ['--data', DATASET, ...SHORT, ...params, '--out', out, '--json'];
  expect(await main(['backtest', ...files, ...args])).toBe(0);
  const { strategies } = await readRun(out);
  expect(strategies.map(({ id }) => id)).toEqual(['grid', 'sma-cross']);
  expect(new Set(strategies.map(({ account }) => account)).size).toBe(2);
  for (const { summary } of strategies) expect(summary.fills).toBeGreaterThan(0);
});

test.each([
  [[], 'name a strategy file'],
  [[example('grid')], '--data'],
  [[example('grid'), '--data', DATASET, '--agents', 'x.yaml'], 'give one'],
  [[join(folder, 'none.ts'), '--data', DATASET], 'no such file'],
  [[example('grid'), '--data', join(folder, 'none')], 'no such file'],
  [[example('grid'), '--data', DATASET, '--param', 'stepBp=0'], 'from 0.1 to 1000'],
  [[example('grid'), '--data', DATASET, '--from', 'noon'], 'UTC time'],
  [[example('grid'), '--data', DATASET, '--from', '2030-01-01'], 'no data between'],
  [[example('grid'), '--data', DATASET, '--latency', 'fast'], 'latency'],
  [[example('grid'), '--data', DATASET, '--latency', 'jitter:jitter=x'], 'jitter'],
  [[example('grid'), '--data', DATASET, '--impact', 'halving:0s'], 'impact'],
  [[example('grid'), '--data', DATASET, '--fidelity', 'trades', '--impact', 'squareRoot'], 'l2'],
  [[example('grid'), '--data', DATASET, '--fees', '1'], 'fees'],
  [[example('grid'), '--data', DATASET, '--faults', 'reject=2'], 'reject'],
  [[example('grid'), '--data', DATASET, '--faults', 'disconnect=1s/5s'], 'the first longer'],
  [[example('grid'), '--data', DATASET, '--balance', '-1'], 'balance'],
  [[example('grid'), '--data', DATASET, '--markets', 'NONE'], 'NONE'],
  [['--resume', folder], 'no stopped run'],
])('%j is bad input', async (args) => {
  const out = args.includes('--resume') ? [] : ['--out', join(folder, 'bad')];
  expect(await main(['backtest', ...args, ...out])).toBe(2);
  expect(existsSync(join(folder, 'bad', 'journal.orrery'))).toBe(false);
  expect(existsSync(join(folder, 'bad', 'journal.orrery.partial'))).toBe(false);
});

test('a run stopped by Ctrl-C resumes to the same bytes as an uninterrupted run', async () => {
  const whole = join(folder, 'whole');
  const args = ['backtest', example('quotes'), '--data', DATASET, '--to', '2024-08-08T23:56:00Z'];
  expect(await main([...args, '--out', whole, '--json'])).toBe(0);
  const stopped = join(folder, 'stopped');
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'src/cli/main.ts'), ...args, '--out', stopped],
    { cwd: ROOT, stdio: 'ignore' },
  );
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  while (!existsSync(join(stopped, 'plan.json')) && child.exitCode === null) {
    await pause(5);
  }
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(existsSync(join(stopped, 'journal.orrery'))).toBe(false);
  expect(await main(['backtest', '--resume', stopped, '--json'])).toBe(0);
  for (const file of ['journal.orrery', 'run.json']) {
    expect(readFileSync(join(stopped, file)).equals(readFileSync(join(whole, file)))).toBe(true);
  }
  expect(existsSync(join(stopped, 'checkpoint.bin'))).toBe(false);
});

test('Ctrl-C stops a run with slow handlers', async () => {
  const file = join(folder, 'slow.ts');
  // It would take minutes.
  writeFileSync(
    file,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'slow', parameters: {}, create: () => ({
  onBook() { for (let i = 0; i < 500_000; i++) Math.sqrt(i); },
}) });\n`,
  );
  const out = join(folder, 'slow');
  const child = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      join(ROOT, 'src/cli/main.ts'),
      'backtest',
      file,
      '--data',
      DATASET,
      '--out',
      out,
    ],
    { cwd: ROOT, stdio: 'ignore' },
  );
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  while (!existsSync(join(out, 'plan.json')) && child.exitCode === null) await pause(5);
  await pause(1000);
  const asked = performance.now();
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(performance.now() - asked).toBeLessThan(10_000);
});

test('an unhandled rejection ends the run like a thrown error, with strategy and time', () => {
  const file = join(folder, 'forgetful.ts');
  writeFileSync(
    file,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'forgetful', parameters: {}, create: () => ({
  onStart: (context) => context.setTimer('go', 1_000_000),
  onTimer(_name, context) { void context.submit({ side: 'buy', size: '0.0000001' }); },
}) });\n`,
  );
  const args = [
    'backtest',
    example('quotes'),
    file,
    '--data',
    DATASET,
    ...SHORT,
    '--out',
    join(folder, 'forgetful'),
  ];
  const { stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'src/cli/main.ts'), ...args],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  expect(stderr).toBe(
    "orrery: strategy 'forgetful' failed in a promise that is not awaited at 2024-08-08 23:54:17.010500: quantity: must be a multiple of the lot size 0.001\n",
  );
});
