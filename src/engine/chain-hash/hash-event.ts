/**
 * Chain hash of events; of the command itself: `hash-command.ts`.
 *
 * chainHash_n = H(chainHash_{n−1}, seq_n, command_n, outcome_n, events_n). The schema of events
 * says which fields are hashed. The time of an event enters when it changes (timers run at their
 * own); `seq` and `index` are its place in the stream. Per-fill events are hashed from their
 * fields, since without a sink no object of them is allocated.
 */
import { codeOf } from '../../base/code-of.ts';
import type { RollingHash } from '../../base/rolling-hash.ts';
import type {
  Lots,
  MarketId,
  OrderId,
  PriceTicks,
  SubaccountId,
  TradeId,
} from '../../num/units.ts';
import { quantaOf, type Money } from '../../num/money.ts';
import type { MarkChanged, OracleSet, OrderFilled, TapeApplied } from '../events.ts';
import { END_REASONS, type EndReason } from '../refusals.ts';
import { EVENTS, TAPE_UPDATES, type EventKind, type EventOf } from '../schema/event-schema.ts';
import { recordHasher } from './hash-record.ts';

type HashEvent<E> = (hash: RollingHash, cause: number, event: E) => void;

/** An event by the schema: its tag, its cause, its fields. */
export function hashEventOf<Kind extends EventKind>(kind: Kind): HashEvent<EventOf<Kind>> {
  const { tag, body } = EVENTS[kind];
  const hashBody = recordHasher(body);
  return (hash, cause, event) => {
    hash.int(tag | (cause << 8));
    hashBody(hash, event);
  };
}

export const hashOrderPending = hashEventOf('orderPending');
export const hashOrderReleased = hashEventOf('orderReleased');
export const hashNonceUsed = hashEventOf('nonceUsed');
export const hashSelfTradeModeChanged = hashEventOf('selfTradeModeChanged');
export const hashMarketListed = hashEventOf('marketListed');
export const hashIsolatedMarginChanged = hashEventOf('isolatedMarginChanged');
export const hashMarginChanged = hashEventOf('marginChanged');
export const hashFundingSampled = hashEventOf('fundingSampled');
export const hashFundingSettled = hashEventOf('fundingSettled');
export const hashLiquidationStep = hashEventOf('liquidationStep');
export const hashPositionTransferred = hashEventOf('positionTransferred');
export const hashVaultSharesChanged = hashEventOf('vaultSharesChanged');
export const hashDelegateChanged = hashEventOf('delegateChanged');
export const hashSignersChanged = hashEventOf('signersChanged');
export const hashMarketFrozen = hashEventOf('marketFrozen');
export const hashMarketTermsChanged = hashEventOf('marketTermsChanged');
export const hashMarketStatusChanged = hashEventOf('marketStatusChanged');
export const hashMarketDelisted = hashEventOf('marketDelisted');

/** The words of an amount are those of the bigint. */
function hashMoneys(hash: RollingHash, a: Money, b: Money): void {
  if (typeof a === 'number' && typeof b === 'number') hash.nums(a, b);
  else hash.bigints(quantaOf(a), quantaOf(b));
}

/* eslint-disable @typescript-eslint/max-params --
 * The twins below hash the most frequent events without an event object: a record would cost an
 * allocation per event, which a run without a sink does not need otherwise.
 */
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
  hash.intNumTwice(3 | (cause << 8), id, price, remaining);
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
  fee: Money,
  originatorFee: Money,
  realizedPnl: Money,
  realizedFunding: Money,
): void {
  hash.intNumTwice(4 | (cause << 8), id, role === 'maker' ? 0 : 1, trade);
  hash.intNum(price, filled);
  if (
    typeof fee === 'number' &&
    typeof originatorFee === 'number' &&
    typeof realizedPnl === 'number' &&
    typeof realizedFunding === 'number'
  ) {
    hash.numsOfFive(remaining, fee, originatorFee, realizedPnl, realizedFunding);
    return;
  }
  hash.num(remaining);
  hashMoneys(hash, fee, originatorFee);
  hashMoneys(hash, realizedPnl, realizedFunding);
}

/** Status and reason by their codes in the order's row. */
export function hashOrderEnded(
  hash: RollingHash,
  cause: number,
  id: OrderId,
  statusCode: number,
  reasonCode: number,
  remaining: Lots,
): void {
  hash.intNum(6 | (cause << 8), id);
  hash.intIntNum(statusCode, reasonCode, remaining);
}

export function hashTradePrinted(
  hash: RollingHash,
  cause: number,
  market: MarketId,
  trade: TradeId,
  price: PriceTicks,
  size: Lots,
): void {
  hash.intIntNum(7 | (cause << 8), market, trade);
  hash.intNum(price, size);
}

/** The reason by its code in `LEDGER_REASONS`. */
export function hashBalanceChanged(
  hash: RollingHash,
  cause: number,
  subaccount: SubaccountId,
  reasonCode: number,
  delta: Money,
  balance: Money,
): void {
  const head = 8 | (cause << 8);
  if (typeof delta === 'number' && typeof balance === 'number') {
    hash.intsNums(head, subaccount, reasonCode, delta, balance);
    return;
  }
  hash.ints(head, subaccount, reasonCode);
  hash.bigints(quantaOf(delta), quantaOf(balance));
}

export function hashPositionChanged(
  hash: RollingHash,
  cause: number,
  subaccount: SubaccountId,
  market: MarketId,
  position: Lots,
  cost: Money,
): void {
  const head = 9 | (cause << 8);
  if (typeof cost === 'number') {
    hash.intsNums(head, subaccount, market, position, cost);
    return;
  }
  hash.ints(head, subaccount, market);
  hash.num(position);
  hash.bigint(quantaOf(cost));
}

/* eslint-enable @typescript-eslint/max-params */

export function hashOracleSet(hash: RollingHash, cause: number, event: OracleSet): void {
  hash.int(10 | (cause << 8));
  hash.int(event.market);
  hash.int(event.indexTicks);
}

export function hashMarkChanged(hash: RollingHash, cause: number, event: MarkChanged): void {
  hash.ints(11 | (cause << 8), event.market, event.markTicks);
  hash.int(event.indexTicks ?? 0);
}

export function hashTapeApplied(hash: RollingHash, cause: number, event: TapeApplied): void {
  const what = codeOf(TAPE_UPDATES, event.what) | (event.stale ? 8 : 0);
  hash.ints(15 | (cause << 8), event.market, what);
  hash.intNum(event.bestBidTicks ?? 0, event.bestBidLots);
  hash.intNum(event.bestAskTicks ?? 0, event.bestAskLots);
}
