/** Orders and cancels: the fields of each command, in their order as bytes (codec.ts). */
import {
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  subaccountId,
  timeUs,
  type AccountId,
  type Address,
  type MarketId,
  type OrderId,
  type PriceTicks,
} from '../../num/units.ts';
import { ORDER_TYPES } from '../../engine/book/order-table.ts';
import type {
  CancelAll,
  CancelOrder,
  NewOrder,
  PlaceOrder,
  PlaceOrders,
} from '../../engine/commands.ts';
import { BytesError } from './bytes.ts';
import type { CommandFields, FieldIo } from './field-io.ts';

const ANY_TIME = timeUs(0);

const EMPTY_ORDER: NewOrder = {
  market: marketId(0),
  orderType: 'limit',
  lots: lots(0),
  priceTicks: priceTicks(0),
  ioc: false,
  postOnly: false,
  reduceOnly: false,
  nonce: 0n,
  expiresAtMs: 0n,
  clientId: null,
  originator: null,
  originatorFeePpm: ppm(0),
  triggerTicks: null,
  trailingPpm: null,
  periodMs: null,
  parent: null,
  attached: false,
};

export const placeOrder: CommandFields<PlaceOrder> = {
  empty: {
    kind: 'placeOrder',
    timeUs: ANY_TIME,
    subaccount: subaccountId(0),
    market: marketId(0),
    orderType: 'limit',
    lots: lots(0),
    priceTicks: priceTicks(0),
    ioc: false,
    postOnly: false,
    reduceOnly: false,
    nonce: 0n,
    expiresAtMs: 0n,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'placeOrder',
      timeUs: atUs,
      subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
      market: marketId(io.uint('market', c.market)),
      orderType: onlyLimit(io.uint('orderType', ORDER_TYPES.indexOf(c.orderType))),
      lots: lots(io.int('lots', c.lots)),
      priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
      ioc: io.bool('ioc', c.ioc),
      postOnly: io.bool('postOnly', c.postOnly),
      reduceOnly: io.bool('reduceOnly', c.reduceOnly),
      nonce: io.i64('nonce', c.nonce),
      expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
      delegate: io.optionalUint('delegate', c.delegate) as AccountId | null,
      clientId: io.optionalText('clientId', c.clientId),
      originator: io.optionalText('originator', c.originator) as Address | null,
      originatorFeePpm: ppm(io.uint('originatorFeePpm', c.originatorFeePpm)),
    };
  },
};

export const placeOrders: CommandFields<PlaceOrders> = {
  empty: {
    kind: 'placeOrders',
    timeUs: ANY_TIME,
    subaccount: subaccountId(0),
    delegate: null,
    orders: [],
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'placeOrders',
      timeUs: atUs,
      subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
      delegate: io.optionalUint('delegate', c.delegate) as AccountId | null,
      orders: io.list('orders', c.orders, EMPTY_ORDER, newOrder),
    };
  },
};

export const cancelOrder: CommandFields<CancelOrder> = {
  empty: {
    kind: 'cancelOrder',
    timeUs: ANY_TIME,
    orderId: orderId(0),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'cancelOrder',
      timeUs: atUs,
      orderId: orderId(io.uint('orderId', c.orderId)),
    };
  },
};

export const cancelAll: CommandFields<CancelAll> = {
  empty: {
    kind: 'cancelAll',
    timeUs: ANY_TIME,
    subaccount: subaccountId(0),
    market: null,
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'cancelAll',
      timeUs: atUs,
      subaccount: subaccountId(io.uint('subaccount', c.subaccount)),
      market: io.optionalUint('market', c.market) as MarketId | null,
    };
  },
};

function newOrder(io: FieldIo, c: NewOrder): NewOrder {
  return {
    market: marketId(io.uint('market', c.market)),
    orderType: orderTypeAt(io.uint('orderType', ORDER_TYPES.indexOf(c.orderType))),
    lots: lots(io.int('lots', c.lots)),
    priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
    ioc: io.bool('ioc', c.ioc),
    postOnly: io.bool('postOnly', c.postOnly),
    reduceOnly: io.bool('reduceOnly', c.reduceOnly),
    nonce: io.i64('nonce', c.nonce),
    expiresAtMs: io.i64('expiresAtMs', c.expiresAtMs),
    clientId: io.optionalText('clientId', c.clientId),
    originator: io.optionalText('originator', c.originator) as Address | null,
    originatorFeePpm: ppm(io.uint('originatorFeePpm', c.originatorFeePpm)),
    triggerTicks: io.optionalUint('triggerTicks', c.triggerTicks) as PriceTicks | null,
    trailingPpm: io.optionalUint('trailingPpm', c.trailingPpm),
    periodMs: io.bool('timed', c.periodMs !== null) ? io.i64('periodMs', c.periodMs ?? 0n) : null,
    parent: io.optionalUint('parent', c.parent) as OrderId | null,
    attached: io.bool('attached', c.attached),
  };
}

function onlyLimit(index: number): 'limit' {
  const type = orderTypeAt(index);
  if (type !== 'limit') throw new BytesError(0, `a ${type} order comes in a group`);
  return type;
}

function orderTypeAt(index: number): NewOrder['orderType'] {
  const type = ORDER_TYPES[index];
  if (type === undefined) throw new BytesError(0, `order type ${String(index)} is not known`);
  return type;
}
