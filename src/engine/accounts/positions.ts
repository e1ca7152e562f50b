/** Positions: signed lots and signed cost; an opening fill needs no division. */
import {
  isNothing,
  minus,
  NO_MONEY,
  notionalMoney,
  plus,
  quantaOf,
  shareCeil,
  shareFloor,
  type Money,
} from '../../num/money.ts';
import { lots, timeUs, type Lots, type PriceTicks, type Quanta } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import { scheduleVaultLeave } from '../vault/vault-timer.ts';
import type { State } from '../state.ts';
import type { Exposure, Subaccount } from './subaccount.ts';
import { hashPositionChanged } from '../chain-hash/hash-event.ts';

/** Lots of this fill that close the position. */
export function closingLots(positionLots: number, fillLots: number): number {
  if (positionLots === 0 || positionLots > 0 === fillLots > 0) return 0;
  return Math.min(Math.abs(positionLots), Math.abs(fillLots));
}

/**
 * Cost of `closed` lots of the position: ⌈cost × closed / position⌉, rounded against the holder.
 */
export function closedCost(exposure: Exposure, closed: number): Quanta {
  return quantaOf(closedMoney(exposure, closed));
}

function closedMoney({ positionLots, costMoney }: Exposure, closed: number): Money {
  const size = Math.abs(positionLots);
  return closed === size ? costMoney : shareCeil(costMoney, closed, size);
}

/** Removes and returns the funding of the lots that this fill closes, rounded down. */
export function takeFunding(exposure: Exposure, fillLots: Lots): Money {
  const { fundingMoney } = exposure;
  if (isNothing(fundingMoney)) return NO_MONEY;
  const closed = closingLots(exposure.positionLots, fillLots);
  const size = Math.abs(exposure.positionLots);
  const taken = closed === size ? fundingMoney : shareFloor(fundingMoney, closed, size);
  exposure.fundingMoney = minus(fundingMoney, taken);
  return taken;
}

/**
 * Applies a fill to the position and returns the realised PnL, before fees. The closed part takes
 * ⌈cost × closed / position⌉ out of cost, rounded against the holder.
 */
export function applyFill(
  market: Market,
  exposure: Exposure,
  fillLots: Lots,
  price: PriceTicks,
): Money {
  const unit = market.spec.quantaPerTickLot;
  const before = exposure.positionLots;
  const after = before + fillLots;
  market.openInterestLots = lots(
    market.openInterestLots + Math.max(after, 0) - Math.max(before, 0),
  );
  if (before > 0 !== after > 0 || before < 0 !== after < 0) {
    market.holders.set(exposure.subaccount, after);
  }
  const closed = closingLots(before, fillLots);
  if (closed === 0) {
    exposure.positionLots = lots(after);
    exposure.costMoney = plus(exposure.costMoney, notionalMoney(fillLots, price, unit));
    return NO_MONEY;
  }
  const taken = closedMoney(exposure, closed);
  exposure.positionLots = lots(after);
  const proceeds = notionalMoney(before > 0 ? closed : -closed, price, unit);
  const opened = before > 0 ? fillLots + closed : fillLots - closed;
  const kept = minus(exposure.costMoney, taken);
  exposure.costMoney = opened === 0 ? kept : plus(kept, notionalMoney(opened, price, unit));
  return minus(proceeds, taken);
}

/** Resets the sums of a position that closed or changed sign. */
export function emitPosition(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  positionBefore: number,
): void {
  exposure.updatedAtUs = state.nowUs;
  state.markForRiskCheck(subaccount);
  // A reducing fill may lower liquidation equity: frozen gains count up to the requirement.
  const { context } = state;
  if (state.market(exposure.market).frozen) context.due.riskCheck = true;
  if (subaccount === state.vault) scheduleVaultLeave(state);
  if (hasTurned(positionBefore, exposure.positionLots)) {
    exposure.feesMoney = NO_MONEY;
    exposure.liquidationLots = 0;
    // The owner's remaining position does not wait for the end of this pause (D-57).
    if (exposure.liquidationResumesUs > state.nowUs) context.due.riskCheck = true;
    exposure.liquidationResumesUs = timeUs(0);
  }
  const { positionLots, costMoney } = exposure;
  hashPositionChanged(
    context.hashing(),
    context.causeInHash,
    subaccount.id,
    exposure.market,
    positionLots,
    costMoney,
  );
  if (context.hasSink) {
    context.deliver({
      kind: 'positionChanged',
      seq: state.seq,
      index: context.nextIndex(),
      timeUs: state.nowUs,
      cause: context.cause,
      subaccount: subaccount.id,
      market: exposure.market,
      lots: positionLots,
      costQuanta: quantaOf(costMoney),
    });
  }
}

/** Whether a position reached or crossed zero. */
export function hasTurned(before: number, after: number): boolean {
  return before !== 0 && (after === 0 || before > 0 !== after > 0);
}
