/** The order of auto-deleveraging against its formula, and its quintiles for readers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Exposure } from '../../../src/engine/accounts/subaccount.ts';
import { AdlRanks, RANKED_NOW } from '../../../src/engine/liquidation/adl-ranks.ts';
import { rankHolders, Ranks } from '../../../src/engine/liquidation/adl.ts';
import type { State } from '../../../src/engine/state.ts';
import { priceTicks, quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

const LONGS = ['ann', 'bob', 'cat', 'dan', 'eve'];

/** Five longs of 1 to 5 M, and one short of all, `zoe`. The mark and the settlement price differ. */
function opened(): { world: RiskWorld; state: State; longs: Exposure[] } {
  const world = new RiskWorld(['M', 'N'].map((symbol) => ({ symbol, markSource: 'index' })));
  world.fund({ zoe: '1000000', ...Object.fromEntries(LONGS.map((name) => [name, '10000'])) });
  world.price('100');
  world.price('100', 'N');
  LONGS.forEach((name, i) => {
    world.trade(name, 'zoe', String(i + 1), '100');
  });
  world.checks = false;
  const state = stateOf(world.engine);
  const market = world.marketOf('M');
  const longs = LONGS.map((name) => state.subaccount(world.idOf(name)).exposure(market));
  return { world, state, longs };
}

interface Holder {
  readonly cash: bigint;
  readonly cost: bigint;
}

test('holders are ordered by profit and leverage, those without equity last', () => {
  const { world, state, longs } = opened();
  const market = state.market(world.marketOf('M'));
  const tickLot = BigInt(market.spec.quantaPerTickLot);
  const unit = 1_000_000n;
  const amount = fc.bigInt({ min: -600n, max: 600n }).map((dollars) => dollars * unit);
  const holder = fc.record({
    cash: fc.oneof(amount, fc.constant(0n), fc.bigInt({ min: -2n, max: 2n })),
    cost: fc.oneof(amount, fc.constantFrom(0n, 1n, 100n * unit, 200n * unit, 300n * unit)),
  });
  const ofEach = fc.tuple(holder, holder, holder, holder, holder);
  const tick = fc.integer({ min: 0, max: 120 });
  const seen = new Set<number>();
  let lossless = 0;
  fc.assert(
    fc.property(ofEach, tick, tick, (holders: readonly Holder[], mark, index) => {
      market.markTicks = priceTicks(mark);
      market.indexTicks = priceTicks(index);
      const expected = longs.map((exposure, i) => {
        const { cash, cost } = holders[i]!;
        state.subaccount(exposure.subaccount).cash = quanta(cash);
        exposure.costQuanta = quanta(cost);
        const valueAt = (ticks: number): bigint =>
          BigInt(exposure.positionLots) * BigInt(ticks) * tickLot;
        const upnl = valueAt(mark) - cost;
        const equity = cash + upnl;
        const after = cash + valueAt(index) - cost;
        const falls = after < (equity < 0n ? equity : 0n);
        const least = (of: bigint): bigint => (of > 1n ? of : 1n);
        const value = least(valueAt(mark));
        const spent = least(cost < 0n ? -cost : cost);
        const own = least(equity);
        const inOrder = falls ? 4 : equity <= 0n ? 2 : upnl > 0n ? 0 : 1;
        seen.add(inOrder);
        if (upnl === 0n) lossless += 1;
        const [top, bottom] =
          inOrder === 2
            ? [0n, 1n]
            : upnl > 0n
              ? [upnl * value, spent * own]
              : [upnl * own, spent * value];
        return { exposure, inOrder, top, bottom };
      });
      expected.sort((a, b) => {
        if (a.inOrder !== b.inOrder) return a.inOrder - b.inOrder;
        const [left, right] = [a.top * b.bottom, b.top * a.bottom];
        return left > right ? -1 : left < right ? 1 : a.exposure.subaccount - b.exposure.subaccount;
      });
      const ids = (of: readonly Exposure[]): number[] => of.map(({ subaccount }) => subaccount);
      // The order in which holders are listed does not matter.
      const listed = mark % 2 === 0 ? longs : longs.toReversed();
      expect(ids(rankHolders(state, market, listed).map(({ exposure }) => exposure))).toEqual(
        ids(expected.map(({ exposure }) => exposure)),
      );
    }),
    { numRuns: 1500 },
  );
  expect([...seen].sort((a, b) => a - b)).toEqual([0, 1, 2, 4]);
  expect(lossless).toBeGreaterThan(0);
});

test('both sides of each market are ranked once, and later holders follow by id', () => {
  const { world, state, longs } = opened();
  world.trade('cat', 'zoe', '1', '100', 'N');
  world.trade('bob', 'zoe', '2', '100', 'N');
  for (const name of ['xia', 'yan']) {
    world.fund({ [name]: '1000' });
    world.trade(name, 'zoe', '-1', '100');
  }
  state.subaccount(world.idOf('yan')).exposure(world.marketOf('M')).costQuanta =
    quanta(-200_000_000n);
  state.subaccount(world.idOf('xia')).exposure(world.marketOf('M')).costQuanta =
    quanta(-50_000_000n);
  const market = state.market(world.marketOf('M'));
  const other = state.market(world.marketOf('N'));
  const ranks = new Ranks(state);
  const names = (of: Iterable<Exposure>): string[] =>
    Array.from(of, ({ subaccount }) => world.nameOf(subaccount));
  // Dan has the greatest profit for his equity, then bob.
  longs[3]!.costQuanta = quanta(1_000_000n);
  longs[1]!.costQuanta = quanta(100_000_000n);
  const first = names(ranks.holders(market, 1));
  expect(first.slice(0, 2)).toEqual(['dan', 'bob']);
  // Shorts that paid the most have the greatest profit.
  expect(names(ranks.holders(market, -1))).toEqual(['yan', 'zoe', 'xia']);
  expect(names(ranks.holders(other, 1)).sort()).toEqual(['bob', 'cat']);
  expect(names(ranks.holders(other, -1))).toEqual(['zoe']);
  // A new ranking would have another order.
  longs[0]!.costQuanta = quanta(1n);
  expect(names(ranks.holders(market, 1))).toEqual(first);
  world.fund({ fay: '1000', gus: '1000' });
  // Dan sells to fay and gus.
  world.trade('gus', 'dan', '2', '100');
  world.trade('fay', 'dan', '2', '100');
  const order = first.filter((name) => name !== 'dan');
  expect(names(ranks.holders(market, 1))).toEqual([...order, 'fay', 'gus']);
  expect(names(ranks.holders(market, 1))).toEqual([...order, 'fay', 'gus']);
  // Dan has its place again, also if all before it have closed.
  world.trade('dan', 'gus', '1', '100');
  expect(names(ranks.holders(market, 1))).toEqual([...first, 'fay', 'gus']);
  world.trade('dan', 'zoe', '-1', '100');
  world.trade('bob', 'zoe', '-2', '100');
  expect(names(ranks.holders(market, 1))).toEqual([...first.slice(2), 'fay', 'gus']);
  world.trade('bob', 'zoe', '1', '100');
  expect(names(ranks.holders(market, 1))).toEqual([...first.slice(1), 'fay', 'gus']);
  // A long that becomes a short is on the other side.
  world.trade('gus', 'dan', '-3', '100');
  expect(names(ranks.holders(market, 1))).toEqual([...first, 'fay']);
  expect(names(ranks.holders(market, -1))).toEqual(['yan', 'zoe', 'xia', 'gus']);
});

test('a quintile is that of a side, and is kept until a later command or its age', () => {
  const { world, state, longs } = opened();
  const market = state.market(world.marketOf('M'));
  const empty = state.market(world.marketOf('N'));
  const ranks = new AdlRanks();
  const quintiles = (maxAgeUs: number): (number | null)[] =>
    LONGS.map((name) =>
      ranks.quantile(state, world.idOf(name), market, {
        smallUs: maxAgeUs,
        largeUs: 0,
      }),
    );
  // The same price for all: those with the larger positions have the higher leverage.
  world.price('110');
  const plain = quintiles(0);
  expect([...plain].sort()).toEqual([1, 2, 3, 4, 5]);
  expect(ranks.quantile(state, world.idOf('zoe'), market, RANKED_NOW)).toBe(5);
  expect(ranks.quantile(state, world.idOf('ann'), empty, RANKED_NOW)).toBeNull();
  // Without a command the ranking is the same one.
  longs[0]!.costQuanta = quanta(1n);
  expect(quintiles(0)).toEqual(plain);
  // So it is for a reader that accepts its age, to the microsecond.
  world.wait(1000);
  expect(quintiles(1_000_001)).toEqual(plain);
  expect(quintiles(1_000_000)).not.toEqual(plain);
  expect(quintiles(1_000_000)[0]).toBe(5);
  // A holder that it does not have gets its place among those that it has.
  world.fund({ fay: '1000' });
  world.trade('fay', 'zoe', '1', '110');
  const fay = ranks.quantile(state, world.idOf('fay'), market, { smallUs: 10_000_000, largeUs: 0 });
  expect(fay).toBe(1);
  expect(
    ranks.quantile(state, world.idOf('ann'), market, { smallUs: 10_000_000, largeUs: 0 }),
  ).toBe(5);
  const kept = quintiles(10_000_000);
  longs[4]!.costQuanta = quanta(-1_000_000_000n);
  expect(quintiles(10_000_000)).toEqual(kept);
  // Neither a position that is closed nor one without a mark has a quintile.
  world.trade('fay', 'zoe', '-1', '110');
  expect(
    ranks.quantile(state, world.idOf('fay'), market, { smallUs: 10_000_000, largeUs: 0 }),
  ).toBeNull();
  market.markTicks = null;
  expect(
    ranks.quantile(state, world.idOf('ann'), market, { smallUs: 10_000_000, largeUs: 0 }),
  ).toBeNull();
});

test('the ranking of more than 100 holders is up to a second old, and places holders since then', () => {
  const world = new RiskWorld([{ symbol: 'M', markSource: 'index' }]);
  world.fund({ zoe: '1000000000' });
  world.price('100');
  const state = stateOf(world.engine);
  const market = state.market(world.marketOf('M'));
  const ranks = new AdlRanks();
  const names: string[] = [];
  const join = (): void => {
    const name = `u${String(names.length)}`;
    // Different leverages: each has a place of its own.
    world.fund({ [name]: String(1000 + ((names.length * 37) % 211)) });
    world.trade(name, 'zoe', '1', '100');
    names.push(name);
  };
  world.checks = false;
  for (let i = 0; i < 100; i++) join();
  world.price('101');
  const quintile = (name: string): number | null =>
    ranks.quantile(state, world.idOf(name), market, { smallUs: 0, largeUs: 1_000_000 });
  const positionOf = (name: string): Exposure =>
    state.subaccount(world.idOf(name)).exposure(market.id);
  const lowest = names.find((name) => quintile(name) === 1)!;
  const cost = positionOf(lowest).costQuanta;
  // A hundred holders are ranked again after each command.
  positionOf(lowest).costQuanta = quanta(1n);
  world.price('101');
  expect(quintile(lowest)).toBe(5);
  positionOf(lowest).costQuanta = cost;
  join();
  world.price('101');
  expect(quintile(lowest)).toBe(1);
  // With one more, only after a second.
  positionOf(lowest).costQuanta = quanta(1n);
  world.price('101');
  expect(quintile(lowest)).toBe(1);
  positionOf(lowest).costQuanta = cost;
  const ranked = [...names];
  for (let i = 0; i < 30; i++) join();
  const holders = rankHolders(state, market, names.map(positionOf)).map(({ exposure }) =>
    world.nameOf(exposure.subaccount),
  );
  for (const name of names.slice(ranked.length)) {
    const before = holders.slice(0, holders.indexOf(name)).filter((of) => ranked.includes(of));
    const place = Math.min(before.length, ranked.length - 1);
    expect(quintile(name), name).toBe(5 - Math.floor((place * 5) / ranked.length));
  }
  positionOf(lowest).costQuanta = quanta(1n);
  expect(quintile(lowest)).toBe(1);
  world.wait(1000);
  expect(quintile(lowest)).toBe(5);
});
