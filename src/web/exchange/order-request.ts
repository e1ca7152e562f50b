/**
 * The signed fields of an order, made from the text of the ticket. Amounts stay decimal text or
 * whole lots, so the exchange receives exactly what was typed; nothing is rounded or left out.
 */
import { decimalsOf } from './book-state.ts';

export const KINDS = [
  'limit',
  'market',
  'stopLoss',
  'takeProfit',
  'trailingStop',
  'twap',
  'iceberg',
] as const;
export type Kind = (typeof KINDS)[number];
export type Side = 'buy' | 'sell';

/** Whether fields of a kind are shown. */
export const hasTrigger = (kind: Kind): boolean =>
  kind === 'stopLoss' || kind === 'takeProfit' || kind === 'trailingStop';
export const isSliced = (kind: Kind): boolean => kind === 'twap' || kind === 'iceberg';
export const needsPrice = (kind: Kind): boolean => kind === 'limit' || isSliced(kind);

export const ZERO = `0x${'0'.repeat(40)}`;
/** Largest exact integer of JSON: no end. */
export const FAR_MS = Number.MAX_SAFE_INTEGER;
const SOON_MS = 30_000;
/** An exchange whose time is farther from this machine's has a virtual clock. */
const MAX_CLOCK_GAP_MS = 300_000;
const MAX_PARTS = 100;
const MAX_TEXT = 40;

/** Fields as they were typed. */
export interface Typed {
  readonly kind: Kind;
  readonly side: Side;
  readonly price: string;
  readonly size: string;
  readonly trigger: string;
  readonly trailing: string;
  readonly slices: string;
  readonly periodS: string;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly bracket: boolean;
  readonly takeProfit: string;
  readonly stopLoss: string;
}

/** Account and market of an order. */
export interface Place {
  readonly account: string;
  readonly subaccountIndex: number;
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  /** Best price of the other side, else the mark; null if neither is known. */
  readonly best: string | null;
}

export type Body = Readonly<Record<string, unknown>>;

export interface Made {
  readonly endpoint: 'submitOrder' | 'submitOrders';
  readonly body: Body;
}

export interface FieldProblem {
  readonly field: string;
  readonly text: string;
}

/** A field that cannot be read; caught by `orderRequest`. */
class Fault extends Error {
  readonly field: string;

  constructor(field: string, text: string) {
    super(text);
    this.field = field;
  }
}

/** Decimal text of a field; null if it is empty. Throws `Fault` if it is anything else. */
function read(field: string, typed: string): string | null {
  const text = typed.trim();
  if (text === '') return null;
  if (text.includes(',')) throw new Fault(field, 'A comma is ambiguous: use a point');
  if (!/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text)) throw new Fault(field, 'This is not a number');
  if (text.length > MAX_TEXT) throw new Fault(field, 'This number has too many digits');
  return text.startsWith('.') ? `0${text}` : text;
}

/** Units of 10^-decimals. The text is a decimal with at most so many decimals. */
function unitsOf(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Decimal text of a number of units. */
function textOf(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const text = decimals === 0 ? digits : `${digits.slice(0, cut)}.${digits.slice(cut)}`;
  return units < 0n ? `-${text}` : text;
}

const mostDecimals = (...texts: readonly string[]): number =>
  Math.max(...texts.map((text) => decimalsOf(text)));

/** The number of whole lots; null if the size is not a multiple of the lot. */
function lotsOf(size: string, lotSize: string): bigint | null {
  const decimals = mostDecimals(size, lotSize);
  const lot = unitsOf(lotSize, decimals);
  const units = unitsOf(size, decimals);
  return units % lot === 0n ? units / lot : null;
}

const sizeOf = (lots: bigint, lotSize: string): string => {
  const decimals = decimalsOf(lotSize);
  return textOf(lots * unitsOf(lotSize, decimals), decimals);
};

/** The limit on the tick that is at most 2 % beyond a price. */
export function boundOf(price: string, side: Side, tickSize: string): string {
  const decimals = mostDecimals(price, tickSize);
  const tick = unitsOf(tickSize, decimals) * 100n;
  const beyond = unitsOf(price, decimals) * (side === 'buy' ? 102n : 98n);
  const ticks = side === 'buy' ? beyond / tick : (beyond + tick - 1n) / tick;
  return sizeOf(ticks, tickSize);
}

/** Lots of each part. An iceberg's parts are equal and only its last may be smaller. */
function partsOf(lots: bigint, typed: string, kind: Kind): bigint[] {
  const text = typed.trim();
  if (!/^\d{1,9}$/.test(text)) throw new Fault('orders', 'This is not a whole number');
  const count = BigInt(text);
  if (count < 1n || count > BigInt(MAX_PARTS)) {
    throw new Fault('orders', `Parts must be from 1 to ${String(MAX_PARTS)}`);
  }
  if (count > lots) throw new Fault('orders', `The size has only ${String(lots)} lots`);
  const more = lots % count;
  const smaller = lots / count;
  if (kind === 'twap') {
    return Array.from({ length: Number(count) }, (_, i) =>
      BigInt(i) < more ? smaller + 1n : smaller,
    );
  }
  const each = more === 0n ? smaller : smaller + 1n;
  const last = lots - each * (count - 1n);
  if (last <= 0n) {
    const fits = (lots + each - 1n) / each;
    throw new Fault('orders', `Equal parts need another number, such as ${String(fits)}`);
  }
  return [...Array.from({ length: Number(count) - 1 }, () => each), last];
}

/** Milliseconds between slices. */
function periodOf(typed: string): number | null {
  const text = read('period', typed);
  if (text === null) return null;
  if (decimalsOf(text) > 3) throw new Fault('period', 'At most three decimals');
  const ms = unitsOf(text, 3);
  if (ms === 0n) throw new Fault('period', 'The time must be positive');
  if (ms > BigInt(Number.MAX_SAFE_INTEGER)) throw new Fault('period', 'The time is too long');
  return Number(ms);
}

/** The attached orders of a bracket; at least one. */
function legsOf(typed: Typed): Body {
  const takeProfit = read('takeProfit', typed.takeProfit);
  const stopLoss = read('stopLoss', typed.stopLoss);
  if (takeProfit === null && stopLoss === null) {
    throw new Fault('takeProfit', 'A bracket needs a take profit, a stop loss or both');
  }
  return {
    ...(takeProfit === null ? {} : { takeProfit: { triggerPrice: takeProfit } }),
    ...(stopLoss === null ? {} : { stopLoss: { triggerPrice: stopLoss } }),
  };
}

function requestOf(typed: Typed, place: Place): Made | null {
  const { kind, side } = typed;
  const size = read('quantity', typed.size);
  // Fields that are not shown have no faults.
  const typedPrice = kind === 'market' ? null : read('price', typed.price);
  const trigger = hasTrigger(kind) ? read('triggerPrice', typed.trigger) : null;
  const trailing = kind === 'trailingStop' ? read('trailingPercent', typed.trailing) : null;
  const period = kind === 'twap' ? periodOf(typed.periodS) : null;
  const legs = typed.bracket && (kind === 'limit' || kind === 'market') ? legsOf(typed) : {};
  if (size === null) return null;
  const lots = lotsOf(size, place.lotSize);
  if (lots === null) {
    throw new Fault('quantity', `The size must be a multiple of the lot size ${place.lotSize}`);
  }
  if (lots === 0n) throw new Fault('quantity', 'The size must be positive');
  const parts = isSliced(kind) ? partsOf(lots, typed.slices, kind) : [];
  if (needsPrice(kind) && typedPrice === null) return null;
  if ((kind === 'stopLoss' || kind === 'takeProfit') && trigger === null) return null;
  if (kind === 'trailingStop' && trailing === null) return null;
  if (kind === 'twap' && period === null) return null;
  // Its limit is made from it, and would be the field at fault.
  if (trigger !== null && !/[1-9]/.test(trigger)) {
    throw new Fault('triggerPrice', 'The trigger must be positive');
  }
  // Without a limit, a triggered order takes prices near its trigger.
  const near = trigger ?? place.best;
  const price = typedPrice ?? (near === null ? null : boundOf(near, side, place.tickSize));
  if (price === null) return null;
  const sign = side === 'sell' ? '-' : '';
  const order: Body = {
    account: place.account,
    subaccountIndex: place.subaccountIndex,
    symbol: place.symbol,
    orderType: kind === 'market' ? 'limit' : kind,
    price,
    quantity: `${sign}${size}`,
    originator: ZERO,
    originatorFee: 0,
    flags: {
      ioc: typedPrice === null,
      postOnly: typed.postOnly && (kind === 'limit' || kind === 'iceberg'),
      reduceOnly: typed.reduceOnly,
    },
    ...(trigger === null ? {} : { triggerPrice: trigger }),
    ...(trailing === null ? {} : { trailingPercent: trailing }),
    ...(period === null ? {} : { period }),
    ...legs,
  };
  if (!isSliced(kind)) return { endpoint: 'submitOrder', body: order };
  const orders = parts.map((part) => ({
    ...order,
    quantity: `${sign}${sizeOf(part, place.lotSize)}`,
  }));
  return { endpoint: 'submitOrders', body: { orders } };
}

export interface Result {
  /** Null while a field is missing or at fault. */
  readonly made: Made | null;
  readonly fault: FieldProblem | null;
}

/** The request of the ticket. Only an empty optional field is absent from it. */
export function orderRequest(typed: Typed, place: Place): Result {
  try {
    return { made: requestOf(typed, place), fault: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { made: null, fault: { field: error.field, text: error.message } };
  }
}

/** Effect of a request, such as `Buy 0.500 at 61284.5`; its figures are those that are sent. */
export function effectOf({ body }: Made, typed: Typed, lotSize: string): string {
  const list = (body['orders'] as readonly Body[] | undefined) ?? [body];
  const texts = list.map((order) => String(order['quantity']).replace('-', ''));
  const decimals = mostDecimals(lotSize, ...texts);
  const total = texts.reduce((sum, text) => sum + unitsOf(text, decimals), 0n);
  const what = `${typed.side === 'buy' ? 'Buy' : 'Sell'} ${textOf(total, decimals)}`;
  const first = list[0] ?? {};
  const parts = String(list.length);
  switch (typed.kind) {
    case 'market':
      return `${what} at market`;
    case 'twap':
      return `${what} in ${parts} parts`;
    case 'iceberg':
      return `${what} at ${String(first['price'])}, ${parts} parts`;
    case 'trailingStop':
      return `${what}, trailing ${String(first['trailingPercent'])} %`;
    case 'stopLoss':
    case 'takeProfit':
      return `${what} when mark reaches ${String(first['triggerPrice'])}`;
    case 'limit':
      return `${what} at ${String(first['price'])}`;
  }
}

/** An order's terms that a move changes. */
export interface Terms {
  readonly price: string;
  readonly triggerPrice?: string;
}

/** The parts of an order record that decide how it moves. */
export interface Movable {
  readonly orderId: string;
  readonly orderType: string;
  readonly status: string;
  readonly price: string;
  readonly quantity: string;
  readonly triggerPrice: string | null;
  readonly parentOrderId: string | null;
  readonly ocoGroupId: string | null;
  readonly flags: { readonly ioc: boolean };
}

/**
 * Price and trigger after a move. The limit keeps its distance to the trigger; that of an
 * immediate order is its bound of 2 %. Null if the limit would not be positive.
 */
export function movedTerms(order: Movable, to: string, tickSize: string): Terms | null {
  const { triggerPrice } = order;
  if (triggerPrice === null) return { price: to };
  const side = order.quantity.startsWith('-') ? 'sell' : 'buy';
  if (order.flags.ioc) return { price: boundOf(to, side, tickSize), triggerPrice: to };
  const decimals = mostDecimals(order.price, triggerPrice, to);
  const moved = [order.price, to].reduce((sum, text) => sum + unitsOf(text, decimals), 0n);
  const price = moved - unitsOf(triggerPrice, decimals);
  return price > 0n ? { price: textOf(price, decimals), triggerPrice: to } : null;
}

/** Whether the chart lets an order's line be dragged. */
export const isMovable = ({ orderType, status }: Movable): boolean =>
  orderType === 'limit'
    ? status !== 'pending'
    : status === 'pending' && ['takeProfit', 'stopLoss'].includes(orderType);

/** Why an order cannot be cancelled and placed again without a loss; null: it can. */
export function moveFault(order: Movable, open: readonly Movable[]): string | null {
  if (open.some(({ parentOrderId }) => parentOrderId === order.orderId)) {
    return 'it has a take profit or stop loss, which would end with it';
  }
  if (order.ocoGroupId !== null) return 'it is one of a pair, which would end with it';
  if (order.parentOrderId !== null) return 'it belongs to another order';
  return null;
}

/** Whether an order trades at once or not at all; a triggered order waits for its trigger. */
export const isPlainIoc = ({ orderType, flags }: Body): boolean =>
  orderType === 'limit' && (flags as { readonly ioc?: boolean } | undefined)?.ioc === true;

/**
 * 30 seconds from now in exchange time. On a virtual clock, which may run a thousand times as
 * fast, there is no end.
 */
export function soonMs(
  known: { readonly ms: number; readonly atMs: number } | null,
  nowMs: number,
): number {
  if (known === null || Math.abs(known.ms - known.atMs) > MAX_CLOCK_GAP_MS) return FAR_MS;
  return Math.floor(known.ms + Math.max(0, nowMs - known.atMs) + SOON_MS);
}
