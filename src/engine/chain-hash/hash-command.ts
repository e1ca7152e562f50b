/** Chain hash of a command; `apply` adds the outcome. */
import { must } from '../../base/assert.ts';
import { codeOf } from '../../base/code-of.ts';
import { highWord, type RollingHash } from '../../base/rolling-hash.ts';
import { ORDER_TYPES } from '../orders/order-types.ts';
import type { Command, PlaceOrder } from '../commands.ts';
import { COMMANDS } from '../schema/command-schema.ts';
import { recordHasher, type HashRecord } from './hash-record.ts';
import { hashBar, hashL3, hashLevels } from '../tape/hash-tape.ts';

/** By tag. */
const BODIES: HashRecord[] = [];
for (const { tag, body } of Object.values(COMMANDS)) BODIES[tag] = recordHasher(body);

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
  const { tag } = COMMANDS[command.kind];
  hash.intNum(tag, command.timeUs);
  must(BODIES[tag], 'every kind has a tag')(hash, command);
}

function hashPlaceOrder(hash: RollingHash, order: PlaceOrder): void {
  // As `intNum`, whose argument would be boxed.
  hash.ints(1, order.timeUs | 0, highWord(order.timeUs));
  hash.ints(
    order.subaccount,
    order.market,
    codeOf(ORDER_TYPES, order.orderType) |
      (order.ioc ? 8 : 0) |
      (order.postOnly ? 16 : 0) |
      (order.reduceOnly ? 32 : 0),
  );
  hash.num(order.lots);
  hash.int(order.priceTicks);
  hash.bigints(order.nonce, order.expiresAtMs);
  const delegate = order.delegate ?? -1;
  if (order.clientId === null && order.originator === null) hash.ints(delegate, -1, -1);
  else {
    hash.int(delegate);
    hash.optionalText(order.clientId);
    hash.optionalText(order.originator);
  }
  hash.int(order.originatorFeePpm);
}
