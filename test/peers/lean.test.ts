/**
 * LEAN's published result on its own bars: orders, fills, fees, funding and the final equity of
 * `BasicTemplateCryptoFutureHourlyAlgorithm` (`ExpectedStatistics`: Start Equity 1000200, End
 * Equity 1000189.47, Total Fees $0.61, of which 1,000,000 USD are never used).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { plannedOf } from '../run-plan/plans.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-lean-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
const near = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** LEAN settles its last known rate every eight hours. */
function fundingRows(): string {
  const [, rate = ''] = readFileSync(near('data/lean/adausdt_margin_interest.csv'), 'utf8')
    .trim()
    .split(',');
  const times = ['2022-12-13T08:00:00Z', '2022-12-13T16:00:00Z', '2022-12-14T00:00:00Z'];
  return ['time,rate', ...times.map((time) => `${time},${rate}`)].join('\n');
}

test('LEAN’s hourly cross of ADAUSDT ends at its published equity, to the cent', async () => {
  const data = join(scratch, 'ada');
  const rates = join(scratch, 'rates.csv');
  writeFileSync(rates, fundingRows());
  const market = ['--symbol', 'ADAUSDT', '--tick', '0.0001', '--lot', '1', '--out', data];
  const quotes = ['csv', near('data/lean/adausdt_quote.zip'), '--map', near('data/lean/bid.yaml')];
  expect(await main(['data', 'import', ...quotes, ...market])).toBe(0);
  const added = ['csv', rates, '--symbol', 'ADAUSDT', '--out', data, '--add'];
  expect(await main(['data', 'import', ...added])).toBe(0);
  const { output } = await executePlan({
    data,
    strategies: [await plannedOf(near('lean-hourly.ts'))],
    balance: '200',
    seed: '1',
    latency: 'none',
    fees: '0.0005,0.0005',
    bars: 'quote=close,spread=1,depth=100000000',
  });
  expect(output.engine.checkInvariants()).toEqual([]);
  const [run] = output.strategies;
  const [buy, sell, close] = run?.fills ?? [];
  const at = (hour: number): number => Date.UTC(2022, 11, 13, hour) * 1000;
  expect(buy).toMatchObject({ timeUs: at(3), side: 'buy', price: '0.3048', size: '1000' });
  expect(sell).toMatchObject({ timeUs: at(18), side: 'sell', price: '0.3078', size: '3000' });
  expect(close).toMatchObject({ timeUs: at(24), side: 'buy', price: '0.3141', size: '2000' });
  // Total Fees $0.61: for the two orders, not for the final close, which LEAN only assumes.
  expect((Number(buy?.fee) + Number(sell?.fee)).toFixed(2)).toBe('0.61');
  expect(run?.funding.map(({ payment }) => payment)).toEqual(['-0.03024', '-0.03126', '0.0628']);
  // Total Orders 3: the first exceeds the available margin.
  const sent = run?.orders.filter(({ sentUs }) => sentUs < at(24)) ?? [];
  expect(sent.map(({ status }) => status)).toEqual(['rejected', 'filled', 'filled']);
  expect((1_000_000 + Number(run?.summary.equityEnd)).toFixed(2)).toBe('1000189.47');
});
