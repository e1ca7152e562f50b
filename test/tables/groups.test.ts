/** Groups of orders (§3, §4): every refusal, and worked examples of slices, brackets, pairs and triggers. */
import { expect, test } from 'vitest';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { marketId, orderId, priceTicks, subaccountId } from '../../src/num/units.ts';
import { GROUP_CODES } from './group-codes.ts';
import { ANN, BOB, CAT, GroupWorld, type Draft } from './group-world.ts';

const reached = new Set<string>();
const ANY = {
  types: null,
  statuses: null,
  market: null,
  createdFromUs: 0,
  createdToUs: Infinity,
  updatedFromUs: 0,
  updatedToUs: Infinity,
};

const limit: Draft = { size: 1, price: 990 };
const twap: Draft = { ...limit, orderType: 'twap', periodMs: 1000n };
const iceberg: Draft = { ...limit, orderType: 'iceberg' };
const profit: Draft = {
  size: -1,
  price: 1,
  orderType: 'takeProfit',
  triggerTicks: priceTicks(1100),
  ioc: true,
  reduceOnly: true,
};
const stop: Draft = { ...profit, orderType: 'stopLoss', triggerTicks: priceTicks(900) };
const trailing: Draft = {
  size: -1,
  price: 1,
  orderType: 'trailingStop',
  trailingPpm: 10_000,
  ioc: true,
};
const second = { market: marketId(1) };

const refusals: readonly (readonly [string, readonly Draft[]])[] = [
  ['batch_empty', []],
  ['batch_too_large', Array.from({ length: 101 }, () => limit)],
  ['batch_nonces_not_increasing', [limit, { ...limit, nonce: 0n }]],
  ['period_not_allowed', [limit, { ...limit, periodMs: 0n }]],
  ['period_not_allowed', [{ ...twap, periodMs: null }]],
  ['period_not_positive', [{ ...twap, periodMs: 0n }]],
  ['trailing_percent_not_allowed', [{ ...stop, trailingPpm: 1 }]],
  ['trailing_percent_not_allowed', [{ ...trailing, trailingPpm: null }]],
  ['trailing_percent_out_of_range', [{ ...trailing, trailingPpm: 1_000_000 }]],
  ['trailing_percent_out_of_range', [{ ...trailing, trailingPpm: 0 }]],
  ['trigger_price_not_allowed', [{ ...stop, triggerTicks: null }]],
  ['trigger_price_not_allowed', [limit, { ...limit, triggerTicks: priceTicks(1) }]],
  ['trigger_price_not_positive', [{ ...stop, triggerTicks: priceTicks(0) }]],
  ['parent_not_allowed', [limit, { ...limit, parent: orderId(1) }]],
  ['parent_not_allowed', [{ ...trailing, parent: orderId(1) }]],
  ['parent_not_allowed', [{ ...profit, attached: true }]],
  ['parent_not_allowed', [stop, { ...profit, size: 1, attached: true }]],
  ['parent_not_allowed', [limit, { ...profit, attached: true }, limit]],
  ['parent_not_allowed', [limit, { ...profit, attached: true, parent: orderId(1) }]],
  ['leg_not_reduce_only', [profit, { ...stop, reduceOnly: false }]],
  ['leg_not_reduce_only', [{ ...stop, parent: orderId(1), reduceOnly: false }]],
  ['iceberg_ioc', [{ ...iceberg, ioc: true }]],
  ['batch_types_mixed', [twap, limit]],
  ['batch_types_mixed', [limit, iceberg]],
  ['batch_symbols_differ', [twap, { ...twap, ...second }]],
  ['batch_symbols_differ', [profit, { ...stop, ...second }]],
  ['batch_sides_differ', [iceberg, { ...iceberg, size: -1 }]],
  ['batch_sides_differ', [profit, { ...stop, size: 1 }]],
  ['batch_prices_differ', [iceberg, { ...iceberg, price: 991 }]],
  ['batch_quantities_differ', [iceberg, { ...iceberg, size: 2 }]],
  ['batch_quantities_differ', [{ ...iceberg, size: 2 }, iceberg, { ...iceberg, size: 2 }]],
  ['batch_periods_differ', [twap, { ...twap, periodMs: 2000n }]],
  ['batch_parents_differ', [{ ...profit, parent: orderId(1) }, stop]],
  ['batch_second_pair', [profit, stop, profit]],
  ['order_not_found', [{ ...profit, parent: orderId(77) }]],
  ['order_not_found', [limit, { ...profit, size: 1 }, { ...stop, size: 1 }]],
  [
    'client_id_in_use',
    [
      { ...limit, clientId: 'x' },
      { ...limit, clientId: 'x' },
    ],
  ],
  ['market_not_found', [limit, { ...limit, market: marketId(9) }]],
  ['request_expired', [limit, { ...limit, expiresAtMs: 0n }]],
];

test.each(refusals)('%s refuses the whole group and leaves no record (R-3.1)', (code, drafts) => {
  const world = new GroupWorld();
  const before = world.engine.stateHash();
  expect(world.group(ANN, ...drafts)).toBe(code);
  reached.add(code);
  expect(world.engine.stateHash()).toBe(before);
});

/** Ann has bought from Bob. */
function longWorld(size: number): GroupWorld {
  const world = new GroupWorld();
  world.group(BOB, { size: -size, price: 1000 });
  world.group(ANN, { size, price: 1000 });
  expect(world.position(ANN)).toBe(size);
  return world;
}

test('a fill of one leg shrinks the other, which ends at cover 0 (R-3.6)', () => {
  const world = longWorld(10);
  world.group(ANN, { ...profit, size: -6 }, { ...stop, size: -6 });
  const [profitId, stopId] = [world.last - 1, world.last];
  world.group(CAT, { size: 6, price: 1100 });
  world.index(0, 1100);
  expect(world.shown(profitId)).toBe('filled -6');
  expect(world.shown(stopId)).toBe('cancelled 0 ocoSibling');
  reached.add('ocoSibling');
  expect(world.position(ANN)).toBe(4);
});

test('if both triggers are due in one instant the stop fires and the take-profit waits (R-3.6)', () => {
  const world = longWorld(10);
  world.group(
    ANN,
    { ...profit, size: -4, triggerTicks: priceTicks(950) },
    { ...stop, size: -4, triggerTicks: priceTicks(1050) },
  );
  const [profitId, stopId] = [world.last - 1, world.last];
  // There is no bid, so both are pending; then Cat bids for less than the stop's size.
  expect([world.shown(profitId), world.shown(stopId)]).toEqual(['pending 0', 'pending 0']);
  world.group(CAT, { size: 3, price: 990 });
  world.index(0, 1001);
  expect([world.shown(profitId), world.shown(stopId)]).toEqual(['pending 0', 'pending -3']);
  expect(world.position(ANN)).toBe(7);
});

test('closing the position with another order ends the pair (R-3.5)', () => {
  const world = longWorld(2);
  world.group(ANN, { ...profit, size: -2 }, { ...stop, size: -2 });
  const [profitId, stopId] = [world.last - 1, world.last];
  world.group(CAT, { size: 2, price: 1000 });
  world.group(ANN, { size: -2, price: 1000 });
  expect([world.shown(profitId), world.shown(stopId)]).toEqual([
    'cancelled 0 positionClosed',
    'cancelled 0 positionClosed',
  ]);
  reached.add('positionClosed');
});

test('legs of a live parent survive a flat position and cover its later fills (R-3.5)', () => {
  const world = new GroupWorld();
  world.group(ANN, { size: 5, price: 990 });
  const parent = orderId(world.last);
  world.group(ANN, { ...profit, size: -5, parent }, { ...stop, size: -5, parent });
  const stopId = world.last;
  world.group(BOB, { size: -2, price: 990 });
  world.group(CAT, { size: 2, price: 1000 });
  world.group(ANN, { size: -2, price: 1000 });
  expect(world.position(ANN)).toBe(0);
  expect(world.shown(stopId)).toBe('pending 0');
  world.group(BOB, { size: -3, price: 990 });
  expect(world.position(ANN)).toBe(3);
  world.group(CAT, { size: 9, price: 899 });
  world.index(0, 899);
  expect(world.position(ANN)).toBe(0);
});

test('legs attached to a stop entry are siblings of each other, not of the entry (R-2.15, R-3.6)', () => {
  const world = longWorld(4);
  world.group(
    ANN,
    { ...stop, size: 6, price: 1090, reduceOnly: false, triggerTicks: priceTicks(1010) },
    { ...profit, size: -6, attached: true },
    { ...stop, size: -6, attached: true },
  );
  const [profitId, stopId] = [world.last - 1, world.last];
  world.group(BOB, { size: -6, price: 1010 });
  world.index(0, 1010);
  expect(world.position(ANN)).toBe(10);
  // The take-profit's fills leave the stop's cover.
  world.group(CAT, { size: 4, price: 1100 });
  world.index(0, 1100);
  expect(world.shown(profitId)).toBe('pending -4');
  world.group(CAT, { size: 9, price: 899 });
  world.index(0, 899);
  expect(world.shown(stopId)).toBe('cancelled -2 ocoSibling');
  expect(world.position(ANN)).toBe(4);
});

test('a parent that ends unfilled ends its legs (R-3.5)', () => {
  const world = new GroupWorld();
  world.group(ANN, { size: 5, price: 990 }, { ...stop, size: -5 }, { ...profit, size: -5 });
  const [parent, stopId, profitId] = [world.last - 2, world.last - 1, world.last];
  expect(world.order(stopId).parent?.orderId).toBe(parent);
  world.cancel(parent);
  expect([world.shown(stopId), world.shown(profitId)]).toEqual([
    'cancelled 0 parentCancelled',
    'cancelled 0 parentCancelled',
  ]);
  reached.add('parentCancelled');
});

test('with any other order in the batch the pair protects its own parent (R-3.2)', () => {
  const world = longWorld(1);
  world.group(ANN, limit, { ...limit, price: 980 }, profit, stop);
  expect(world.order(world.last).parent).toBeNull();
  expect(world.shown(world.last)).toBe('pending 0');
});

test('several fire in the order of stop before profit, distance, sequence (R-4.3)', () => {
  const world = longWorld(10);
  const ids: number[] = [];
  for (const [orderType, trigger] of [
    ['takeProfit', 1010],
    ['takeProfit', 1005],
    ['stopLoss', 1010],
  ] as const) {
    // A selling take-profit and a buying stop both wait for a rise.
    const size = orderType === 'stopLoss' ? 1 : -1;
    world.group(ANN, {
      ...profit,
      orderType,
      size,
      price: size > 0 ? 1090 : 1,
      reduceOnly: false,
      triggerTicks: priceTicks(trigger),
    });
    ids.push(world.last);
  }
  world.events.length = 0;
  world.index(0, 1010);
  const fired = world.events.flatMap((event) =>
    event.kind === 'orderReleased' ? [event.orderId] : [],
  );
  expect(fired).toEqual([ids[2], ids[1], ids[0]]);
});

test('triggers on the last price cascade inside one command, each firing at most once (R-4.3)', () => {
  const world = new GroupWorld({ triggerSource: 'last' });
  for (const price of [1000, 995, 990, 985]) world.group(BOB, { size: 1, price });
  for (const trigger of [995, 990]) {
    world.group(CAT, {
      ...stop,
      reduceOnly: false,
      triggerTicks: priceTicks(trigger),
    });
  }
  world.events.length = 0;
  // The first sale prints 1000, the second 995, which fires the first stop, whose print at 990 fires the second.
  world.group(ANN, { size: -1, price: 1000 });
  expect(world.events.filter(({ kind }) => kind === 'orderReleased')).toHaveLength(0);
  world.group(ANN, { size: -1, price: 995 });
  expect(world.events.filter(({ kind }) => kind === 'orderReleased')).toHaveLength(2);
  expect(world.position(CAT)).toBe(-2);
});

test('no trigger fires while the index is stale (R-5.3)', () => {
  const world = new GroupWorld({ indexStaleUs: 1_000_000 as never, triggerSource: 'last' });
  world.group(BOB, { size: 5, price: 1000 });
  world.group(CAT, { ...stop, reduceOnly: false, triggerTicks: priceTicks(1000) });
  world.wait(2000);
  expect(world.shown(world.last)).toBe('pending 0');
});

test('a slice due after its expiresAt expires, also with a period beyond the range of times (R-3.3)', () => {
  const world = new GroupWorld();
  const expiresAtMs = BigInt(world.atUs) / 1000n + 1500n;
  world.group(ANN, { ...twap, expiresAtMs }, { ...twap, expiresAtMs }, { ...twap, expiresAtMs });
  const last = world.last;
  world.group(ANN, { ...twap, periodMs: 2n ** 62n }, { ...twap, periodMs: 2n ** 62n });
  world.wait(1000);
  expect(world.shown(last - 1)).toBe('new 0');
  world.wait(1000);
  expect(world.shown(last)).toBe('expired 0 expired');
  expect(world.shown(world.last)).toBe('pending 0');
  expect(world.engine.nextTimerUs()).toBeGreaterThan(world.atUs);
});

test('pending orders count in maxOpenOrders (R-3.3)', () => {
  const world = new GroupWorld({}, { maxOpenOrders: 3 });
  world.group(ANN, twap, twap, twap);
  expect(world.shown(world.last)).toBe('pending 0');
  world.group(ANN, { ...stop, reduceOnly: false });
  expect(world.shown(world.last)).toBe('rejected 0 openOrders');
});

test('an iceberg that fills as a taker shows its next slice in the same command (R-3.4)', () => {
  const world = new GroupWorld();
  world.group(BOB, { size: -5, price: 990 });
  world.group(ANN, ...Array.from({ length: 3 }, () => ({ ...iceberg, size: 2 })));
  expect([
    world.shown(world.last - 2),
    world.shown(world.last - 1),
    world.shown(world.last),
  ]).toEqual(['filled 2', 'filled 2', 'partiallyFilled 1']);
});

test('retention of ended orders does not change the state hash', () => {
  const hashes = [0, 2, 100].map((endedOrdersPerAccount) => {
    const { retention } = DEFAULT_EXCHANGE_CONFIG;
    const world = new GroupWorld({ retention: { ...retention, endedOrdersPerAccount } });
    for (let i = 0; i < 10; i++) {
      world.group(BOB, { size: -2, price: 1000 });
      world.group(ANN, { size: 2, price: 1000 }, { ...stop, size: -2 }, { ...profit, size: -2 });
    }
    world.index(0, 1100);
    const kept = world.engine.findOrders(subaccountId(ANN), ANY, 500).total;
    return { hash: world.engine.stateHash(), kept };
  });
  expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(1);
  expect(new Set(hashes.map(({ kept }) => kept)).size).toBe(3);
});

test('every code of groups was reached', () => {
  expect(GROUP_CODES.filter((code) => !reached.has(code))).toEqual([]);
});
