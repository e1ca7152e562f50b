/**
 * Recorded funding in a backtest (R-7.3, D-35): payments of a position, computed by hand from the
 * imported files.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { attribution } from '../../src/report/analysis/attribution.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { readRun } from '../../src/run-plan/run-folder.ts';
import { example, plannedOf } from '../run-plan/plans.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-funding-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2024, 0, 1);
/**
 * Rates every eight hours, in 1e-8: the sign changes twice, and one rate is below the threshold.
 */
const RATES = [12_000, 15_000, -9_000, -11_000, 3_000, 14_000, -20_000];
/** Closes in tenths: prices oscillate, so that no two settlements have the same notional. */
const closeOf = (hour: number): number => 420_000 + hour * 137 - (hour % 5) * 611;

function writeData(): { readonly klines: string; readonly funding: string } {
  const tenths = (ticks: number): string => (ticks / 10).toFixed(1);
  const rows = Array.from({ length: RATES.length * 8 + 2 }, (_, hour) => {
    const open = closeOf(hour - 1);
    const close = closeOf(hour);
    const [high, low] = [Math.max(open, close) + 20, Math.min(open, close) - 20];
    const openMs = START_MS + hour * HOUR_MS;
    const prices = [open, high, low, close].map(tenths);
    return [openMs, ...prices, '1000.001', openMs + HOUR_MS - 1, '0', '10', '0', '0', '0'].join(
      ',',
    );
  });
  const klines = join(scratch, 'BTCUSDT-1h-2024-01.csv');
  writeFileSync(klines, rows.join('\n'));
  const funding = join(scratch, 'BTCUSDT-fundingRate-2024-01.csv');
  const header = 'calc_time,funding_interval_hours,last_funding_rate';
  const settled = RATES.map(
    (rate, i) => `${String(START_MS + (i + 1) * 8 * HOUR_MS)},8,${(rate / 1e8).toFixed(8)}`,
  );
  writeFileSync(funding, [header, ...settled].join('\n'));
  return { klines, funding };
}

test('the funding leg of the funding carry is Σ position × index × rate, to the last millionth', async () => {
  const { klines, funding } = writeData();
  const data = join(scratch, 'btc');
  expect(await main(['data', 'import', 'binance-klines', klines, '--out', data])).toBe(0);
  expect(await main(['data', 'import', 'binance-funding', funding, '--out', data, '--add'])).toBe(
    0,
  );
  const carry = await plannedOf(example('funding-carry'), {
    rates: 1,
    size: '0.05',
    thresholdBp: 0.5,
  });
  const { output } = await executePlan({
    data,
    strategies: [carry],
    balance: '10000',
    seed: '1',
    latency: 'none',
    bars: 'spread=0',
  });
  const [strategy] = output.strategies;

  // Expected: the strategy holds 0.05 of the receiving side from a rate of 0.5 basis points.
  const heldAt = RATES.map((_, i) => {
    const last = RATES[i - 1] ?? 0;
    return Math.abs(last) >= 5_000 ? -Math.sign(last) * 50 : 0;
  });
  expect(heldAt).toEqual([0, -50, -50, 50, 50, 0, -50]);
  const payments = RATES.map((rate, i) => {
    // Lots of 0.001 × ticks of 0.1 × 1e-8 are 1e-12; rounded to a millionth against the holder.
    const exact = -BigInt(heldAt[i] ?? 0) * BigInt(closeOf((i + 1) * 8 - 1)) * BigInt(rate);
    return Number((exact - (((exact % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n);
  });
  const sum = payments.reduce((total, payment) => total + payment, 0);
  const paid = strategy!.funding.filter(({ payment }) => Number(payment) !== 0);
  expect(paid.map(({ payment }) => Math.round(Number(payment) * 1e6))).toEqual(
    payments.filter((payment) => payment !== 0),
  );
  expect(paid.map(({ position }) => Number(position) * 1000)).toEqual(
    heldAt.filter((held) => held !== 0),
  );
  expect(Math.round(Number(strategy!.summary.pnlFunding) * 1e6)).toBe(sum);
  expect(Math.round(attribution(strategy!.summary, strategy!.fills).funding * 1e6)).toBe(sum);
  expect(strategy!.log.map(({ text }) => text)).toContain(
    `funding received ${(sum / 1e6).toFixed(6)}`,
  );
  expect(strategy!.summary.positions[0]).toMatchObject({ final: '0.05', largest: '0.05' });
  expect(output.markets[0]!.fundingRates.map(({ rate }) => Math.round(Number(rate) * 1e8))).toEqual(
    RATES,
  );
});

/** Buys once, and logs settlements. */
const HOLDS = `
import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'holds',
  parameters: {},
  create: () => ({
    onStart(context) {
      context.setTimer('buy', 60_000_000);
    },
    async onTimer(_name, context) {
      await context.submit({ side: 'buy', size: '10' });
    },
  }),
});
`;

test.each([
  ['without an index, no funding is paid', false],
  ['with an index, the premium of the book is', true],
])('a recorded book without rates: %s', async (_title, hasIndex) => {
  const folder = mkdtempSync(join(scratch, 'book-'));
  const strategy = join(folder, 'holds.ts');
  writeFileSync(strategy, HOLDS);
  const count = 760;
  const seconds = (i: number): number => START_MS / 1000 + i * 5;
  const levels = Array.from({ length: count }, (_, i) =>
    [
      `${String(seconds(i))},buy,2999.9,900,true`,
      `${String(seconds(i))},sell,3000.1,900,true`,
    ].join('\n'),
  );
  const files: [string, string, string[]][] = [
    ['depth', 'time,side,price,size,snapshot', levels],
    ['index', 'time,price', levels.map((_, i) => `${String(seconds(i))},3000`)],
  ];
  const data = join(folder, 'data');
  for (const [kind, header, rows] of hasIndex ? files : files.slice(0, 1)) {
    const file = join(folder, `SPOT-${kind}.csv`);
    const map = join(folder, `${kind}.yaml`);
    const columns = header.split(',').map((name) => `${name}: ${name}`);
    writeFileSync(map, `kind: ${kind}\ncolumns: { ${columns.join(', ')} }\ntimeUnit: s\n`);
    writeFileSync(file, [header, ...rows].join('\n'));
    const units = ['--symbol', 'SPOT', '--tick', '0.1', '--lot', '1'];
    const added = kind === 'depth' ? [] : ['--add'];
    const args = ['data', 'import', 'csv', file, '--map', map, '--out', data, ...units, ...added];
    expect(await main(args)).toBe(0);
  }
  const out = join(folder, 'run');
  const args = [
    'backtest',
    strategy,
    '--data',
    data,
    '--out',
    out,
    '--balance',
    '100000',
    '--json',
  ];
  expect(await main(args)).toBe(0);
  const [holds] = (await readRun(out)).strategies;
  expect(holds?.fills.map(({ size }) => size)).toEqual(['10']);
  // 0.01 % in eight hours, of 10 × 3,000.
  expect(holds?.funding.map(({ payment }) => payment)).toEqual(hasIndex ? ['-0.375'] : []);
});
