/**
 * What of a command and of its events goes into the chain hash (DESIGN §3).
 *
 * chainHash_n = H(chainHash_{n−1}, seq_n, command_n, outcome_n, events_n). Every field of a command is hashed. Of events, every field is
 * hashed that the command does not already fix; the time of an event enters when it changes (timers run at their own); `seq` and `index` are their place in the stream, and the terms in
 * `orderAccepted` and `orderRejected` are the command's own.
 */
import { unreachable } from '../base/assert.ts';
import type { RollingHash } from '../base/rolling-hash.ts';
import type { Command, TapeLevel } from './commands.ts';
import type { MarketSpec } from './config.ts';
import { ORDER_STATUSES, ORDER_TYPES } from './book/order-table.ts';
import type { Cause, EngineEvent, LedgerReason } from './events.ts';
import { END_REASONS, REFUSALS, type EndReason, type Outcome } from './rejections.ts';

/** Numbers in the hash; append-only. */
const CAUSES: readonly Cause[] = [
  'command',
  'expiry',
  'timer',
  'tape',
  'tapeCross',
  'trigger',
  'twap',
  'iceberg',
  'funding',
  'liquidation',
  'adl',
];

const LEDGER_REASONS: readonly LedgerReason[] = [
  'deposit',
  'withdrawal',
  'transferIn',
  'transferOut',
  'clsDeposit',
  'clsWithdrawal',
  'realizedPnl',
  'fee',
  'originatorFee',
  'feeShare',
  'funding',
  'rounding',
  'isolatedMargin',
  'liquidationFee',
  'insurance',
  'adl',
];

const TAPE_KINDS = ['depth', 'trade', 'snapshot', 'gap'] as const;

export function hashCommand(hash: RollingHash, command: Command): void {
  switch (command.kind) {
    case 'placeOrder':
      hash.int(1);
      hash.num(command.timeUs);
      hash.int(command.subaccount);
      hash.int(command.market);
      hash.int(
        ORDER_TYPES.indexOf(command.orderType) |
          (command.ioc ? 8 : 0) |
          (command.postOnly ? 16 : 0) |
          (command.reduceOnly ? 32 : 0),
      );
      hash.num(command.lots);
      hash.int(command.priceTicks);
      hash.bigint(command.nonce);
      hash.bigint(command.expiresAtMs);
      hash.int(command.delegate ?? -1);
      hash.optionalText(command.clientId);
      hash.optionalText(command.originator);
      hash.int(command.originatorFeePpm);
      return;
    case 'cancelOrder':
      hash.int(2);
      hash.num(command.timeUs);
      hash.num(command.orderId);
      return;
    case 'advanceTime':
      hash.int(3);
      hash.num(command.timeUs);
      return;
    case 'tapeDepth':
      hash.int(4);
      hash.num(command.timeUs);
      hash.int(command.market);
      hashLevels(hash, command.levels);
      return;
    case 'tapeTrade':
      hash.int(5);
      hash.num(command.timeUs);
      hash.int(command.market);
      hash.int(command.priceTicks);
      hash.num(command.lots);
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
    case 'listMarket':
      hash.int(15);
      hash.num(command.timeUs);
      hashSpec(hash, command.spec);
      return;
    default:
      unreachable(command);
  }
}

export function hashOutcome(hash: RollingHash, outcome: Outcome): void {
  hash.int(outcome === 'ok' ? -1 : REFUSALS.indexOf(outcome));
}

export function hashEvent(hash: RollingHash, event: EngineEvent): void {
  const cause = CAUSES.indexOf(event.cause) << 8;
  switch (event.kind) {
    case 'orderAccepted':
      hash.int(1 | cause);
      hash.num(event.orderId);
      return;
    case 'orderRejected':
      hash.int(2 | cause);
      hash.num(event.orderId);
      hash.int(reasonCode(event.reason));
      return;
    case 'orderRested':
      hash.int(3 | cause);
      hash.num(event.orderId);
      hash.int(event.priceTicks);
      hash.num(event.remainingLots);
      return;
    case 'orderFilled':
      hash.int(4 | cause);
      hash.num(event.orderId);
      hash.int(event.role === 'maker' ? 0 : 1);
      hash.num(event.tradeId);
      hash.int(event.priceTicks);
      hash.num(event.lots);
      hash.num(event.remainingLots);
      hash.bigint(event.feeQuanta);
      hash.bigint(event.originatorFeeQuanta);
      hash.bigint(event.realizedPnlQuanta);
      return;
    case 'orderTriggered':
      hash.int(5 | cause);
      hash.num(event.orderId);
      hash.int(event.triggerTicks);
      hash.int(event.sourceTicks);
      return;
    case 'orderEnded':
      hash.int(6 | cause);
      hash.num(event.orderId);
      hash.int(ORDER_STATUSES.indexOf(event.status));
      hash.int(reasonCode(event.reason));
      hash.num(event.remainingLots);
      return;
    case 'tradePrinted':
      hash.int(7 | cause);
      hash.int(event.market);
      hash.num(event.tradeId);
      hash.int(event.priceTicks);
      hash.num(event.lots);
      return;
    case 'balanceChanged':
      hash.int(8 | cause);
      hash.int(event.subaccount);
      hash.int(LEDGER_REASONS.indexOf(event.reason));
      hash.bigint(event.deltaQuanta);
      hash.bigint(event.balanceQuanta);
      return;
    case 'positionChanged':
      hash.int(9 | cause);
      hash.int(event.subaccount);
      hash.int(event.market);
      hash.num(event.lots);
      hash.bigint(event.costQuanta);
      return;
    case 'oracleSet':
      hash.int(10 | cause);
      hash.int(event.market);
      hash.int(event.indexTicks);
      return;
    case 'markChanged':
      hash.int(11 | cause);
      hash.int(event.market);
      hash.int(event.markTicks);
      hash.int(event.indexTicks ?? 0);
      return;
    case 'nonceUsed':
      hash.int(12 | cause);
      hash.int(event.account);
      hash.bigint(event.nonce);
      return;
    case 'selfTradeModeChanged':
      hash.int(13 | cause);
      hash.int(event.account);
      hash.int(event.mode ?? -1);
      return;
    case 'marketListed':
      hash.int(14 | cause);
      hash.int(event.market);
      return;
    case 'tapeApplied':
      hash.int(15 | cause);
      hash.int(event.market);
      hash.int(TAPE_KINDS.indexOf(event.what) | (event.stale ? 8 : 0));
      hash.int(event.bestBidTicks ?? 0);
      hash.num(event.bestBidLots);
      hash.int(event.bestAskTicks ?? 0);
      hash.num(event.bestAskLots);
      return;
    default:
      unreachable(event);
  }
}

function reasonCode(reason: EndReason | null): number {
  return reason === null ? 0 : END_REASONS.indexOf(reason) + 1;
}

function hashLevels(hash: RollingHash, levels: readonly TapeLevel[]): void {
  hash.int(levels.length);
  for (const level of levels) {
    hash.int(level.side === 'bid' ? level.priceTicks : -level.priceTicks);
    hash.num(level.lots);
  }
}

function hashSpec(hash: RollingHash, spec: MarketSpec): void {
  hash.text(spec.symbol);
  hash.text(spec.feedId);
  hash.text(spec.tickSize);
  hash.text(spec.lotSize);
  hash.num(spec.quantaPerTickLot);
  hash.num(spec.minLots);
  hash.num(spec.maxLots);
  hash.int(spec.maxPriceTicks);
  hash.num(spec.maxOpenOrders);
  hash.num(spec.maxOpenInterestLots);
  hash.int(spec.priceBandPpm);
  hash.int(spec.tiers.length);
  for (const tier of spec.tiers) {
    hash.bigint(tier.floorQuanta);
    hash.int(tier.initialMarginPpm);
    hash.int(tier.maintenanceMarginPpm);
  }
  hash.int(spec.makerFeePpm);
  hash.int(spec.takerFeePpm);
  hash.text(spec.markSource);
  hash.text(spec.indexSource);
  hash.int(spec.maxMarkDeviationPpm);
  hash.text(spec.funding.source);
  hash.num(spec.funding.sampleIntervalUs);
  hash.num(spec.funding.intervalUs);
  hash.num(spec.funding.interestPpb);
  hash.num(spec.funding.interestClampPpb);
  hash.num(spec.funding.divisor);
  hash.int(spec.funding.capPpm);
  hash.bigint(spec.funding.impactNotional);
  hash.text(spec.queueModel);
  hash.text(spec.impactModel);
  hash.num(spec.impactHalfLifeUs);
}
