/**
 * POST /account/order and /account/orders (§2–§4): decode, authorise, then the engine. Refusals
 * follow the order of. Faults that only the gateway can see (off-tick text) come after the
 * nonce and the clientId, which it checks first through the engine.
 */
import { ORDER_TYPE_WORDS } from '../contract/words.ts';
import { invalidField, MESSAGES } from '../contract/messages.ts';
import type { NewOrder, PlaceOrder, PlaceOrders } from '../engine/commands.ts';
import { BATCH_TOO_LARGE, MAX_BATCH_ORDERS } from '../engine/orders/group-rules.ts';
import type { MarketView } from '../engine/read/views.ts';
import { stepsCeil, stepsExact, stepsFloor, type Decimal } from '../num/decimal.ts';
import {
  lots,
  orderId,
  ppm,
  priceTicks,
  type AccountId,
  type Address,
  type OrderId,
  type PriceTicks,
} from '../num/units.ts';
import { mustAct, mustBeInTime, mustBeSigned, mustSubaccount, type Rights } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { encodeOrder, stepOf, ZERO_ADDRESS } from './encode.ts';
import { Fields } from './fields.ts';
import type { PlacedDigest } from './order-ids.ts';
import { mustSucceed } from './refusal-reply.ts';
import type { Keccak } from './ports.ts';
import { RequestError } from './request-error.ts';
import { MAX_SIGNATURES } from './signed-requests.ts';
import { must } from '../base/assert.ts';

const ORDER_FIELDS = [
  'account',
  'subaccountIndex',
  'symbol',
  'orderType',
  'price',
  'quantity',
  'nonce',
  'expiresAt',
  'originator',
  'originatorFee',
  'flags',
  'signatures',
  'clientId',
  'triggerPrice',
  'parentOrderId',
  'period',
  'trailingPercent',
  'takeProfit',
  'stopLoss',
];
const FLAG_FIELDS = ['ioc', 'postOnly', 'reduceOnly'];
const ATTACHED_FIELDS = ['triggerPrice', 'price', 'clientId'];
/** Trailing distances have at most 4 decimals of a percent: 1e-6 of the price. */
const PERCENT_STEP: Decimal = { digits: 1n, scale: 4 };
/** No order has this id: a parent that is not known. */
const NO_ORDER = orderId(0);

/** An attached protective order: trigger price, limit price and client id. */
interface AttachedLeg {
  readonly triggerPrice: Decimal;
  readonly price: Decimal | null;
  readonly clientId: string | null;
}

/** Fields of one order request, decoded but not yet validated against a market. */
interface DecodedOrder {
  readonly account: Address;
  readonly subaccountIndex: number;
  readonly symbol: string;
  readonly orderType: (typeof ORDER_TYPE_WORDS)[number];
  readonly price: Decimal;
  readonly quantity: Decimal;
  readonly nonce: bigint;
  readonly expiresAt: bigint;
  readonly originator: Address;
  readonly originatorFee: bigint;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly signatures: readonly string[];
  readonly clientId: string | null;
  readonly triggerPrice: Decimal | null;
  readonly trailingPercent: Decimal | null;
  /** 64 hex digits, or null. */
  readonly parentOrderId: string | null;
  readonly period: bigint | null;
  readonly takeProfit: AttachedLeg | null;
  readonly stopLoss: AttachedLeg | null;
  /** As it was sent: what its signatures are over. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Throws `RequestError` with field and limit. Verifies address checksums if `keccak` is set. */
export function decodeOrder(input: unknown, prefix = '', keccak?: Keccak): DecodedOrder {
  const fields = new Fields(input, ORDER_FIELDS, false, prefix);
  const account = fields.address('account', keccak);
  const subaccountIndex = fields.subaccountIndex('subaccountIndex');
  const symbol = fields.symbol('symbol');
  const orderType = decodeOrderType(fields);
  const price = fields.decimal('price');
  const quantity = fields.decimal('quantity');
  const nonce = fields.int64('nonce');
  const expiresAt = fields.int64('expiresAt');
  const originator = fields.address('originator', keccak);
  const originatorFee = fields.int64('originatorFee');
  const flags = fields.object('flags', FLAG_FIELDS);
  return {
    account,
    subaccountIndex,
    symbol,
    orderType,
    price,
    quantity,
    nonce,
    expiresAt,
    originator,
    originatorFee,
    ioc: flags.boolean('ioc'),
    postOnly: flags.boolean('postOnly'),
    reduceOnly: flags.boolean('reduceOnly'),
    signatures: fields.texts('signatures', MAX_SIGNATURES),
    clientId: fields.has('clientId') ? fields.clientId('clientId') : null,
    triggerPrice: fields.has('triggerPrice') ? fields.decimal('triggerPrice') : null,
    trailingPercent: fields.has('trailingPercent') ? fields.decimal('trailingPercent') : null,
    parentOrderId: decodeParent(fields),
    period: fields.has('period') ? fields.int64('period') : null,
    takeProfit: decodeLeg(fields, 'takeProfit'),
    stopLoss: decodeLeg(fields, 'stopLoss'),
    body: fields.body,
  };
}

function decodeParent(fields: Fields): string | null {
  if (!fields.has('parentOrderId') || fields.text('parentOrderId') === '') return null;
  return fields.orderId('parentOrderId');
}

function decodeLeg(fields: Fields, name: string): AttachedLeg | null {
  if (!fields.has(name)) return null;
  const leg = fields.object(name, ATTACHED_FIELDS);
  return {
    triggerPrice: leg.decimal('triggerPrice'),
    price: leg.has('price') ? leg.decimal('price') : null,
    clientId: leg.has('clientId') ? leg.clientId('clientId') : null,
  };
}

function decodeOrderType(fields: Fields): DecodedOrder['orderType'] {
  const text = fields.text('orderType');
  const found = ORDER_TYPE_WORDS.find((word) => word.toLowerCase() === text.toLowerCase());
  if (found === undefined) {
    fields.fail('orderType', `must be one of ${ORDER_TYPE_WORDS.join(', ')}`);
  }
  return found;
}

/** POST /account/order: returns the order, then its attached orders. */
export function submitOrder(context: Context, input: unknown, caller: Caller): unknown {
  return place(context, 'submitOrder', [decodeOrder(input, '', context.keccak)], caller);
}

/** POST /account/orders (§3): places all orders or none. */
export function submitOrders(context: Context, input: unknown, caller: Caller): unknown {
  const fields: Fields = new Fields(input, ['orders'], false);
  const list = fields.list('orders');
  if (list.length === 0) mustSucceed({ code: 'batch_empty' });
  if (list.length > MAX_BATCH_ORDERS) mustSucceed(BATCH_TOO_LARGE);
  const orders = list.map((order, i) => decodeOrder(order, `orders[${String(i)}]`, context.keccak));
  const [first] = orders;
  for (const [i, order] of orders.entries()) {
    const at = `orders[${String(i)}]`;
    if (order.account !== first?.account) {
      fields.fail(`${at}.account`, 'must be the same for all orders');
    }
    if (order.subaccountIndex !== first.subaccountIndex) {
      fields.fail(`${at}.subaccountIndex`, 'must be the same for all orders');
    }
    if (order.takeProfit !== null || order.stopLoss !== null) {
      const name = order.takeProfit !== null ? 'takeProfit' : 'stopLoss';
      fields.fail(`${at}.${name}`, 'in a batch it is an order of its own');
    }
  }
  return { orders: place(context, 'submitOrders', orders, caller) };
}

/**
 * Checks all orders in the order of, then submits to the engine. Returns the order records.
 */
function place(
  context: Context,
  endpoint: 'submitOrder' | 'submitOrders',
  requests: readonly DecodedOrder[],
  caller: Caller,
): unknown[] {
  const { engine } = context;
  const markets = requests.map(({ symbol }) => {
    const id = engine.marketIdOf(symbol);
    if (id === undefined) throw new RequestError(MESSAGES.symbolNotFound);
    return engine.market(id);
  });
  const timeUs = mustBeInTime(context, ...requests.map(({ expiresAt }) => expiresAt));
  const first = must(requests[0], 'there is an order');
  const rights = mustAct(context, endpoint, caller, first.account, first.subaccountIndex);
  const delegate = signerOf(context, endpoint, rights, requests);
  const subaccount = mustSubaccount(context, first.account, first.subaccountIndex);
  const orders = requests.flatMap((request, i) =>
    newOrders(context, request, must(markets[i], 'each order has its market')),
  );
  const group = { kind: 'placeOrders', timeUs, subaccount, delegate, orders } as const;
  mustSucceed(engine.requestRefusal(group));
  if (orders.some(({ parent }) => parent === NO_ORDER)) mustSucceed({ code: 'order_not_found' });
  mustSucceed(context.submit(commandOf(group)));
  const firstId = engine.lastOrderId - orders.length + 1;
  noteIds(context, orderId(firstId), requests);
  return orders.map((_, i) => {
    const order = must(engine.order(orderId(firstId + i)), 'an order just placed is known');
    return encodeOrder(engine, context.ids, order);
  });
}

/** Registers the digests of signed orders: those of each request and of its attached orders. */
function noteIds(context: Context, first: OrderId, orders: readonly DecodedOrder[]): void {
  const { signatures, ids } = context;
  if (signatures === 'trust') return;
  const placed = orders.flatMap(({ body, takeProfit, stopLoss }): PlacedDigest[] => {
    const digest = signatures.digestOf({ kind: 'Order', body });
    return [
      { digest, attached: 'no' },
      ...(takeProfit === null ? [] : [{ digest, attached: 'takeProfit' as const }]),
      ...(stopLoss === null ? [] : [{ digest, attached: 'stopLoss' as const }]),
    ];
  });
  ids.placed(first, placed);
}

/** Common signer of all orders; consumes its nonces. */
function signerOf(
  context: Context,
  endpoint: 'submitOrder' | 'submitOrders',
  rights: Rights,
  orders: readonly DecodedOrder[],
): AccountId | null {
  let signer: AccountId | null = null;
  for (const [i, { account, subaccountIndex, body, signatures }] of orders.entries()) {
    const request = { kind: 'Order', body, signatures } as const;
    const of = { account, index: subaccountIndex };
    const by = mustBeSigned(context, endpoint, rights, of, request);
    if (i > 0 && by !== signer) throw new RequestError(MESSAGES.mixedSignatures);
    signer = by;
  }
  return signer;
}

/** One plain limit order is a command of its own; everything else is a group. */
function commandOf(group: PlaceOrders): PlaceOrder | PlaceOrders {
  const { timeUs, subaccount, delegate, orders } = group;
  const [only] = orders;
  if (orders.length > 1 || only?.orderType !== 'limit') return group;
  return {
    kind: 'placeOrder',
    timeUs,
    subaccount,
    market: only.market,
    orderType: 'limit',
    lots: only.lots,
    priceTicks: only.priceTicks,
    ioc: only.ioc,
    postOnly: only.postOnly,
    reduceOnly: only.reduceOnly,
    nonce: only.nonce,
    expiresAtMs: only.expiresAtMs,
    delegate,
    clientId: only.clientId,
    originator: only.originator,
    originatorFeePpm: only.originatorFeePpm,
  };
}

/** The order in engine units, followed by its attached protective orders. */
function newOrders(context: Context, order: DecodedOrder, market: MarketView): NewOrder[] {
  if (order.orderType === 'unsupported') {
    const problem = "'unsupported' is not an order type that can be submitted";
    throw new RequestError(invalidField('orderType', problem));
  }
  const { spec } = market;
  const ticks = (price: Decimal): PriceTicks => priceTicks(stepsOf(price, stepOf(spec.tickSize)));
  const size = lots(stepsOf(order.quantity, stepOf(spec.lotSize)));
  const own: NewOrder = {
    market: market.id,
    orderType: order.orderType,
    lots: size,
    priceTicks: order.ioc ? boundOf(order, spec.tickSize) : ticks(order.price),
    ioc: order.ioc,
    postOnly: order.postOnly,
    reduceOnly: order.reduceOnly,
    nonce: order.nonce,
    expiresAtMs: order.expiresAt,
    clientId: order.clientId,
    originator: order.originator === ZERO_ADDRESS ? null : order.originator,
    originatorFeePpm: ppm(Number(order.originatorFee)),
    triggerTicks: order.triggerPrice === null ? null : ticks(order.triggerPrice),
    trailingPpm:
      order.trailingPercent === null ? null : stepsOf(order.trailingPercent, PERCENT_STEP),
    periodMs: order.period,
    parent:
      order.parentOrderId === null
        ? null
        : (context.ids.find(order.parentOrderId)?.orderId ?? NO_ORDER),
    attached: false,
  };
  const legs = (['takeProfit', 'stopLoss'] as const).flatMap((orderType): NewOrder[] => {
    const leg = order[orderType];
    if (leg === null) return [];
    // Without a price a protective order takes any book price within the band.
    const anyPrice = priceTicks(size > 0 ? 1 : spec.maxPriceTicks);
    return [
      {
        ...own,
        orderType,
        lots: lots(-size),
        priceTicks: leg.price === null ? anyPrice : ticks(leg.price),
        ioc: leg.price === null,
        postOnly: false,
        reduceOnly: true,
        clientId: leg.clientId,
        triggerTicks: ticks(leg.triggerPrice),
        trailingPpm: null,
        periodMs: null,
        parent: null,
        attached: true,
      },
    ];
  });
  return [own, ...legs];
}

/** The value in whole steps; half a step, which no market admits, if it is not a multiple. */
function stepsOf(value: Decimal, step: Decimal): number {
  return Number(stepsExact(value, step) ?? (value.digits < 0n ? -0.5 : 0.5));
}

/** Bound of an `ioc` order: a buy rounds down, a sell up; 0.5 for a buy below one tick. */
function boundOf({ price, quantity }: DecodedOrder, tickSize: string): PriceTicks {
  const tick = stepOf(tickSize);
  const bound = quantity.digits > 0n ? stepsFloor(price, tick) : stepsCeil(price, tick);
  return priceTicks(bound === 0n && price.digits > 0n ? 0.5 : Number(bound));
}
