/** Commands in the chain hash (DESIGN §3): every field, and the outcome. Codes are append-only. */
import { unreachable } from '../../base/assert.ts';
import { codeOf } from '../../base/code-of.ts';
import type { RollingHash } from '../../base/rolling-hash.ts';
import { ORDER_TYPES } from '../book/order-table.ts';
import type { Command, NewOrder, PlaceOrder } from '../commands.ts';
import { hashSpec } from './hash-spec.ts';
import { REFUSALS, type Outcome } from '../refusals.ts';
import { hashBar, hashL3, hashLevels } from '../tape/hash-tape.ts';

export function hashCommand(hash: RollingHash, command: Command): void {
  switch (command.kind) {
    case 'placeOrder':
      hashPlaceOrder(hash, command);
      return;
    case 'placeOrders':
      hash.int(16);
      hash.num(command.timeUs);
      hash.int(command.subaccount);
      hash.int(command.delegate ?? -1);
      hash.int(command.orders.length);
      for (const order of command.orders) hashNewOrder(hash, order);
      return;
    case 'cancelOrder':
      hash.intNum(2, command.timeUs);
      hash.num(command.orderId);
      return;
    case 'advanceTime':
      hash.int(3);
      hash.num(command.timeUs);
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
      hash.int(6);
      hash.num(command.timeUs);
      hash.int(command.market);
      hash.int(command.priceTicks);
      hash.text(command.text);
      return;
    case 'setMark':
      hash.int(7);
      hash.num(command.timeUs);
      hash.int(command.market);
      hash.int(command.priceTicks);
      return;
    case 'cancelAll':
      hash.int(8);
      hash.num(command.timeUs);
      hash.int(command.subaccount);
      hash.int(command.market ?? -1);
      return;
    case 'deposit':
      hash.int(9);
      hash.num(command.timeUs);
      hash.text(command.account);
      hash.int(command.subaccountIndex);
      hash.bigint(command.amount);
      return;
    case 'withdraw':
      hash.int(10);
      hash.num(command.timeUs);
      hash.text(command.account);
      hash.int(command.subaccountIndex);
      hash.bigint(command.amount);
      return;
    case 'transfer':
      hash.int(11);
      hash.num(command.timeUs);
      hash.text(command.from);
      hash.int(command.fromIndex);
      hash.text(command.to);
      hash.int(command.toIndex);
      hash.bigint(command.amount);
      hash.int(command.market ?? -1);
      hash.text(command.signer);
      hash.bigint(command.nonce);
      hash.bigint(command.expiresAtMs);
      return;
    case 'setSelfTradeMode':
      hash.int(12);
      hash.num(command.timeUs);
      hash.text(command.account);
      hash.int(command.mode ?? -1);
      return;
    case 'tapeSnapshot':
      hash.int(13);
      hash.num(command.timeUs);
      hash.int(command.market);
      hashLevels(hash, command.levels);
      return;
    case 'tapeGap':
      hash.int(14);
      hash.num(command.timeUs);
      hash.int(command.market);
      return;
    case 'tapeBar':
      hashBar(hash, command);
      return;
    case 'tapeL3':
      hashL3(hash, command);
      return;
    case 'listMarket':
      hash.int(15);
      hash.num(command.timeUs);
      hashSpec(hash, command.spec);
      return;
    case 'updateMargin':
      hash.int(17);
      hash.num(command.timeUs);
      hash.int(command.subaccount);
      hash.int(command.market);
      hash.int(command.isolated ? 1 : 0);
      hash.int(command.marginPpm);
      hash.bigint(command.nonce);
      hash.bigint(command.expiresAtMs);
      hash.int(command.delegate ?? -1);
      return;
    case 'updateDelegate':
      hash.int(18);
      hash.num(command.timeUs);
      hash.text(command.account);
      hash.int(command.subaccountIndex);
      hash.text(command.delegate);
      hash.int(command.delegated ? 1 : 0);
      hash.bigint(command.nonce);
      hash.bigint(command.expiresAtMs);
      return;
    case 'updateSigners':
      hash.int(19);
      hash.num(command.timeUs);
      hash.text(command.account);
      hash.int(command.signers.length);
      for (const signer of command.signers) hash.text(signer);
      hash.num(command.quorum);
      hash.bigint(command.nonce);
      hash.bigint(command.expiresAtMs);
      return;
    case 'settleFunding':
      hash.int(20);
      hash.num(command.timeUs);
      hash.int(command.market);
      hash.num(command.ratePpb);
      return;
    case 'setMarketTerms':
      hash.int(23);
      hash.num(command.timeUs);
      hash.int(command.market);
      hashSpec(hash, command.spec);
      return;
    case 'setMarketStatus':
      hash.int(24);
      hash.num(command.timeUs);
      hash.int(command.market);
      hash.text(command.status);
      return;
    case 'delistMarket':
      hash.int(25);
      hash.num(command.timeUs);
      hash.int(command.market);
      hash.int(command.priceTicks ?? -1);
      return;
    default:
      unreachable(command);
  }
}

function hashPlaceOrder(hash: RollingHash, order: PlaceOrder): void {
  hash.intNum(1, order.timeUs);
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

function hashNewOrder(hash: RollingHash, order: NewOrder): void {
  hash.int(order.market);
  hash.int(
    codeOf(ORDER_TYPES, order.orderType) |
      (order.ioc ? 8 : 0) |
      (order.postOnly ? 16 : 0) |
      (order.reduceOnly ? 32 : 0) |
      (order.attached ? 64 : 0),
  );
  hash.num(order.lots);
  hash.int(order.priceTicks);
  hash.bigint(order.nonce);
  hash.bigint(order.expiresAtMs);
  hash.optionalText(order.clientId);
  hash.optionalText(order.originator);
  hash.int(order.originatorFeePpm);
  hash.int(order.triggerTicks ?? -1);
  hash.int(order.trailingPpm ?? -1);
  hash.bigint(order.periodMs ?? -1n);
  hash.num(order.parent ?? 0);
}

export function hashOutcome(hash: RollingHash, outcome: Outcome): void {
  hash.int(outcome === 'ok' ? -1 : codeOf(REFUSALS, outcome));
}
