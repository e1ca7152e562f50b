/** Positions: signed lots and signed cost; an opening fill needs no division. */
import { bigOf, ceilDivInt, ceilDivBig, floorDivBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { lots, quanta, timeUs, type Lots, type PriceTicks, type Quanta } from '../../num/units.ts';
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
  const size = Math.abs(exposure.positionLots);
  if (closed === size) return exposure.costQuanta;
  // While the product is below 2^53 it is an exact integer in a double, and one bigint is made.
  const product = exposure.costAbout * closed;
  if (product <= Number.MAX_SAFE_INTEGER && product >= -Number.MAX_SAFE_INTEGER) {
    return quanta(bigOf(ceilDivInt(product, size)));
  }
  return quanta(ceilDivBig(exposure.costQuanta * BigInt(closed), BigInt(size)));
}

/** Removes and returns the funding of the lots that this fill closes, rounded down. */
export function takeFunding(exposure: Exposure, fillLots: Lots): Quanta {
  if (exposure.fundingQuanta === 0n) return quanta(0n);
  const closed = closingLots(exposure.positionLots, fillLots);
  const size = Math.abs(exposure.positionLots);
  const taken =
    closed === size
      ? exposure.fundingQuanta
      : quanta(floorDivBig(exposure.fundingQuanta * BigInt(closed), BigInt(size)));
  exposure.fundingQuanta = quanta(exposure.fundingQuanta - taken);
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
): Quanta {
  const unit = market.spec.quantaPerTickLot;
  const before = exposure.positionLots;
  const after = before + fillLots;
  market.openInterestLots = lots(
    market.openInterestLots + Math.max(after, 0) - Math.max(before, 0),
  );
  if (before === 0 || after === 0) market.holders.set(exposure.subaccount, after !== 0);
  const closed = closingLots(before, fillLots);
  if (closed === 0) {
    exposure.positionLots = lots(after);
    exposure.costQuanta = quanta(exposure.costQuanta + notional(fillLots, price, unit));
    return quanta(0n);
  }
  const taken = closedCost(exposure, closed);
  exposure.positionLots = lots(after);
  const proceeds = notional(lots(before > 0 ? closed : -closed), price, unit);
  const opened = lots(before > 0 ? fillLots + closed : fillLots - closed);
  const kept = exposure.costQuanta - taken;
  exposure.costQuanta = quanta(opened === 0 ? kept : kept + notional(opened, price, unit));
  return quanta(proceeds - taken);
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
    exposure.feesQuanta = quanta(0n);
    exposure.liquidationLots = 0;
    // The owner's remaining position does not wait for the end of this pause (D-57).
    if (exposure.liquidationResumesUs > state.nowUs) context.due.riskCheck = true;
    exposure.liquidationResumesUs = timeUs(0);
  }
  const { positionLots, costQuanta } = exposure;
  hashPositionChanged(
    context.hashing(),
    context.causeInHash,
    subaccount.id,
    exposure.market,
    positionLots,
    costQuanta,
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
      costQuanta,
    });
  }
}

/** Whether a position reached or crossed zero. */
export function hasTurned(before: number, after: number): boolean {
  return before !== 0 && (after === 0 || before > 0 !== after > 0);
}
