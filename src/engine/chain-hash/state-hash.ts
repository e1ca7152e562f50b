/**
 * The part of the chain hash that covers events (DESIGN §3); commands are in `hash-command.ts`.
 *
 * chainHash_n = H(chainHash_{n−1}, seq_n, command_n, outcome_n, events_n). Every event field is
 * hashed that the command does not determine. The time of an event is hashed when it changes, since
 * timers run at their own times. `seq` and `index` are positions in the stream; the terms in
 * `orderAccepted` and `orderRejected` are the command's. Frequent events of a fill are hashed from
 * their fields and allocated only if a sink is attached.
 */
import { codeOf } from '../../base/code-of.ts';
import type { RollingHash } from '../../base/rolling-hash.ts';
import type {
  Lots,
  MarketId,
  OrderId,
  PriceTicks,
  Quanta,
  SubaccountId,
  TradeId,
} from '../../num/units.ts';
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
  MarketDelisted,
  MarketFrozen,
  MarketListed,
  MarketStatusChanged,
  MarketTermsChanged,
  NonceUsed,
  OracleSet,
  OrderFilled,
  OrderPending,
  OrderReleased,
  SelfTradeModeChanged,
  TapeApplied,
} from '../events.ts';
import { MARKET_STATUSES } from '../config.ts';
import { hashSpec } from './hash-spec.ts';
import { END_REASONS, type EndReason } from '../refusals.ts';

/** Codes in the hash; append-only. */
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
  'delisting',
  'vault',
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
  'shortfall',
  'insuranceRepaid',
  'delisting',
];

const LIQUIDATION_STEPS: readonly LiquidationStep['step'][] = [
  'cancelOrders',
  'order',
  'insurance',
  'takeover',
  'adl',
  'safe',
  'shortfall',
];

const TRANSFER_REASONS: readonly PositionTransferred['reason'][] = ['takeover', 'adl', 'delisting'];

const TAPE_KINDS = ['depth', 'trade', 'snapshot', 'gap', 'bar', 'l3'] as const;

export function hashOrderAccepted(hash: RollingHash, cause: number, id: OrderId): void {
  hash.intNum(1 | (cause << 8), id);
}

export function hashOrderRejected(
  hash: RollingHash,
  cause: number,
  id: OrderId,
  reason: EndReason,
): void {
  hash.intNum(2 | (cause << 8), id);
  hash.int(codeOf(END_REASONS, reason) + 1);
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

/** Status and reason as codes of the order's row. */
export function hashOrderEnded(
  hash: RollingHash,
  cause: number,
  id: OrderId,
  statusCode: number,
  reasonCode: number,
  remaining: Lots,
): void {
  hash.intNum(6 | (cause << 8), id);
  hash.int(statusCode);
  hash.intNum(reasonCode, remaining);
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
  hash.ints(11 | (cause << 8), event.market, event.markTicks);
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
  hash.int(codeOf(TRANSFER_REASONS, event.reason));
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

export function hashMarketFrozen(hash: RollingHash, cause: number, event: MarketFrozen): void {
  hash.int(26 | (cause << 8));
  hash.int(event.market);
  hash.int(event.frozen ? 1 : 0);
  hash.num(event.sinceUs);
}

export function hashMarketTermsChanged(
  hash: RollingHash,
  cause: number,
  event: MarketTermsChanged,
): void {
  hash.int(27 | (cause << 8));
  hash.int(event.market);
  hashSpec(hash, event.spec);
  hash.int(event.nextSpec === null ? 0 : 1);
  if (event.nextSpec !== null) hashSpec(hash, event.nextSpec);
  hash.num(event.effectiveUs ?? -1);
}

export function hashMarketStatusChanged(
  hash: RollingHash,
  cause: number,
  event: MarketStatusChanged,
): void {
  hash.int(28 | (cause << 8));
  hash.int(event.market);
  hash.int(codeOf(MARKET_STATUSES, event.status));
}

export function hashMarketDelisted(hash: RollingHash, cause: number, event: MarketDelisted): void {
  hash.int(29 | (cause << 8));
  hash.int(event.market);
  hash.int(event.priceTicks);
}

export function hashTapeApplied(hash: RollingHash, cause: number, event: TapeApplied): void {
  const what = codeOf(TAPE_KINDS, event.what) | (event.stale ? 8 : 0);
  hash.ints(15 | (cause << 8), event.market, what);
  hash.intNum(event.bestBidTicks ?? 0, event.bestBidLots);
  hash.intNum(event.bestAskTicks ?? 0, event.bestAskLots);
}
