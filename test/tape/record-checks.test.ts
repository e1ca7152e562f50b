/**
 * Damage that shows without a book: silences, missing trades by their ids, repeated records. Feeds
 * are drawn with a seed; the recorded ones are in `test/tape-files`.
 */
import { describe, expect, test } from 'vitest';
import { lots, ppb, priceTicks, timeUs } from '../../src/num/units.ts';
import { Cadence } from '../../src/tape/cadence.ts';
import { RecordChecks } from '../../src/tape/record-checks.ts';
import type { TapeRecord } from '../../src/tape/record.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

const SECOND = 1_000_000;
const START_US = 1_700_000_000 * SECOND;

/** Intervals drawn from an exponential distribution with clusters of equal times. */
function bursty(seed: string, count: number, meanUs: number): number[] {
  const random = new RandomStreams(seed).stream('feed');
  const times: number[] = [];
  let at = START_US;
  for (let i = 0; i < count; i++) {
    if (random.below(3) > 0) at += Math.floor(-Math.log(1 - random.next()) * meanUs);
    times.push(at);
  }
  return times;
}

const cut = (times: readonly number[], share: number, us: number): number[] => {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const from = first + Math.floor((last - first) * share);
  return times.filter((at) => at < from || at >= from + us);
};

function silencesOf(times: readonly number[], isFixed = false): Cadence {
  const cadence = new Cadence(isFixed);
  for (const at of times) cadence.take(at);
  cadence.finish();
  return cadence;
}

/** The rule of the header of `cadence.ts` on the whole list at once. */
function plainSilences(times: readonly number[]): number[] {
  const lengths = times.slice(1).map((at, i) => at - (times[i] ?? 0));
  const limit = (sample: number[]): number => {
    const sorted = sample.sort((a, b) => a - b);
    const high = sorted[Math.min(Math.floor(sorted.length * 0.99), sorted.length - 3)] ?? 0;
    const median = sorted[sorted.length >> 1] ?? 0;
    return high + 8 * (high - median) + 2 * median;
  };
  return lengths.filter((us, i) => {
    const before = lengths.slice(Math.max(0, i - 256), i);
    const after = lengths.slice(i + 1, i + 257);
    const total = before.length + after.length;
    if (us < SECOND || total < 30) return false;
    if (before.length >= 30 && after.length >= 30)
      return us > Math.max(limit(before), limit(after));
    return us > limit([...before, ...after]) * (total < 100 ? 1.5 : 1);
  });
}

describe('silences', () => {
  test('a feed with clusters has none, and each cut is found at its time', () => {
    for (let seed = 0; seed < 20; seed++) {
      const times = bursty(String(seed), 1000, 100_000);
      expect(silencesOf(times).count).toBe(0);
      const damaged = cut(times, 0.1 + 0.03 * seed, 10 * SECOND);
      const { list, totalUs } = silencesOf(damaged);
      expect(list).toHaveLength(1);
      expect(totalUs).toBeGreaterThanOrEqual(10 * SECOND);
      expect(totalUs).toBeLessThan(11 * SECOND);
    }
  });

  test('equal the plain rule on whole lists', () => {
    for (let seed = 0; seed < 10; seed++) {
      for (const count of [20, 60, 400, 1500]) {
        const times = cut(bursty(`plain ${String(seed)}`, count, 90_000), 0.6, 6 * SECOND);
        const { count: found, totalUs } = silencesOf(times);
        const plain = plainSilences(times);
        expect([found, totalUs]).toEqual([plain.length, plain.reduce((a, b) => a + b, 0)]);
      }
    }
  });

  test('the change from a busy to a quiet feed, and back, is none', () => {
    const busy = bursty('busy', 600, 20_000);
    const quiet = bursty('quiet', 300, 20 * SECOND).map((at) => at - START_US);
    const evening = [...busy, ...quiet.map((at) => (busy.at(-1) ?? 0) + 30 * SECOND + at)];
    const morning = busy.map((at) => (evening.at(-1) ?? 0) + 40 * SECOND + at - START_US);
    expect(silencesOf([...evening, ...morning]).count).toBe(0);
  });

  test('one missing record of a fixed interval shows; a changed interval is none', () => {
    const hours = [...Array(30).keys()].map((i) => START_US + i * 8 * 3600 * SECOND);
    expect(silencesOf(hours, true).count).toBe(0);
    expect(silencesOf(hours.toSpliced(15, 1), true).list).toEqual([
      { fromUs: hours[14], toUs: hours[16] },
    ]);
    const last = hours.at(-1) ?? 0;
    const shorter = [...Array(30).keys()].map((i) => last + (i + 1) * 4 * 3600 * SECOND);
    expect(silencesOf([...hours, ...shorter], true).count).toBe(0);
    const byUs = (shorter.at(-1) ?? 0) - START_US + 8 * 3600 * SECOND;
    expect(silencesOf([...shorter.map((at) => at - byUs), ...hours], true).count).toBe(0);
  });
});

let line = 0;
const base = (us: number) => ({ timeUs: timeUs(us), localUs: timeUs(us), line: (line += 1) });
const trade = (us: number, tradeId?: number, size = 1): TapeRecord => {
  const at = base(us);
  return {
    kind: 'trade',
    ...at,
    tradeId: tradeId ?? at.line,
    priceTicks: priceTicks(9),
    lots: lots(size),
  };
};
const touch = (us: number, bid = 9): TapeRecord => ({
  kind: 'touch',
  ...base(us),
  updateId: 0,
  bidTicks: priceTicks(bid),
  bidLots: lots(1),
  askTicks: priceTicks(bid + 1),
  askLots: lots(1),
});

function factsOf(records: readonly TapeRecord[], hasVenueIds = false, isComplete = false) {
  const checks = new RecordChecks({ hasVenueIds, isComplete });
  for (const record of records) checks.take(record);
  return checks.finish();
}
const numbers = (count: number): number[] => [...Array(count).keys()];

describe('trades', () => {
  const ids = numbers(100).map((i) => 5000 + i);
  const withIds = (list: readonly number[]) => list.map((id, i) => trade(START_US + i, id));

  test('missing ones show where ids are consecutive', () => {
    const facts = factsOf(withIds([...ids.slice(0, 40), ...ids.slice(43)]));
    expect(facts.missingTrades).toBe(3);
    expect(facts.missingTradesList).toMatchObject([{ fromId: 5040, toId: 5042 }]);
    expect(facts.unchecked).toEqual([]);
    expect(factsOf(withIds(ids)).missingTrades).toBe(0);
  });

  test('a late trade is not missing', () => {
    const late = [...ids.slice(0, 40), ...ids.slice(43, 60), 5041, 5042, 5040, ...ids.slice(60)];
    expect(factsOf(withIds(late)).missingTrades).toBe(0);
  });

  test.each([
    ['of several markets', ids.map((id, i) => id + 7 * i)],
    ['without order', ids.map((id, i) => id * ((i % 3) + 1))],
  ])('ids %s are not checked, by name', (_name, list) => {
    const facts = factsOf(withIds(list));
    expect(facts.missingTrades).toBe(0);
    expect(facts.unchecked.join()).toContain('missing trades');
  });

  test('lines as ids are not checked, by name', () => {
    const skipped = numbers(100).map((i) => trade(START_US + i));
    skipped.splice(50, 3);
    const facts = factsOf(skipped);
    expect(facts.missingTrades).toBe(0);
    expect(facts.unchecked.join()).toContain('missing trades');
  });
});

describe('repeated records', () => {
  const quotes = numbers(20).map((i) => touch(START_US + i * SECOND, 9 + (i % 2)));
  const copy = (record: TapeRecord): TapeRecord => ({ ...record, line: (line += 1) });

  test('best prices twice in succession are; the same later are not', () => {
    expect(factsOf(quotes).repeated).toBe(0);
    expect(factsOf(quotes.flatMap((one, i) => (i === 5 ? [one, copy(one)] : [one]))).repeated).toBe(
      1,
    );
    expect(factsOf(quotes.flatMap((one) => [one, copy(one)])).repeated).toBe(20);
    const there = touch(START_US, 9);
    expect(factsOf([there, touch(START_US, 10), copy(there)]).repeated).toBe(0);
  });

  test('equal trades of one time are different trades, unless all are there in pairs', () => {
    const assigned = (one: TapeRecord): TapeRecord =>
      ({ ...copy(one), tradeId: line }) as TapeRecord;
    const some = numbers(20).flatMap((i) => {
      const one = trade(START_US + i * SECOND, undefined, i + 1);
      return i % 4 === 0 ? [one, assigned(one)] : [one];
    });
    expect(factsOf(some).repeated).toBe(0);
    expect(factsOf(some.flatMap((one) => [one, assigned(one)])).repeated).toBe(some.length);
    expect(factsOf(some.slice(0, 4).flatMap((one) => [one, assigned(one)])).repeated).toBe(0);
  });

  test('one order may lose the same size twice, and is added once', () => {
    const order = (action: 'add' | 'reduce'): TapeRecord => ({
      kind: 'order',
      ...base(START_US),
      ...{ action, ref: 4, side: 'bid', priceTicks: priceTicks(9), lots: lots(2) },
    });
    expect(factsOf([order('add'), order('reduce'), order('reduce')]).repeated).toBe(0);
    expect(factsOf([order('add'), order('add')]).repeated).toBe(1);
  });
});

describe('feeds', () => {
  const seconds = numbers(200).filter((i) => i < 100 || i > 130);
  const level = { side: 'bid', priceTicks: priceTicks(9), lots: lots(1) } as const;
  const depths = seconds.map((i): TapeRecord => {
    const ids = { firstId: i, prevId: i - 1, lastId: i };
    return { kind: 'depth', ...base(START_US + i * SECOND), ...ids, levels: [level] };
  });

  test('the silence of a book without ids of the venue is time without a book', () => {
    expect(factsOf(depths)).toMatchObject({
      silenceCount: 1,
      silentBookUs: 32 * SECOND,
      silences: [{ feed: 'book', fromUs: START_US + 99 * SECOND }],
      suspected: [{ reason: 'no book, unusual for the feed' }],
    });
  });

  test('a chain of ids shows that nothing is missing, and a journal lacks nothing', () => {
    expect(factsOf(depths, true)).toMatchObject({ silenceCount: 0, unchecked: [] });
    expect(factsOf(depths, false, true)).toMatchObject({ silenceCount: 0, unchecked: [] });
  });

  test('trades may pause while a book is recorded', () => {
    const pausing = seconds.map((i) => trade(START_US + i * SECOND));
    expect(factsOf(pausing).silences).toMatchObject([{ feed: 'trades' }]);
    const book = numbers(200).map((i) => ({ ...depths[0], ...base(START_US + i * SECOND) }));
    const both = [...pausing, ...(book as TapeRecord[])].sort((a, b) => a.timeUs - b.timeUs);
    expect(factsOf(both).silences).toEqual([]);
  });

  test('a missing funding rate is suspected', () => {
    const rates = numbers(20).map((i): TapeRecord => {
      return { kind: 'funding', ...base(START_US + i * 8 * 3600 * SECOND), ratePpb: ppb(i) };
    });
    expect(factsOf(rates).silenceCount).toBe(0);
    expect(factsOf(rates.toSpliced(9, 1)).silences).toMatchObject([{ feed: 'funding rates' }]);
  });

  test('too few records are not checked, by name', () => {
    expect(factsOf(numbers(5).map((i) => touch(START_US + i * SECOND))).unchecked).toContain(
      'silences of best prices: too few records',
    );
  });
});
