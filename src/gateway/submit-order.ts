/**
 * POST /account/order and /account/orders (§2–§4): decode, authorise, then the engine. Refusals
 * follow the order of. Faults that only the gateway can see (off-tick text) come after the
 * nonce and the clientId, which it checks first through the engine.
 */
import { ORDER_TYPE_WORDS } from '../contract/schemas.ts';
import { invalidField, MESSAGES, type ErrorReply } from '../contract/messages.ts';
import type { NewOrder, PlaceOrder, PlaceOrders } from '../engine/commands.ts';
import { MAX_BATCH_ORDERS } from '../engine/orders/group-rules.ts';
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
  type SubaccountId,
  type TimeUs,
} from '../num/units.ts';
import { mustAct, mustBeSigned, mustSubaccount, type Rights } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { encodeOrder, priceText, sizeText, stepOf, ZERO_ADDRESS } from './encode.ts';
import { Fields } from './fields.ts';
import type { PlacedDigest } from './order-ids.ts';
import { REFUSAL_REPLIES } from './refusal-reply.ts';
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
  /** The body as sent, which the signatures cover. */
  readonly body: Record<string, unknown>;
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
    body: input as Record<string, unknown>,
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
  const fields = new Fields(input, ['orders'], false);
  const list = fields.list('orders');
  if (list.length === 0) throw new RequestError(REFUSAL_REPLIES.batch_empty);
  if (list.length > MAX_BATCH_ORDERS) throw new RequestError(REFUSAL_REPLIES.batch_too_large);
  const orders = list.map((order, i) => decodeOrder(order, `orders[${String(i)}]`, context.keccak));
  const [first] = orders;
  for (const [i, order] of orders.entries()) {
    const at = `orders[${String(i)}]`;
    if (order.account !== first?.account) {
      throw new RequestError(invalidField(`${at}.account`, 'must be the same for all orders'));
    }
    if (order.subaccountIndex !== first.subaccountIndex) {
      const problem = 'must be the same for all orders';
      throw new RequestError(invalidField(`${at}.subaccountIndex`, problem));
    }
    if (order.takeProfit !== null || order.stopLoss !== null) {
      const name = order.takeProfit !== null ? 'takeProfit' : 'stopLoss';
      const problem = 'in a batch it is an order of its own';
      throw new RequestError(invalidField(`${at}.${name}`, problem));
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
  orders: readonly DecodedOrder[],
  caller: Caller,
): unknown[] {
  const { engine } = context;
  const markets = orders.map(({ symbol }) => {
    const id = engine.marketIdOf(symbol);
    if (id === undefined) throw new RequestError(MESSAGES.symbolNotFound);
    return id;
  });
  const nowUs = context.nowUs();
  if (orders.some(({ expiresAt }) => expiresAt * 1000n < BigInt(nowUs))) {
    throw new RequestError(MESSAGES.requestExpired);
  }
  const first = must(orders[0], 'there is an order');
  const rights = mustAct(context, endpoint, caller, first.account, first.subaccountIndex);
  const delegate = signerOf(context, endpoint, rights, orders);
  const subaccount = mustSubaccount(context, first.account, first.subaccountIndex);
  const account = engine.subaccount(subaccount).account;
  let lastNonce = -1n;
  for (const { nonce } of orders) {
    if (nonce <= lastNonce) throw new RequestError(REFUSAL_REPLIES.batch_nonces_not_increasing);
    lastNonce = nonce;
    const refusal = engine.checkOrderNonce(subaccount, delegate, nonce);
    if (refusal !== null && refusal !== 'ok') throw new RequestError(REFUSAL_REPLIES[refusal]);
  }
  const names = new Set<string>();
  for (const order of orders) {
    for (const name of [order.clientId, order.takeProfit?.clientId, order.stopLoss?.clientId]) {
      if (typeof name !== 'string') continue;
      if (names.has(name) || engine.clientIdInUse(account, name)) {
        throw new RequestError(MESSAGES.clientIdInUse);
      }
      names.add(name);
    }
  }
  const placed = orders.flatMap((order, i) => {
    const market = engine.market(must(markets[i], 'each order has its market'));
    const { maxOriginatorFeePpm, maxDelegateOriginatorFeePpm } = engine.config;
    const maxFee = delegate === null ? maxOriginatorFeePpm : maxDelegateOriginatorFeePpm;
    const fault = specFault(order, market, maxFee);
    if (fault !== null) throw new RequestError(fault);
    return newOrders(context, order, market);
  });
  const outcome = context.submit(commandOf(nowUs, subaccount, delegate, placed));
  if (outcome !== 'ok') throw new RequestError(REFUSAL_REPLIES[outcome]);
  const firstId = engine.lastOrderId - placed.length + 1;
  noteIds(context, orderId(firstId), orders);
  return placed.map((_, i) => {
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
    const by = mustBeSigned(context, endpoint, rights, account, subaccountIndex, request);
    if (i > 0 && by !== signer) throw new RequestError(MESSAGES.mixedSignatures);
    signer = by;
  }
  return signer;
}

/** A single plain limit order is its own command; anything else is a group. */
function commandOf(
  nowUs: TimeUs,
  subaccount: SubaccountId,
  delegate: AccountId | null,
  orders: readonly NewOrder[],
): PlaceOrder | PlaceOrders {
  const [only] = orders;
  if (orders.length > 1 || only?.orderType !== 'limit') {
    return { kind: 'placeOrders', timeUs: nowUs, subaccount, delegate, orders };
  }
  return {
    kind: 'placeOrder',
    timeUs: nowUs,
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
  const { spec } = market;
  const tick = stepOf(spec.tickSize);
  const ticks = (price: Decimal): PriceTicks => priceTicks(Number(stepsFloor(price, tick)));
  const size = lots(Number(stepsFloor(order.quantity, stepOf(spec.lotSize))));
  const parent = order.parentOrderId === null ? null : context.ids.find(order.parentOrderId);
  if (parent === undefined) throw new RequestError(MESSAGES.orderNotFound);
  const own: NewOrder = {
    market: market.id,
    orderType: order.orderType === 'unsupported' ? 'limit' : order.orderType,
    lots: size,
    priceTicks: priceTicks(ticksOf(order, market)),
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
      order.trailingPercent === null
        ? null
        : Number(stepsFloor(order.trailingPercent, PERCENT_STEP)),
    periodMs: order.period,
    parent: parent?.orderId ?? null,
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

/** Faults of decimal text against the market's spec, in check order. */
function specFault(
  order: DecodedOrder,
  market: MarketView,
  maxOriginatorFeePpm: number,
): ErrorReply | null {
  if (order.orderType === 'unsupported') {
    return invalidField('orderType', "'unsupported' is not an order type that can be submitted");
  }
  if (order.orderType === 'limit' && order.period !== null) return MESSAGES.periodOnLimit;

  const { spec } = market;
  if (order.price.digits <= 0n) return MESSAGES.priceNotPositive;
  const tick = stepOf(spec.tickSize);
  if (!order.ioc) {
    const fault = tickFault('price', order.price, market);
    if (fault !== null) return fault;
  }
  if (stepsFloor(order.price, tick) > BigInt(spec.maxPriceTicks)) {
    return invalidField('price', `must be at most ${priceText(market, spec.maxPriceTicks)}`);
  }
  if (ticksOf(order, market) < 1) {
    return invalidField('price', `a buy needs at least one tick, ${spec.tickSize}`);
  }
  const size = stepsExact(order.quantity, stepOf(spec.lotSize));
  if (order.quantity.digits === 0n) return MESSAGES.quantityZero;
  if (size === null) {
    return invalidField('quantity', `must be a multiple of the lot size ${spec.lotSize}`);
  }
  const magnitude = size < 0n ? -size : size;
  if (magnitude < BigInt(spec.minLots)) {
    return invalidField('quantity', `must be at least ${sizeText(market, spec.minLots)}`);
  }
  if (magnitude > BigInt(spec.maxLots)) {
    return invalidField('quantity', `must be at most ${sizeText(market, spec.maxLots)}`);
  }
  if (order.ioc && order.postOnly) return MESSAGES.flagsConflict;
  if (order.originatorFee > BigInt(maxOriginatorFeePpm)) {
    return invalidField('originatorFee', `must be at most ${String(maxOriginatorFeePpm)} ppm`);
  }
  if (order.originator === ZERO_ADDRESS && order.originatorFee !== 0n) {
    return MESSAGES.originatorMissing;
  }
  return conditionFault(order, market);
}

/** Fields required or not allowed by the order type (§3, §4). */
function conditionFault(order: DecodedOrder, market: MarketView): ErrorReply | null {
  const type = order.orderType;
  const protective = type === 'takeProfit' || type === 'stopLoss';
  const trails = type === 'trailingStop';
  if ((order.period !== null) !== (type === 'twap')) return REFUSAL_REPLIES.period_not_allowed;
  if ((order.trailingPercent !== null) !== trails) {
    return REFUSAL_REPLIES.trailing_percent_not_allowed;
  }
  if (order.trailingPercent !== null) {
    const steps = stepsExact(order.trailingPercent, PERCENT_STEP);
    if (steps === null) return invalidField('trailingPercent', 'must have at most 4 decimals');
    if (steps <= 0n || steps >= 1_000_000n) return REFUSAL_REPLIES.trailing_percent_out_of_range;
  }
  if (protective ? order.triggerPrice === null : order.triggerPrice !== null && !trails) {
    return REFUSAL_REPLIES.trigger_price_not_allowed;
  }
  if (order.triggerPrice !== null) {
    const fault = tickFault('triggerPrice', order.triggerPrice, market);
    if (fault !== null) return fault;
  }
  if (order.parentOrderId !== null && !protective) return REFUSAL_REPLIES.parent_not_allowed;
  return attachedFault(order, market);
}

function attachedFault(order: DecodedOrder, market: MarketView): ErrorReply | null {
  for (const name of ['takeProfit', 'stopLoss'] as const) {
    const leg = order[name];
    if (leg === null) continue;
    if (order.orderType === 'twap' || order.orderType === 'iceberg') {
      return invalidField(name, `cannot be attached to a ${order.orderType} order`);
    }
    if (order.reduceOnly) return invalidField(name, 'cannot be attached to a reduceOnly order');
    const fault =
      tickFault(`${name}.triggerPrice`, leg.triggerPrice, market) ??
      (leg.price === null ? null : tickFault(`${name}.price`, leg.price, market));
    if (fault !== null) return fault;
  }
  return null;
}

/** Requires a positive price on a tick, at most the market's maximum. */
function tickFault(name: string, price: Decimal, market: MarketView): ErrorReply | null {
  const { spec } = market;
  const ticks = stepsExact(price, stepOf(spec.tickSize));
  if (price.digits <= 0n) return invalidField(name, 'must be positive');
  if (ticks === null)
    return invalidField(name, `must be a multiple of the tick size ${spec.tickSize}`);
  if (ticks > BigInt(spec.maxPriceTicks)) {
    return invalidField(name, `must be at most ${priceText(market, spec.maxPriceTicks)}`);
  }
  return null;
}

/** The limit in ticks. An `ioc` price is a bound: a buy rounds down, a sell up. */
function ticksOf(order: DecodedOrder, market: MarketView): number {
  const tick = stepOf(market.spec.tickSize);
  const buys = order.quantity.digits > 0n;
  return Number(buys ? stepsFloor(order.price, tick) : stepsCeil(order.price, tick));
}
