/**
 * `placeOrder` and `cancelOrder` as bytes, spelled out: most of a journal are orders and cancels.
 * The same bytes as by the schema, which a property test checks; whatever is out of the ordinary,
 * and its errors, are left to the schema.
 */
import { codeOf } from '../../base/code-of.ts';
import type { CancelOrder, PlaceOrder } from '../../engine/commands.ts';
import { ORDER_TYPES } from '../../engine/orders/order-types.ts';
import {
  accountId,
  address,
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  subaccountId,
  timeUs,
  type TimeUs,
} from '../../num/units.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';

/** An order without texts has at most so many bytes. */
const LONGEST = 64;
const MORE = 0x80;

/** A command that is being read. */
export type Writable<C> = { -readonly [Field in keyof C]: C[Field] };

/** Cloned and filled by what reads. */
export const ANY_ORDER: PlaceOrder = {
  kind: 'placeOrder',
  timeUs: timeUs(0),
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
};
export const ANY_CANCEL: CancelOrder = {
  kind: 'cancelOrder',
  timeUs: timeUs(0),
  orderId: orderId(0),
};

/** A bit for each of four bytes that ends a number. */
const ENDS = 0x80808080;

/**
 * How many bytes the number has whose first four are these; 0 when they are more than four. No
 * branch: none is ever mispredicted.
 */
function lengthOf(word: number): number {
  const ends = ~word & ENDS;
  return (39 - Math.clz32(ends & -ends)) >> 3;
}

/** The number itself, when it has no more than four. */
function valueOf(word: number): number {
  const ends = ~word & ENDS;
  const own = word & ((ends & -ends) - 1);
  return (
    (own & 0x7f) | ((own >>> 1) & 0x3f80) | ((own >>> 2) & 0x1fc000) | ((own >>> 3) & 0xfe00000)
  );
}

/**
 * Reads the fields after the tag into an order; false, with nothing read, when they are not those
 * of an ordinary one. Throws `BytesError`.
 */
export function readPlaceOrder(
  reader: ByteReader,
  atUs: TimeUs,
  into: Writable<PlaceOrder>,
): boolean {
  const { source, view } = reader;
  let { at } = reader;
  if (at + LONGEST > source.length) return false;
  const subaccount = view.getInt32(at, true);
  at += lengthOf(subaccount);
  const market = source[at] ?? 0;
  const type = source[at + 1] ?? 0;
  const size = view.getInt32(at + 2, true);
  at += 2 + lengthOf(size);
  const price = view.getInt32(at, true);
  at += lengthOf(price);
  const ioc = source[at] ?? 0;
  const postOnly = source[at + 1] ?? 0;
  const reduceOnly = source[at + 2] ?? 0;
  at += 3;
  const delegate = source[at + 16] ?? 0;
  const short = (~subaccount & ENDS) !== 0 && (~size & ENDS) !== 0 && (~price & ENDS) !== 0;
  const small = (ioc | postOnly | reduceOnly) <= 1 && (market | delegate) < MORE && type === 0;
  if (!short || !small || at + 17 > reader.end) return false;
  reader.at = at + 17;
  const signed = valueOf(size);
  into.timeUs = atUs;
  into.subaccount = subaccountId(valueOf(subaccount));
  into.market = marketId(market);
  into.lots = lots((signed & 1) === 1 ? -(signed >>> 1) - 1 : signed >>> 1);
  into.priceTicks = priceTicks(valueOf(price));
  into.ioc = ioc === 1;
  into.postOnly = postOnly === 1;
  into.reduceOnly = reduceOnly === 1;
  into.nonce = reader.i64At(at);
  into.expiresAtMs = reader.sameI64At(at + 8);
  into.delegate = delegate === 0 ? null : accountId(delegate - 1);
  into.clientId = reader.bool('clientId') ? reader.text() : null;
  into.originator = reader.bool('originator') ? address(reader.text()) : null;
  into.originatorFeePpm = ppm(reader.uint());
  return true;
}

export function writePlaceOrder(writer: ByteWriter, tag: number, c: PlaceOrder): void {
  writer.u8(tag);
  writer.uint(c.subaccount);
  writer.uint(c.market);
  writer.uint(codeOf(ORDER_TYPES, c.orderType));
  writer.int(c.lots);
  writer.uint(c.priceTicks);
  writer.u8(c.ioc ? 1 : 0);
  writer.u8(c.postOnly ? 1 : 0);
  writer.u8(c.reduceOnly ? 1 : 0);
  writer.i64(c.nonce);
  writer.i64(c.expiresAtMs);
  writer.uint(c.delegate === null ? 0 : c.delegate + 1);
  writer.optionalText(c.clientId);
  writer.optionalText(c.originator);
  writer.uint(c.originatorFeePpm);
}

export function readCancelOrder(
  reader: ByteReader,
  atUs: TimeUs,
  into: Writable<CancelOrder>,
): void {
  into.timeUs = atUs;
  into.orderId = orderId(reader.uint());
}

export function writeCancelOrder(writer: ByteWriter, tag: number, c: CancelOrder): void {
  writer.u8(tag);
  writer.uint(c.orderId);
}
