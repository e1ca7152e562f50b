/**
 * Candles in a ring of typed arrays against a plain list of minutes, and their retention.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../src/base/archive.ts';
import { Candles, MINUTE_US } from '../../src/engine/market/candles.ts';
import { lots, priceTicks, timeUs } from '../../src/num/units.ts';

interface Minute {
  at: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: bigint;
  tickLots: bigint;
}

/** Reference model: the last `limit` minutes. */
class PlainMinutes {
  minutes: Minute[] = [];
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  add(atUs: number, prices: readonly number[], volume: number): void {
    const at = atUs - (atUs % MINUTE_US);
    const [open = 0] = prices;
    const close = prices.at(-1) ?? 0;
    if (this.minutes.at(-1)?.at !== at) {
      this.minutes.push({ at, open, high: open, low: open, close, volume: 0n, tickLots: 0n });
    }
    const minute = this.minutes.at(-1);
    if (minute === undefined) return;
    minute.high = Math.max(minute.high, ...prices);
    minute.low = Math.min(minute.low, ...prices);
    minute.close = close;
    minute.volume += BigInt(volume);
    minute.tickLots += BigInt(volume) * BigInt(close);
    this.minutes = this.minutes.filter((kept) => kept.at > at - this.limit * MINUTE_US);
  }
}

interface Step {
  readonly afterUs: number;
  readonly prices: readonly number[];
  readonly volume: number;
  readonly bar: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  afterUs: fc.integer({ min: 0, max: 3 * MINUTE_US }),
  prices: fc.array(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { minLength: 4, maxLength: 4 }),
  // A few of the largest exceed 2^53 in sum.
  volume: fc.oneof(
    fc.integer({ min: 0, max: 1000 }),
    fc.integer({ min: 0, max: 2 ** 40 }),
    fc.integer({ min: Number.MAX_SAFE_INTEGER - 1000, max: Number.MAX_SAFE_INTEGER }),
  ),
  bar: fc.boolean(),
});

function play(candles: Candles, plain: PlainMinutes, steps: readonly Step[]): number {
  let atUs = 1000 * MINUTE_US;
  for (const { afterUs, prices, volume, bar } of steps) {
    atUs += afterUs;
    const [open = 1, b = 1, c = 1, close = 1] = prices;
    if (bar) {
      const [high, low] = [Math.max(open, b, c, close), Math.min(open, b, c, close)];
      candles.addBar(
        { nowUs: timeUs(atUs) },
        {
          openTicks: priceTicks(open),
          highTicks: priceTicks(high),
          lowTicks: priceTicks(low),
          closeTicks: priceTicks(close),
          volumeLots: lots(volume),
        },
      );
      plain.add(atUs, [open, high, low, close], volume);
    } else {
      candles.add({ nowUs: timeUs(atUs) }, priceTicks(open), volume);
      plain.add(atUs, [open], volume);
    }
  }
  return atUs;
}

function foldedOf(candles: Candles, plain: PlainMinutes, nowUs: number) {
  const { minutes } = plain;
  const [first] = minutes;
  const folded = candles.fold(MINUTE_US, 0, Infinity, 10_000, timeUs(nowUs));
  return {
    actual: folded
      .filter(({ timeUs: at }) => minutes.some((minute) => minute.at === at))
      .map((candle) => [
        candle.timeUs,
        candle.openTicks,
        candle.highTicks,
        candle.lowTicks,
        candle.closeTicks,
        candle.volumeLots,
      ]),
    expected: minutes.map(({ at, open, high, low, close, volume }) => [
      at,
      open,
      high,
      low,
      close,
      volume,
    ]),
    sums: candles.sums(first?.at ?? 0),
    plainSums: {
      volumeLots: minutes.reduce((sum, { volume }) => sum + volume, 0n),
      tickLots: minutes.reduce((sum, { tickLots }) => sum + tickLots, 0n),
    },
  };
}

test('R-10.3 candles, sums and retention equal those of a plain list, also after a restore', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(step, { minLength: 1, maxLength: 300, size: 'max' }),
      (limit, steps) => {
        const [candles, plain] = [new Candles(limit), new PlainMinutes(limit)];
        const nowUs = play(candles, plain, steps);
        const restored = new Candles(limit);
        const io = new ArchiveWriter();
        candles.archive(io);
        restored.archive(new ArchiveReader(io.bytes()));
        for (const each of [candles, restored]) {
          const { actual, expected, sums, plainSums } = foldedOf(each, plain, nowUs);
          expect(actual).toEqual(expected);
          expect(sums).toEqual(plainSums);
          expect(each.keptSinceUs).toBe(candles.keptSinceUs);
        }
      },
    ),
    { seed: 1, numRuns: 150 },
  );
});

test('R-10.3 a market never stores more minutes than its retention', () => {
  const candles = new Candles(500);
  for (let minute = 0; minute < 20_000; minute++) {
    candles.add({ nowUs: timeUs(minute * MINUTE_US) }, priceTicks(100), 1);
    expect(candles.size).toBeLessThanOrEqual(500);
  }
  expect(candles.keptSinceUs).toBe(19_500 * MINUTE_US);
});
