/**
 * The precedence of refusals: an order with every fault at once is mended one fault at a time. Each row mends the fault
 * that was named before; the codes come in the order in which `REFUSALS` and docs/REJECTIONS.md list them.
 */
import { expect, test } from 'vitest';
import type { NewOrder, PlaceOrder, PlaceOrders } from '../../src/engine/commands.ts';
import { outcomeCode, REFUSALS, type RefusalCode } from '../../src/engine/refusals.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import {
  accountId,
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { NEVER_MS } from '../setup/plain-limit.ts';
import { ANN, drafted, GroupWorld } from './group-world.ts';

const LATER_US = timeUs(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs + 1_000_000);
const USED = 1_000_000n;
const FREE = 2_000_000n;
const TREASURY = DEFAULT_EXCHANGE_CONFIG.treasuryAccount;

type Row<Changes> = readonly [RefusalCode, Changes];

/** The fault that a row names is there until the next row mends it. */
const TERMS: readonly Row<Partial<NewOrder>>[] = [
  ['request_expired', {}],
  ['not_delegated', { expiresAtMs: NEVER_MS }],
  ['nonce_used', {}],
  ['client_id_in_use', { nonce: FREE }],
  ['price_not_positive', { clientId: null }],
  ['price_off_tick', { priceTicks: priceTicks(0.5) }],
  ['price_too_high', { priceTicks: priceTicks(2 ** 31) }],
  ['quantity_zero', { priceTicks: priceTicks(1000) }],
  ['quantity_off_lot', { lots: lots(0.5) }],
  ['quantity_below_minimum', { lots: lots(1) }],
  ['quantity_above_maximum', { lots: lots(2 ** 40) }],
  ['flags_conflict', { lots: lots(10) }],
  ['originator_fee_too_high', { ioc: false }],
  ['originator_missing', { originatorFeePpm: ppm(5) }],
  ['originator_not_allowed', { originator: TREASURY }],
];
const FAULTY: Partial<NewOrder> = {
  expiresAtMs: 1n,
  nonce: USED,
  clientId: 'taken',
  priceTicks: priceTicks(0),
  lots: lots(0),
  ioc: true,
  postOnly: true,
  originatorFeePpm: ppm(2 ** 20),
};

/** A world in which a nonce and a clientId are taken. */
function opened(): GroupWorld {
  const world = new GroupWorld({}, { minQuantity: '2' });
  const taken = { ...drafted({ size: 10, price: 900 }, USED), clientId: 'taken' };
  expect(world.apply({ ...group([taken]), timeUs: timeUs(world.atUs) })).toBe('ok');
  return world;
}

const group = (orders: readonly NewOrder[]): PlaceOrders => ({
  kind: 'placeOrders',
  timeUs: LATER_US,
  subaccount: subaccountId(ANN),
  delegate: null,
  orders,
});

/** All other terms of a single order are those of a group's order. */
function single(order: NewOrder, more: Partial<PlaceOrder>): PlaceOrder {
  const { triggerTicks, trailingPpm, periodMs, parent, attached, ...terms } = order;
  expect([triggerTicks, trailingPpm, periodMs, parent, attached]).toEqual([
    null,
    null,
    null,
    null,
    false,
  ]);
  return { ...group([]), kind: 'placeOrder', ...terms, orderType: 'limit', ...more };
}

/** Requests are not refused for these: they become commands. */
const OF_COMMANDS: readonly string[] = [
  'originator_not_allowed',
  'period_not_positive',
  'leg_not_reduce_only',
  'iceberg_ioc',
];

/** Codes that the engine refuses these commands with, and the same as requests. */
function codesOf(world: GroupWorld, commands: readonly (PlaceOrder | PlaceOrders)[]): string[] {
  return commands.map((command) => {
    const code = outcomeCode(world.engine.fork().apply(command));
    if (command.kind === 'placeOrders') {
      const refusal = world.engine.requestRefusal(command);
      if (!OF_COMMANDS.includes(code)) expect(refusal?.code).toBe(code);
    }
    return code;
  });
}

function expectOrder(codes: readonly RefusalCode[]): void {
  const places = codes.map((code) => REFUSALS.indexOf(code));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}

/** The order after each row. */
function mended(start: Partial<NewOrder>, rows: readonly Row<Partial<NewOrder>>[]): NewOrder[] {
  let order = { ...drafted({ size: 10, price: 1000 }, FREE), ...start };
  return rows.map(([, changes]) => (order = { ...order, ...changes }));
}

test('a single order', () => {
  const world = opened();
  const orders = mended(FAULTY, TERMS);
  const worst = single(orders[0]!, { delegate: accountId(3) });
  const commands: PlaceOrder[] = [
    { ...worst, market: marketId(9), subaccount: subaccountId(999) },
    { ...worst, subaccount: subaccountId(999) },
    ...orders.map((order, i) => single(order, { delegate: i < 2 ? accountId(3) : null })),
  ];
  const codes = [
    'market_not_found',
    'subaccount_not_found',
    ...TERMS.map(([code]) => code),
  ] as const;
  expect(codesOf(world, commands)).toEqual(codes);
  expectOrder(codes);
});

test('a group: shape first, then each check over all orders', () => {
  const world = opened();
  const good = (nonce: bigint): NewOrder => drafted({ size: 10, price: 1000 }, nonce);
  const orders = mended(FAULTY, TERMS);
  const after = (bad: NewOrder): NewOrder[] => [{ ...good(1n), clientId: null }, bad];
  const unknown = { delegate: accountId(3), subaccount: subaccountId(999) };
  const lost = { ...orders[0]!, market: marketId(9) };
  const commands: PlaceOrders[] = [
    { ...group([]), ...unknown },
    { ...group(Array.from({ length: 101 }, () => lost)), ...unknown },
    { ...group([lost, lost]), ...unknown },
    { ...group(after(lost)), ...unknown },
    { ...group(after(orders[0]!)), ...unknown },
    ...orders.map((order, i) => ({
      ...group(after(order)),
      delegate: i < 2 ? accountId(3) : null,
    })),
  ];
  const codes = [
    'batch_empty',
    'batch_too_large',
    'batch_nonces_not_increasing',
    'market_not_found',
    'subaccount_not_found',
    ...TERMS.map(([code]) => code),
  ] as const;
  expect(codesOf(world, commands)).toEqual(codes);
  expectOrder(codes);
});

test.each<[string, Partial<NewOrder>, readonly Row<Partial<NewOrder>>[]]>([
  [
    'a TWAP slice',
    { orderType: 'twap', originator: TREASURY, trailingPpm: 0.5, triggerTicks: priceTicks(0) },
    [
      ['originator_not_allowed', {}],
      ['period_not_allowed', { originator: null }],
      ['period_not_positive', { periodMs: 0n }],
      ['trailing_percent_not_allowed', { periodMs: 1n }],
      ['trigger_price_not_allowed', { trailingPpm: null }],
    ],
  ],
  [
    'a trailing stop',
    { orderType: 'trailingStop', triggerTicks: priceTicks(0), parent: orderId(999) },
    [
      ['trailing_percent_not_allowed', {}],
      ['trailing_percent_off_step', { trailingPpm: 0.5 }],
      ['trailing_percent_out_of_range', { trailingPpm: 1_000_000 }],
      ['trigger_price_not_positive', { trailingPpm: 1 }],
      ['parent_not_allowed', { triggerTicks: priceTicks(1) }],
    ],
  ],
  [
    'a leg',
    { orderType: 'stopLoss', parent: orderId(999) },
    [
      ['trigger_price_not_allowed', {}],
      ['trigger_price_not_positive', { triggerTicks: priceTicks(0) }],
      ['leg_not_reduce_only', { triggerTicks: priceTicks(2 ** 31) }],
    ],
  ],
  [
    'an iceberg slice',
    { orderType: 'iceberg', ioc: true, parent: orderId(999) },
    [
      ['parent_not_allowed', {}],
      ['iceberg_ioc', { parent: null }],
    ],
  ],
])('%s', (_name, start, rows) => {
  const codes = rows.map(([code]) => code);
  expect(
    codesOf(
      opened(),
      mended(start, rows).map((order) => group([order])),
    ),
  ).toEqual(codes);
  expectOrder(codes);
});
