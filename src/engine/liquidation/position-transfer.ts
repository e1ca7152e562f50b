/**
 * A position changes hands off the book: take-overs, auto-deleveraging and delisting. Both
 * sides settle at the given price, optionally with a payment. The parties get events; there is no
 * trade, candle, volume or last price.
 */
import { quantaOf } from '../../num/money.ts';
import { lots, quanta, type Lots, type PriceTicks, type Quanta } from '../../num/units.ts';
import { creditMargin } from '../accounts/isolated-ledger.ts';
import { credit } from '../accounts/ledger.ts';
import { applyFill, emitPosition, takeFunding } from '../accounts/positions.ts';
import { settleIsolated } from '../accounts/settle-fill.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import { hashPositionTransferred } from '../chain-hash/hash-event.ts';
import { closeReduceOnly } from '../orders/close-reduce-only.ts';
import type { State } from '../state.ts';
import { NO_FEES } from '../accounts/order-fees.ts';
import { planIsolated } from '../margin/isolated-margin.ts';

export type TransferReason = 'takeover' | 'adl' | 'delisting';

/** Signed lots and money (negative: to the party that gives) at a price. */
export interface PositionTransfer {
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly money: bigint;
  readonly reason: TransferReason;
}

export function transferPosition(
  state: State,
  from: Exposure,
  to: Exposure,
  transfer: PositionTransfer,
): void {
  const { lots: moved, priceTicks: price, money, reason } = transfer;
  const market = state.market(from.market);
  const opposite = { ...transfer, lots: lots(-moved), money: -money };
  const left = settleParty(state, from, opposite, false);
  const took = settleParty(state, to, transfer, true);
  const { context } = state;
  context.emit(hashPositionTransferred, {
    kind: 'positionTransferred',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    from: from.subaccount,
    to: to.subaccount,
    reason,
    lots: moved,
    priceTicks: price,
    moneyQuanta: quanta(money),
    fromRealizedQuanta: left.realized,
    toRealizedQuanta: took.realized,
    fromFundingQuanta: left.funding,
    toFundingQuanta: took.funding,
  });
}

function settleParty(
  state: State,
  exposure: Exposure,
  { lots: change, priceTicks, money, reason }: PositionTransfer,
  release: boolean,
): { readonly realized: Quanta; readonly funding: Quanta } {
  const market = state.market(exposure.market);
  const subaccount = state.subaccount(exposure.subaccount);
  const before = exposure.positionLots;
  const plan = exposure.isolated
    ? planIsolated(exposure, market, { lots: change, priceTicks, fees: NO_FEES }, money, release)
    : null;
  const funding = quantaOf(takeFunding(exposure, change));
  const realized = quantaOf(applyFill(market, exposure, change, priceTicks));
  if (plan === null) {
    credit(state, subaccount, realized, 'realizedPnl');
    credit(state, subaccount, quanta(money), reason);
  } else {
    creditMargin(state, exposure, money, reason);
    settleIsolated(state, subaccount, exposure, plan);
  }
  emitPosition(state, subaccount, exposure, before);
  if (subaccount.role !== 'house') closeReduceOnly(state, exposure, before, NONE);
  return { realized, funding };
}
