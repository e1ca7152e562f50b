/**
 * Attack 9, first part. In a market with a stale index a fill may only reduce both sides. The taker
 * stopped at the first resting order that would open, so one such order of one lot at the best
 * price prevented every account from closing.
 *
 * Now a resting order that would open is cancelled (`staleIndex`) when it is met, and matching
 * continues. The taker stops only where it would open itself, or at house liquidity, which counts
 * as opening (R-5.3b).
 */
import { afterAll, describe, expect, test } from 'vitest';
import { lots, orderId, priceTicks, timeUs } from '../../src/num/units.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const IOC = { ioc: true, postOnly: false, reduceOnly: false };
const REDUCE = { ioc: true, postOnly: false, reduceOnly: true };

/** Pat is long 3 S and Quinn short 3, both at 40,000; Eve and Ed are flat. */
function opened(): AttackWorld {
  const world = new AttackWorld([{ symbol: 'S' }]);
  world.fund({ pat: '50000', quinn: '50000', eve: '50000', ed: '50000' });
  world.price('40000', 'S');
  world.trade('pat', 'quinn', '3', '40000', 'S');
  return world;
}

interface Placed {
  readonly orderId: string;
  readonly status: string;
  readonly reason: string | null;
  readonly settled: string;
}

function place(
  world: AttackWorld,
  who: string,
  quantity: string,
  price: string,
  flags: Record<string, boolean> = { ioc: false, postOnly: false, reduceOnly: false },
): Placed {
  const record = world.order(who, quantity, price, { symbol: 'S', flags });
  if (typeof record === 'string') throw new Error(record);
  return record;
}

/** The current order as `status reason settled`. */
function stateOf(world: AttackWorld, who: string, { orderId: id }: Placed): string {
  const record = world.ask('getOrder', { orderId: id }, who) as Placed;
  return [record.status, String(record.reason), record.settled].join(' ');
}

const sizeOf = (world: AttackWorld, who: string): string =>
  world.position(who, 'S')?.quantity ?? '0';

interface Row {
  readonly name: string;
  /** Quantity of Eve's bid at 40,000, ahead of Quinn's at 39,990. */
  readonly ahead: string;
  readonly sell: string;
  /** `status reason settled` of Pat's order under the old rules, and now. */
  readonly before: string;
  readonly after: string;
  /** Positions of Pat and Quinn afterwards. */
  readonly left: readonly [string, string];
}

const ROWS: readonly Row[] = [
  {
    name: 'an opening bid of one lot ahead',
    ahead: '0.0001',
    sell: '-3',
    before: 'cancelled insufficientMargin 0',
    after: 'filled null -3',
    left: ['0', '0'],
  },
  {
    name: 'an opening bid as large as the exit',
    ahead: '3',
    sell: '-3',
    before: 'cancelled insufficientMargin 0',
    after: 'filled null -3',
    left: ['0', '0'],
  },
  {
    name: 'a part of the position',
    ahead: '0.5',
    sell: '-1',
    before: 'cancelled insufficientMargin 0',
    after: 'filled null -1',
    left: ['2', '-2'],
  },
];

describe.each([
  ['ioc', IOC],
  ['reduce-only', REDUCE],
])('%s exits', (_, flags) => {
  test.each(ROWS)('$name: was $before, now $after', ({ ahead, sell, after, left }) => {
    const world = opened();
    const blocking = place(world, 'eve', ahead, '40000');
    place(world, 'quinn', '3', '39990');
    world.wait(60_001);
    const exit = place(world, 'pat', sell, '39900', flags);
    expect(stateOf(world, 'pat', exit)).toBe(after);
    expect([sizeOf(world, 'pat'), sizeOf(world, 'quinn')]).toEqual(left);
    expect(stateOf(world, 'eve', blocking)).toBe('cancelled staleIndex 0');
  });
});

test('many opening orders of several accounts do not prevent an exit', () => {
  const world = opened();
  for (let i = 0; i < 20; i++)
    place(world, i % 2 === 0 ? 'eve' : 'ed', '0.0001', String(40_000 - i));
  place(world, 'quinn', '3', '39950');
  world.wait(60_001);
  expect(place(world, 'pat', '-3', '39900', IOC).settled).toBe('-3');
});

test('the short side exits over an opening ask', () => {
  const world = opened();
  const blocking = place(world, 'eve', '-1', '40000');
  place(world, 'pat', '-3', '40010');
  world.wait(60_001);
  expect(place(world, 'quinn', '3', '40100', IOC).settled).toBe('3');
  expect(stateOf(world, 'eve', blocking)).toBe('cancelled staleIndex 0');
});

test('a resting order larger than its position fills up to the position; the rest is cancelled', () => {
  const world = opened();
  world.trade('eve', 'quinn', '-1', '40000', 'S');
  // Eve is short 1 and bids 2, Quinn is short 2.
  const mixed = place(world, 'eve', '2', '40000');
  place(world, 'quinn', '2', '39990');
  world.wait(60_001);
  expect(place(world, 'pat', '-3', '39900', IOC).settled).toBe('-3');
  expect(stateOf(world, 'eve', mixed)).toBe('cancelled staleIndex 1');
  expect(['pat', 'eve', 'quinn'].map((who) => sizeOf(world, who))).toEqual(['0', '0', '0']);
});

test('rejects a sale beyond the position before matching', () => {
  const world = opened();
  place(world, 'quinn', '3', '39990');
  world.wait(60_001);
  expect(place(world, 'pat', '-4', '39900', IOC)).toMatchObject({
    status: 'rejected',
    reason: 'staleIndex',
  });
  expect(place(world, 'eve', '1', '39000')).toMatchObject({
    status: 'rejected',
    reason: 'staleIndex',
  });
  expect(place(world, 'pat', '-3', '39900', IOC).settled).toBe('-3');
});

test('the house counts as opening: the taker stops there and keeps the position', () => {
  const world = opened();
  world.apply({
    kind: 'tapeDepth',
    timeUs: timeUs(world.atUs),
    market: world.marketOf('S'),
    levels: [{ side: 'bid', priceTicks: priceTicks(400_000), lots: lots(10_000) }],
  });
  world.wait(60_001);
  const exit = place(world, 'pat', '-3', '39900', IOC);
  expect(stateOf(world, 'pat', exit)).toMatch(/ staleIndex 0$/);
  expect(sizeOf(world, 'pat')).toBe('3');
});

test('an exit rests while the market is frozen and fills against another exit', () => {
  const world = opened();
  world.wait(60_001);
  const ask = place(world, 'pat', '-3', '40000');
  expect(ask).toMatchObject({ status: 'new', reason: null });
  expect(place(world, 'quinn', '3', '40000').settled).toBe('3');
  expect(stateOf(world, 'pat', ask)).toBe('filled null -3');
});

test('untouched opening orders are still live after the thaw', () => {
  const world = opened();
  const bid = place(world, 'eve', '1', '39990');
  world.wait(60_001);
  world.price('40000', 'S');
  expect(stateOf(world, 'eve', bid)).toBe('new null 0');
  expect(world.engine.order(orderId(1))).toBeDefined();
});

test('under the status reduceOnly exits continue and openings end halted', () => {
  const world = opened();
  place(world, 'quinn', '3', '39990');
  expect(world.status('S', 'reduceOnly')).toBe('ok');
  expect(place(world, 'eve', '1', '39990')).toMatchObject({ status: 'rejected', reason: 'halted' });
  expect(place(world, 'pat', '-4', '39900', IOC)).toMatchObject({ reason: 'halted' });
  expect(place(world, 'pat', '-3', '39900', REDUCE).settled).toBe('-3');
});

test.each(['halted', 'cancelOnly'] as const)(
  'under the status %s no order is placed until it ends',
  (status) => {
    const world = opened();
    const bid = place(world, 'quinn', '3', '39990');
    world.status('S', status);
    expect(place(world, 'pat', '-3', '39900', REDUCE)).toMatchObject({
      status: 'rejected',
      reason: 'halted',
    });
    world.run(10_000, { S: '40000' });
    world.status('S', 'open');
    expect(place(world, 'pat', '-3', '39900', REDUCE).settled).toBe('-3');
    expect(stateOf(world, 'quinn', bid)).toBe('filled null 3');
  },
);
