/**
 * What of a command and of its events goes into the chain hash (DESIGN §3).
 *
 * chainHash_n = H(chainHash_{n−1}, seq_n, command_n, outcome_n, events_n). Every field of a command is hashed. Of events, every field is
 * hashed that the command does not already fix; the time of an event enters when it changes (timers run at their own); `seq` and `index` are their place in the stream, and the terms in
 * `orderAccepted` and `orderRejected` are the command's own.
 */
import { unreachable } from '../base/assert.ts';
import { codeOf } from '../base/code-of.ts';
import type { RollingHash } from '../base/rolling-hash.ts';
import type { Command, NewOrder, PlaceOrder } from './commands.ts';
import type {
  Lots,
  MarketId,
  OrderId,
  PriceTicks,
  Quanta,
  SubaccountId,
  TradeId,
} from '../num/units.ts';
import type { MarketSpec } from './config.ts';
import { ORDER_STATUSES, ORDER_TYPES } from './book/order-table.ts';
import type {
  Cause,
  LedgerReason,
  DelegateChanged,
  FundingSampled,
  FundingSettled,
  IsolatedMarginChanged,
  LiquidationStep,
  MarginChanged,
  PositionTransferred,
  SignersChanged,
  VaultSharesChanged,
  MarkChanged,
  MarketListed,
  NonceUsed,
  OracleSet,
  OrderEnded,
  OrderFilled,
  OrderRejected,
  OrderPending,
  OrderReleased,
  SelfTradeModeChanged,
  TapeApplied,
} from './events.ts';
import { hashBar, hashL3, hashLevels } from './tape/hash-tape.ts';
import { END_REASONS, REFUSALS, type EndReason, type Outcome } from './rejections.ts';

/** Numbers in the hash; append-only. */
export const CAUSES: readonly Cause[] = [
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
  'takeover',
];

const LIQUIDATION_STEPS: readonly LiquidationStep['step'][] = [
  'cancelOrders',
  'order',
  'insurance',
  'takeover',
  'adl',
  'safe',
];

const TAPE_KINDS = ['depth', 'trade', 'snapshot', 'gap', 'bar', 'l3'] as const;

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

export function hashOrderAccepted(hash: RollingHash, cause: number, id: OrderId): void {
  hash.intNum(1 | (cause << 8), id);
}

export function hashOrderRejected(hash: RollingHash, cause: number, event: OrderRejected): void {
  hash.intNum(2 | (cause << 8), event.orderId);
  hash.int(reasonCode(event.reason));
}

export function hashOrderRested(
  hash: RollingHash,
  cause: number,
  id: OrderId,
  price: PriceTicks,
  remaining: Lots,
): void {
  hash.intNum(3 | (cause << 8), id);
  hash.intNum(price, remaining);
}

export function hashOrderFilled(
  hash: RollingHash,
  cause: number,
  id: OrderId,
  role: OrderFilled['role'],
  trade: TradeId,
  price: PriceTicks,
  filled: Lots,
  remaining: Lots,
  fee: Quanta,
  originatorFee: Quanta,
  realizedPnl: Quanta,
  realizedFunding: Quanta,
): void {
  hash.intNum(4 | (cause << 8), id);
  hash.intNum(role === 'maker' ? 0 : 1, trade);
  hash.intNum(price, filled);
  hash.num(remaining);
  hash.bigints(fee, originatorFee);
  hash.bigints(realizedPnl, realizedFunding);
}

export function hashOrderPending(hash: RollingHash, cause: number, event: OrderPending): void {
  hash.int(16 | (cause << 8));
  hash.num(event.orderId);
}

export function hashOrderReleased(hash: RollingHash, cause: number, event: OrderReleased): void {
  hash.int(5 | (cause << 8));
  hash.num(event.orderId);
  hash.int(event.triggerTicks ?? 0);
  hash.int(event.sourceTicks ?? 0);
}

export function hashOrderEnded(
  hash: RollingHash,
  cause: number,
  id: OrderId,
  status: OrderEnded['status'],
  reason: EndReason | null,
  remaining: Lots,
): void {
  hash.intNum(6 | (cause << 8), id);
  hash.int(codeOf(ORDER_STATUSES, status));
  hash.intNum(reasonCode(reason), remaining);
}

export function hashTradePrinted(
  hash: RollingHash,
  cause: number,
  market: MarketId,
  trade: TradeId,
  price: PriceTicks,
  size: Lots,
): void {
  hash.int(7 | (cause << 8));
  hash.intNum(market, trade);
  hash.intNum(price, size);
}

export function hashBalanceChanged(
  hash: RollingHash,
  cause: number,
  subaccount: SubaccountId,
  reason: LedgerReason,
  delta: Quanta,
  balance: Quanta,
): void {
  hash.ints(8 | (cause << 8), subaccount, codeOf(LEDGER_REASONS, reason));
  hash.bigints(delta, balance);
}

export function hashPositionChanged(
  hash: RollingHash,
  cause: number,
  subaccount: SubaccountId,
  market: MarketId,
  position: Lots,
  cost: Quanta,
): void {
  hash.ints(9 | (cause << 8), subaccount, market);
  hash.num(position);
  hash.bigint(cost);
}

export function hashOracleSet(hash: RollingHash, cause: number, event: OracleSet): void {
  hash.int(10 | (cause << 8));
  hash.int(event.market);
  hash.int(event.indexTicks);
}

export function hashMarkChanged(hash: RollingHash, cause: number, event: MarkChanged): void {
  hash.int(11 | (cause << 8));
  hash.int(event.market);
  hash.int(event.markTicks);
  hash.int(event.indexTicks ?? 0);
}

export function hashNonceUsed(hash: RollingHash, cause: number, event: NonceUsed): void {
  hash.int(12 | (cause << 8));
  hash.int(event.account);
  hash.bigint(event.nonce);
}

export function hashSelfTradeModeChanged(
  hash: RollingHash,
  cause: number,
  event: SelfTradeModeChanged,
): void {
  hash.int(13 | (cause << 8));
  hash.int(event.account);
  hash.int(event.mode ?? -1);
}

export function hashMarketListed(hash: RollingHash, cause: number, event: MarketListed): void {
  hash.int(14 | (cause << 8));
  hash.int(event.market);
}

export function hashIsolatedMarginChanged(
  hash: RollingHash,
  cause: number,
  event: IsolatedMarginChanged,
): void {
  hash.int(17 | (cause << 8));
  hash.int(event.subaccount);
  hash.int(event.market);
  hash.int(codeOf(LEDGER_REASONS, event.reason));
  hash.bigint(event.deltaQuanta);
  hash.bigint(event.marginQuanta);
}

export function hashMarginChanged(hash: RollingHash, cause: number, event: MarginChanged): void {
  hash.int(18 | (cause << 8));
  hash.int(event.subaccount);
  hash.int(event.market);
  hash.int(event.isolated ? 1 : 0);
  hash.int(event.marginPpm);
}

export function hashFundingSampled(hash: RollingHash, cause: number, event: FundingSampled): void {
  hash.int(19 | (cause << 8));
  hash.int(event.market);
  hash.num(event.premiumPpb);
  hash.num(event.samples);
}

export function hashFundingSettled(hash: RollingHash, cause: number, event: FundingSettled): void {
  hash.int(20 | (cause << 8));
  hash.int(event.market);
  hash.num(event.ratePpb);
  hash.int(event.indexTicks ?? 0);
  hash.num(event.positions);
  hash.bigint(event.roundingQuanta);
}

export function hashLiquidationStep(
  hash: RollingHash,
  cause: number,
  event: LiquidationStep,
): void {
  hash.int(21 | (cause << 8));
  hash.int(event.subaccount);
  hash.int(event.market ?? -1);
  hash.int(LIQUIDATION_STEPS.indexOf(event.step) | (event.isolated ? 8 : 0));
  hash.bigint(event.equityQuanta);
  hash.bigint(event.maintenanceQuanta);
  hash.num(event.orders);
  hash.num(event.lots);
  hash.int(event.limitTicks ?? -1);
  hash.int(event.bankruptcyTicks ?? -1);
  hash.bigint(event.amountQuanta);
}

export function hashPositionTransferred(
  hash: RollingHash,
  cause: number,
  event: PositionTransferred,
): void {
  hash.int(22 | (cause << 8));
  hash.int(event.market);
  hash.int(event.from);
  hash.int(event.to);
  hash.int(event.reason === 'adl' ? 1 : 0);
  hash.num(event.lots);
  hash.int(event.priceTicks);
  hash.bigint(event.moneyQuanta);
  hash.bigint(event.fromRealizedQuanta);
  hash.bigint(event.toRealizedQuanta);
  hash.bigint(event.fromFundingQuanta);
  hash.bigint(event.toFundingQuanta);
}

export function hashVaultSharesChanged(
  hash: RollingHash,
  cause: number,
  event: VaultSharesChanged,
): void {
  hash.int(23 | (cause << 8));
  hash.int(event.subaccount);
  hash.bigint(event.change);
  hash.bigint(event.shares);
  hash.bigint(event.totalShares);
  hash.bigint(event.amountQuanta);
  hash.num(event.lockupEndsAtUs);
}

export function hashDelegateChanged(
  hash: RollingHash,
  cause: number,
  event: DelegateChanged,
): void {
  hash.int(24 | (cause << 8));
  hash.int(event.account);
  hash.int(event.subaccountIndex);
  hash.int(event.delegate);
  hash.int(event.delegated ? 1 : 0);
}

export function hashSignersChanged(hash: RollingHash, cause: number, event: SignersChanged): void {
  hash.int(25 | (cause << 8));
  hash.int(event.account);
  hash.int(event.signers.length);
  for (const signer of event.signers) hash.text(signer);
  hash.num(event.quorum);
}

export function hashTapeApplied(hash: RollingHash, cause: number, event: TapeApplied): void {
  hash.int(15 | (cause << 8));
  hash.int(event.market);
  hash.int(TAPE_KINDS.indexOf(event.what) | (event.stale ? 8 : 0));
  hash.int(event.bestBidTicks ?? 0);
  hash.num(event.bestBidLots);
  hash.int(event.bestAskTicks ?? 0);
  hash.num(event.bestAskLots);
}

function reasonCode(reason: EndReason | null): number {
  return reason === null ? 0 : codeOf(END_REASONS, reason) + 1;
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
  hash.num(spec.funding.marginCapPpm);
  hash.bigint(spec.funding.impactNotional);
  hash.text(spec.queueModel);
  hash.text(spec.impactModel);
  hash.num(spec.impactHalfLifeUs);
}
