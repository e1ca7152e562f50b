/**
 * `placeOrder` and `cancelOrder` as bytes, spelled out: most of a journal are orders and cancels. The same bytes as the fields of
 * `codec.ts` make, which a test says; whatever is out of the ordinary is left to those, with what they say about errors.
 */
import { codeOf } from '../../base/code-of.ts';
import { ORDER_TYPES } from '../../engine/book/order-table.ts';
import type { CancelOrder, PlaceOrder } from '../../engine/commands.ts';
import {
  accountId,
  address,
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  subaccountId,
  type TimeUs,
} from '../../num/units.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';

/** An order without texts has at most so many bytes. */
const LONGEST = 64;
const MORE = 0x80;

/** The number whose bytes begin here, or −1 when they are more than four. */
function uintAt(source: Uint8Array, at: number): number {
  const first = source[at] ?? 0;
  if (first < MORE) return first;
  const second = source[at + 1] ?? 0;
  const low = (first & 0x7f) | ((second & 0x7f) << 7);
  if (second < MORE) return low;
  const third = source[at + 2] ?? 0;
  const more = low | ((third & 0x7f) << 14);
  if (third < MORE) return more;
  const fourth = source[at + 3] ?? 0;
  return fourth < MORE ? more | (fourth << 21) : -1;
}

/** Where the number ends that begins here. */
function endOfUint(source: Uint8Array, at: number): number {
  let end = at;
  while ((source[end] ?? 0) >= MORE) end += 1;
  return end + 1;
}

/** The fields after the tag; null, with nothing read, when they are not those of an ordinary order. Throws `BytesError`. */
export function readPlaceOrder(reader: ByteReader, atUs: TimeUs): PlaceOrder | null {
  const { source } = reader;
  let { at } = reader;
  if (at + LONGEST > source.length) return null;
  const subaccount = uintAt(source, at);
  at = endOfUint(source, at);
  const market = source[at++] ?? 0;
  const type = source[at++] ?? 0;
  const first = source[at++] ?? 0;
  let size = (first >>> 1) & 0x3f;
  if (first >= MORE) {
    const high = uintAt(source, at);
    at = endOfUint(source, at);
    if (high < 0) return null;
    size += high * 0x40;
  }
  const price = uintAt(source, at);
  at = endOfUint(source, at);
  const ioc = source[at] ?? 0;
  const postOnly = source[at + 1] ?? 0;
  const reduceOnly = source[at + 2] ?? 0;
  at += 3;
  const delegate = source[at + 16] ?? 0;
  const small = (ioc | postOnly | reduceOnly) <= 1 && (market | delegate) < MORE && type === 0;
  if (!small || subaccount < 0 || price < 0 || at + 17 > reader.end) return null;
  const nonce = reader.i64At(at);
  const expiresAtMs = reader.i64At(at + 8);
  reader.at = at + 17;
  return {
    kind: 'placeOrder',
    timeUs: atUs,
    subaccount: subaccountId(subaccount),
    market: marketId(market),
    orderType: 'limit',
    lots: lots((first & 1) === 1 ? -size - 1 : size),
    priceTicks: priceTicks(price),
    ioc: ioc === 1,
    postOnly: postOnly === 1,
    reduceOnly: reduceOnly === 1,
    nonce,
    expiresAtMs,
    delegate: delegate === 0 ? null : accountId(delegate - 1),
    clientId: reader.bool('clientId') ? reader.text() : null,
    originator: reader.bool('originator') ? address(reader.text()) : null,
    originatorFeePpm: ppm(reader.uint()),
  };
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

export function readCancelOrder(reader: ByteReader, atUs: TimeUs): CancelOrder {
  return { kind: 'cancelOrder', timeUs: atUs, orderId: orderId(reader.uint()) };
}

export function writeCancelOrder(writer: ByteWriter, tag: number, c: CancelOrder): void {
  writer.u8(tag);
  writer.uint(c.orderId);
}
