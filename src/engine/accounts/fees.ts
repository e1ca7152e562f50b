/** Fees. Fees round up, rebates and shares of vault and insurance round down. */
import { absBig, bigOf, ceilDivInt, doubleOf, floorDivInt } from '../../num/arithmetic.ts';
import { notional, ppmOfCeil, ppmOfFloor } from '../../num/notional.ts';
import {
  lots,
  PPM,
  quanta,
  type Lots,
  type Ppm,
  type PriceTicks,
  type Quanta,
} from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { credit } from './ledger.ts';
import type { State } from '../state.ts';

/** Fees of one side of one fill; the protocol fee is negative for a rebate. */
export interface SideFees {
  readonly protocol: Quanta;
  readonly originator: Quanta;
  /** To insurance, for an engine order. */
  readonly liquidation: Quanta;
  /**
   * False if all but the protocol fee are 0, as for most fills: then one number is added and paid.
   */
  readonly others: boolean;
}

/** A fill as one side sees it: its signed lots, and its fees. */
export interface Deal {
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly fees: SideFees;
}

/** Fees of the house: none. */
export const NO_FEES: SideFees = {
  protocol: quanta(0n),
  originator: quanta(0n),
  liquidation: quanta(0n),
  others: false,
};

export function totalFee(fees: SideFees): bigint {
  return fees.others ? fees.protocol + fees.originator + fees.liquidation : fees.protocol;
}

/**
 * Fee on a signed notional, rounded up: positive is paid, negative is a rebate received, which thus
 * rounds toward zero.
 */
export function feeOn(notionalQuanta: Quanta, rate: Ppm): Quanta {
  return ppmOfCeil(quanta(absBig(notionalQuanta)), rate);
}

/** Fee on a fill of `size` ≥ 0 lots at a price. Below 2^53 it needs only one bigint. */
export function feeOfFill(size: number, price: PriceTicks, unit: number, rate: Ppm): Quanta {
  const product = size * price * unit * rate;
  if (!Number.isSafeInteger(product)) return feeOn(notional(lots(size), price, unit), rate);
  return quanta(bigOf(ceilDivInt(product, PPM)));
}

/** Fees of a user's order for a fill of `size` lots at `price`. */
export function feesOf(
  state: ExchangeState,
  slot: number,
  role: 'maker' | 'taker',
  size: number,
  price: PriceTicks,
): SideFees {
  const { spec } = state.market(state.orders.market(slot));
  const unit = spec.quantaPerTickLot;
  const rate = role === 'maker' ? spec.makerFeePpm : spec.takerFeePpm;
  const originatorRate = state.orders.originatorFeePpm(slot);
  return {
    protocol: feeOfFill(size, price, unit, rate),
    originator:
      originatorRate === 0 ? NO_FEES.originator : feeOfFill(size, price, unit, originatorRate),
    liquidation: NO_FEES.liquidation,
    others: originatorRate !== 0,
  };
}

/** Distributes the net protocol fee of one fill; 0 moves no money. */
export function distributeFee(state: State, net: Quanta): void {
  const toVault = shareOf(net, state.config.vaultFeeSharePpm);
  const toInsurance = shareOf(net, state.config.insuranceFeeSharePpm);
  credit(state, state.vault, toVault, 'feeShare');
  credit(state, state.insurance, toInsurance, 'feeShare');
  credit(state, state.treasury, quanta(net - toVault - toInsurance), 'feeShare');
}

/** ⌊net × rate⌋. Below 2^53 it needs only one bigint. */
function shareOf(net: Quanta, rate: Ppm): Quanta {
  const product = doubleOf(net) * rate;
  if (!Number.isSafeInteger(product)) return ppmOfFloor(net, rate);
  return quanta(bigOf(floorDivInt(product, PPM)));
}
