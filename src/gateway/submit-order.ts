/**
 * POST /account/order (R-2.*): decode, authorise, then the engine. Refusals come in the order of: what only the
 * gateway can see (off-tick text) is reported after the nonce and the clientId, which it asks the engine about first.
 */
import { ORDER_TYPE_WORDS } from '../contract/schemas.ts';
import { invalidField, MESSAGES, notOffered, type ErrorReply } from '../contract/messages.ts';
import type { PlaceOrder } from '../engine/commands.ts';
import type { MarketView } from '../engine/views.ts';
import { stepsCeil, stepsExact, stepsFloor, type Decimal } from '../num/decimal.ts';
import { lots, ppm, priceTicks, type Address, type MarketId } from '../num/units.ts';
import { mustBeSigned, mustOwn, mustSubaccount } from './authorise.ts';
import type { Caller, Context } from './context.ts';
import { encodeOrder, priceText, sizeText, stepOf, ZERO_ADDRESS } from './encode.ts';
import { Fields } from './fields.ts';
import { REFUSAL_REPLIES } from './refusal-reply.ts';
import { RequestError } from './request-error.ts';
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

/** The fields of one order request, each in its own unit but none yet held against a market. */
export interface DecodedOrder {
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
  /** Names of given fields that only other order types know. */
  readonly beyondLimit: readonly string[];
  readonly hasPeriod: boolean;
}

/** Throws `RequestError` naming the field and the limit. */
export function decodeOrder(input: unknown): DecodedOrder {
  const fields = new Fields(input, ORDER_FIELDS, false);
  const account = fields.address('account');
  const subaccountIndex = fields.subaccountIndex('subaccountIndex');
  const symbol = fields.symbol('symbol');
  const orderType = decodeOrderType(fields);
  const price = fields.decimal('price');
  const quantity = fields.decimal('quantity');
  const nonce = fields.int64('nonce');
  const expiresAt = fields.int64('expiresAt');
  const originator = fields.address('originator');
  const originatorFee = fields.int64('originatorFee');
  const flags = fields.object('flags', FLAG_FIELDS);
  const ioc = flags.boolean('ioc');
  const postOnly = flags.boolean('postOnly');
  const reduceOnly = flags.boolean('reduceOnly');
  const signatures = fields.texts('signatures', 16);
  const clientId = fields.has('clientId') ? fields.clientId('clientId') : null;
  const beyondLimit: string[] = [];
  for (const name of ['triggerPrice', 'trailingPercent']) {
    if (!fields.has(name)) continue;
    fields.decimal(name);
    beyondLimit.push(name);
  }
  if (fields.has('parentOrderId') && fields.text('parentOrderId') !== '') {
    beyondLimit.push('parentOrderId');
  }
  const hasPeriod = fields.has('period');
  if (hasPeriod) fields.int64('period');
  for (const name of ['takeProfit', 'stopLoss']) {
    if (!fields.has(name)) continue;
    const attached = fields.object(name, ATTACHED_FIELDS);
    attached.decimal('triggerPrice');
    if (attached.has('price')) attached.decimal('price');
    if (attached.has('clientId')) attached.clientId('clientId');
    beyondLimit.push(name);
  }
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
    ioc,
    postOnly,
    reduceOnly,
    signatures,
    clientId,
    beyondLimit,
    hasPeriod,
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

export function submitOrder(context: Context, input: unknown, caller: Caller | null): unknown {
  const order = decodeOrder(input);
  const { engine } = context;
  const marketId = engine.marketIdOf(order.symbol);
  if (marketId === undefined) throw new RequestError(MESSAGES.symbolNotFound);
  const nowUs = context.nowUs();
  if (order.expiresAt * 1000n < BigInt(nowUs)) throw new RequestError(MESSAGES.requestExpired);
  mustOwn(caller, order.account, MESSAGES.notDelegated);
  mustBeSigned(context, order.account, {
    kind: 'Order',
    body: input as Record<string, unknown>,
    signatures: order.signatures,
  });
  const subaccount = mustSubaccount(context, order.account, order.subaccountIndex);

  const nonce = engine.checkOrderNonce(subaccount, null, order.nonce);
  if (nonce !== null && nonce !== 'ok') throw new RequestError(REFUSAL_REPLIES[nonce]);
  const account = engine.subaccount(subaccount).account;
  if (order.clientId !== null && engine.clientIdInUse(account, order.clientId)) {
    throw new RequestError(MESSAGES.clientIdInUse);
  }
  const market = engine.market(marketId);
  const fault = specFault(order, market, engine.config.maxOriginatorFeePpm);
  if (fault !== null) throw new RequestError(fault);

  const command: PlaceOrder = {
    kind: 'placeOrder',
    timeUs: nowUs,
    subaccount,
    market: marketId satisfies MarketId,
    orderType: 'limit',
    lots: lots(Number(stepsFloor(order.quantity, stepOf(market.spec.lotSize)))),
    priceTicks: priceTicks(ticksOf(order, market)),
    ioc: order.ioc,
    postOnly: order.postOnly,
    reduceOnly: order.reduceOnly,
    nonce: order.nonce,
    expiresAtMs: order.expiresAt,
    delegate: null,
    clientId: order.clientId,
    originator: order.originator === ZERO_ADDRESS ? null : order.originator,
    originatorFeePpm: ppm(Number(order.originatorFee)),
  };
  const outcome = context.submit(command);
  if (outcome !== 'ok') throw new RequestError(REFUSAL_REPLIES[outcome]);
  const placed = must(engine.order(engine.lastOrderId), 'an order just placed is known');
  return [encodeOrder(engine, context.ids, placed)];
}

/** Faults against the market's spec that decimal text can have, in the order in which they are checked. */
function specFault(
  order: DecodedOrder,
  market: MarketView,
  maxOriginatorFeePpm: number,
): ErrorReply | null {
  if (order.orderType === 'unsupported') {
    return invalidField('orderType', "'unsupported' is not an order type that can be submitted");
  }
  if (order.orderType === 'limit' && order.hasPeriod) return MESSAGES.periodOnLimit;
  if (order.orderType !== 'limit') return notOffered(`orderType ${order.orderType}`);
  const [extra] = order.beyondLimit;
  if (extra !== undefined) return notOffered(`${extra} on a limit order`);

  const { spec } = market;
  if (order.price.digits <= 0n) return MESSAGES.priceNotPositive;
  const tick = stepOf(spec.tickSize);
  if (!order.ioc && stepsExact(order.price, tick) === null) {
    return invalidField('price', `must be a multiple of the tick size ${spec.tickSize}`);
  }
  if (order.price.digits > 0n && stepsFloor(order.price, tick) > BigInt(spec.maxPriceTicks)) {
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
  return null;
}

/** The limit in ticks; an `ioc` price is only a bound and goes to the safer tick: buy down, sell up. */
function ticksOf(order: DecodedOrder, market: MarketView): number {
  const tick = stepOf(market.spec.tickSize);
  const buys = order.quantity.digits > 0n;
  return Number(buys ? stepsFloor(order.price, tick) : stepsCeil(order.price, tick));
}
