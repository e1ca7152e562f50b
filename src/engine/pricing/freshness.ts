/**
 * Frozen markets (R-5.3b). A mark based on an index, or recorded, needs a source. A timer freezes
 * the market once its source is older than `config.indexStaleUs`; the next price of the source
 * thaws it. Status `halted` freezes until the status changes. In a frozen market the mark stays, no
 * trigger fires, nothing is funded or liquidated, and a fill may only reduce both sides.
 *
 * A freeze or thaw changes the value of positions there for other markets, so all their holders are
 * checked against maintenance.
 */
import { NONE } from '../book/order-table.ts';
import { hashMarketFrozen } from '../chain-hash/hash-event.ts';
import type { Market } from '../market/market.ts';
import { markHoldersForRiskCheck } from '../margin/mark-holders-for-risk-check.ts';
import { orderId } from '../../num/units.ts';
import { endOrder } from '../orders/end.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { resumeEma } from './basis-ema.ts';
import { recomputeFromBook } from './recompute-mark.ts';
import { nextSampleUs } from './sampling.ts';

export function isFrozen(market: Market): boolean {
  return market.frozen;
}

/** Whether funding may be paid on the index. The book's own mid is never stale. */
export function hasFreshIndex(state: ExchangeState, market: Market): boolean {
  if (market.indexTicks === null || market.spec.indexSource === 'mid') {
    return market.indexTicks !== null;
  }
  return state.nowUs - market.indexAtUs <= state.config.indexStaleUs;
}

/** The source that the market needs: a recorded mark, an index, or none. */
function sourceOf({ spec }: Market): 'mark' | 'index' | null {
  if (spec.markSource === 'external') return 'mark';
  const followsIndex = spec.markSource === 'median' || spec.markSource === 'index';
  return followsIndex && spec.indexSource !== 'mid' ? 'index' : null;
}

/** When the source becomes stale; Infinity without a source, or before its first price. */
function staleUs(state: ExchangeState, market: Market): number {
  const source = sourceOf(market);
  const isThere = source === 'mark' ? market.markTicks !== null : market.indexTicks !== null;
  if (source === null || !isThere) return Infinity;
  const atUs = source === 'mark' ? market.markAtUs : market.indexAtUs;
  return atUs + state.config.indexStaleUs + 1;
}

/** On a price of the market's source: thaws it, unless halted, and restarts its timer. */
export function noteSourcePrice(state: State, market: Market, what: 'mark' | 'index'): void {
  if (sourceOf(market) !== what || market.status === 'halted') return;
  if (market.frozen) thaw(state, market);
  market.freezeDueUs = state.nowUs + state.config.indexStaleUs + 1;
}

/** Freezes the market: its source is stale. */
export function runFreezeTimer(state: State, market: Market): void {
  freeze(state, market);
}

export function freezeForHalt(state: State, market: Market): void {
  if (market.frozen) market.freezeDueUs = Infinity;
  else freeze(state, market);
}

/**
 * Thaws after `halted`. A market whose source is stale stays frozen until the source's next price.
 */
export function thawAfterHalt(state: State, market: Market): void {
  if (!market.frozen) return;
  const dueUs = staleUs(state, market);
  if (dueUs <= state.nowUs) return;
  thaw(state, market);
  market.freezeDueUs = dueUs;
  recomputeFromBook(state, market);
}

/** Stops all price timers of a delisted market. */
export function stopPriceTimers(market: Market): void {
  market.freezeDueUs = Infinity;
  market.emaDueUs = Infinity;
  market.markDueUs = Infinity;
  market.sampleDueUs = Infinity;
  market.fundingDueUs = Infinity;
}

function freeze(state: State, market: Market): void {
  market.frozen = true;
  market.frozenSinceUs = state.nowUs;
  market.freezeDueUs = Infinity;
  market.emaDueUs = Infinity;
  market.sampleDueUs = Infinity;
  announce(state, market);
  cancelVaultOrder(state, market);
}

function thaw(state: State, market: Market): void {
  market.frozen = false;
  resumeEma(state, market);
  if (market.sampleDueUs === Infinity) {
    market.sampleDueUs = nextSampleUs(state, market, state.nowUs);
  }
  announce(state, market);
}

/** Ends the freeze of a delisted market: its last price is final. */
export function endFreeze(state: State, market: Market): void {
  if (!market.frozen) return;
  market.frozen = false;
  announce(state, market);
}

function announce(state: State, market: Market): void {
  const { context } = state;
  if (market.markTicks !== null) {
    context.due.noteMoved(market);
    markHoldersForRiskCheck(state, market);
  }
  context.emit(hashMarketFrozen, {
    kind: 'marketFrozen',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    frozen: market.frozen,
    sinceUs: market.frozenSinceUs,
  });
}

/** The vault's closing order would fill at a stale price. */
function cancelVaultOrder(state: State, market: Market): void {
  if (market.vaultOrder === 0) return;
  const slot = state.orders.slotOf(orderId(market.vaultOrder));
  market.vaultOrder = 0;
  if (slot !== NONE) endOrder(state, slot, 'expired', 'expired');
}
