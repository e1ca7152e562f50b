/** Synthetic bars: the same for a seed, well formed, and with the properties that docs/DATA.md states. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { BarRecord, FundingRecord } from '../../src/tape/record.ts';
import { SAMPLE_MARKETS, sampleRecords } from '../../src/tape/sample/sample-market.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

const START_US = Date.UTC(2024, 0, 1) * 1000;
const DAY = 1_440;

function recordsOf(index: number, minutes: number, seed = 'test'): (BarRecord | FundingRecord)[] {
  const market = SAMPLE_MARKETS[index]!;
  const streams = new RandomStreams(seed);
  const factor = streams.stream('factor');
  const own = streams.stream(market.symbol);
  const path = streams.stream(`${market.symbol} path`);
  const draws = { factor: () => factor.next(), own: () => own.next(), path: () => path.next() };
  return [...sampleRecords({ market, startUs: START_US, minutes, draws })];
}

const bars = (index: number, days: number): BarRecord[] =>
  recordsOf(index, days * DAY).filter((record) => record.kind === 'bar');
const mean = (values: readonly number[]): number =>
  values.reduce((a, b) => a + b, 0) / values.length;
const deviation = (values: readonly number[]): number => {
  const center = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - center) ** 2)));
};

describe('synthetic bars', () => {
  test('are the same bytes for a seed on every machine', () => {
    const hash = createHash('sha256')
      .update(JSON.stringify(recordsOf(0, 3 * DAY)))
      .digest('hex');
    expect(hash).toBe('8ff210473c1fd3ecda8262caef279f430a8fa27acbe6c573113c6bca1d73761a');
    expect(recordsOf(0, 60, 'other')).not.toEqual(recordsOf(0, 60));
  });

  test('a longer dataset starts with the shorter one', () => {
    expect(recordsOf(1, 2 * DAY).slice(0, 100)).toEqual(recordsOf(1, DAY).slice(0, 100));
  });

  test.each(SAMPLE_MARKETS.map(({ symbol }, i) => [symbol, i] as const))(
    '%s: each bar starts at the last close, and encloses its prices',
    (_, index) => {
      let close: number | null = null;
      for (const bar of bars(index, 10)) {
        if (close !== null) expect(bar.open).toBe(close);
        expect(bar.low).toBeLessThanOrEqual(Math.min(bar.open, bar.close));
        expect(bar.high).toBeGreaterThanOrEqual(Math.max(bar.open, bar.close));
        expect(bar.low).toBeGreaterThan(0);
        expect(bar.volume).toBeGreaterThan(0);
        close = bar.close;
      }
    },
  );

  test('the volatility is about 60 % a year, and clusters', () => {
    const closes = bars(0, 120).map(({ close }) => Math.log(close));
    const returns = closes.slice(1).map((value, i) => value - closes[i]!);
    const yearly = deviation(returns) * Math.sqrt(525_600);
    expect(yearly).toBeGreaterThan(0.45);
    expect(yearly).toBeLessThan(1.1);
    // Mean absolute returns of hours: neighbours are alike.
    const hours = Array.from({ length: Math.floor(returns.length / 60) }, (_, hour) =>
      mean(returns.slice(hour * 60, hour * 60 + 60).map(Math.abs)),
    );
    const center = mean(hours);
    const lagged = mean(hours.slice(1).map((value, i) => (value - center) * (hours[i]! - center)));
    expect(lagged / deviation(hours) ** 2).toBeGreaterThan(0.5);
  });

  test('the ratio of two markets returns to its mean, and a price does not', () => {
    const [first, second] = [bars(0, 120), bars(1, 120)];
    const log = first.map(({ close }) => Math.log(close));
    const ratio = first.map(({ close }, i) => Math.log(close / second[i]!.close));
    // Variance of changes of 16 days over that of one day: 16 for a random walk.
    const spreads = (values: readonly number[], days: number): number =>
      deviation(values.slice(days * DAY).map((value, i) => value - values[i]!)) ** 2;
    expect(spreads(ratio, 16) / spreads(ratio, 1)).toBeLessThan(5);
    expect(spreads(log, 16) / spreads(log, 1)).toBeGreaterThan(7);
  });

  test.each([2, 5, 10])(
    'a price is reached before it is passed: an order %d bp away has no loss on average',
    (distanceBp) => {
      const distance = distanceBp / 10_000;
      const gains: number[] = [];
      for (const { open, high, low, close } of bars(0, 120)) {
        const [bid, ask] = [open * (1 - distance), open * (1 + distance)];
        if (low <= bid) gains.push((close / bid - 1) * 10_000);
        if (high >= ask) gains.push((1 - close / ask) * 10_000);
      }
      expect(gains.length).toBeGreaterThan(20_000);
      // Some −2 bp with prices of six instants a minute: the price jumps over the order.
      expect(Math.abs(mean(gains))).toBeLessThan(0.25);
    },
  );

  test('funding settles every eight hours, within its limit', () => {
    const records = recordsOf(0, 30 * DAY).filter((record) => record.kind === 'funding');
    expect(records).toHaveLength(90);
    for (const { timeUs, ratePpb } of records) {
      expect(timeUs % (8 * 3_600_000_000)).toBe(0);
      expect(Math.abs(ratePpb)).toBeLessThanOrEqual(7_500_000);
    }
    expect(mean(records.map(({ ratePpb }) => ratePpb))).toBeGreaterThan(20_000);
  });
});
