/** Chain hash of a command; `apply` adds the outcome. */
import { must } from '../../base/assert.ts';
import { codeOf } from '../../base/code-of.ts';
import { highWord, type RollingHash } from '../../base/rolling-hash.ts';
import { ORDER_TYPES } from '../orders/order-types.ts';
import type { Command, PlaceOrder } from '../commands.ts';
import { COMMANDS, REFERENCED, schemaOf } from '../schema/command-schema.ts';
import { recordHasher, type HashRecord } from './hash-record.ts';
import { hashBar, hashL3, hashLevels } from '../tape/hash-tape.ts';

/** By tag. */
const BODIES: HashRecord[] = [];
for (const { tag, body } of [...Object.values(COMMANDS), ...Object.values(REFERENCED)]) {
  BODIES[tag] = recordHasher(body);
}

/**
 * Every field of the command by the schema; the kinds that most of a journal consists of have
 * functions of their own.
 */
export function hashCommand(hash: RollingHash, command: Command): void {
  switch (command.kind) {
    case 'placeOrder':
      hashPlaceOrder(hash, command);
      return;
    case 'cancelOrder':
      hash.intNum(2, command.timeUs);
      hash.num(command.orderId);
      return;
    case 'tapeDepth':
      hash.intNum(4, command.timeUs);
      hash.int(command.market);
      hashLevels(hash, command.levels);
      return;
    case 'tapeTrade':
      hash.intNum(5, command.timeUs);
      hash.int(command.market);
      hash.intNum(command.priceTicks, command.lots);
      return;
    case 'setIndex':
      hash.intNum(6, command.timeUs);
      hash.int(command.market);
      hash.int(command.priceTicks);
      hash.text(command.text);
      return;
    case 'setMark':
      hash.intNum(7, command.timeUs);
      hash.int(command.market);
      hash.int(command.priceTicks);
      return;
    case 'tapeBar':
      hashBar(hash, command);
      return;
    case 'tapeL3':
      hashL3(hash, command);
      return;
    default:
      hashCommandBySchema(hash, command);
  }
}

/** The same by the schema, for every kind. */
export function hashCommandBySchema(hash: RollingHash, command: Command): void {
  const { tag } = schemaOf(command);
  hash.intNum(tag, command.timeUs);
  must(BODIES[tag], 'every kind has a tag')(hash, command);
}

/**
 * The words of an order without clientId and originator, from the second on: nonce and expiry, at
 * even places, are pairs of them.
 */
const orderWords = new Int32Array(18);
const orderPairs = new BigInt64Array(orderWords.buffer);

function hashPlaceOrder(hash: RollingHash, order: PlaceOrder): void {
  if (order.clientId === null && order.originator === null) {
    const { timeUs, lots } = order;
    orderWords[1] = 1;
    orderWords[2] = timeUs | 0;
    orderWords[3] = highWord(timeUs);
    orderWords[4] = order.subaccount;
    orderWords[5] = order.market;
    orderWords[6] = typeAndFlags(order);
    orderWords[7] = lots | 0;
    orderWords[8] = highWord(lots);
    orderWords[9] = order.priceTicks;
    orderPairs[5] = order.nonce;
    orderPairs[6] = order.expiresAtMs;
    orderWords[14] = order.delegate ?? -1;
    orderWords[15] = -1;
    orderWords[16] = -1;
    orderWords[17] = order.originatorFeePpm;
    hash.words(orderWords, 1);
    return;
  }
  // As `intNum`, whose argument would be boxed.
  hash.ints(1, order.timeUs | 0, highWord(order.timeUs));
  hash.ints(order.subaccount, order.market, typeAndFlags(order));
  hash.num(order.lots);
  hash.int(order.priceTicks);
  hash.bigints(order.nonce, order.expiresAtMs);
  hash.int(order.delegate ?? -1);
  hash.optionalText(order.clientId);
  hash.optionalText(order.originator);
  hash.int(order.originatorFeePpm);
}

function typeAndFlags({ orderType, ioc, postOnly, reduceOnly }: PlaceOrder): number {
  const flags = (ioc ? 8 : 0) | (postOnly ? 16 : 0) | (reduceOnly ? 32 : 0);
  return codeOf(ORDER_TYPES, orderType) | flags;
}
