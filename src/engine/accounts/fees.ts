/** Fees. Fees round up, rebates and shares of vault and insurance round down. */
import { absBig } from '../../num/arithmetic.ts';
import { feeMoney, minus, ppmFloor, quantaOf, type Money } from '../../num/money.ts';
import { ppmOfCeil } from '../../num/notional.ts';
import { quanta, type Ppm, type PriceTicks, type Quanta } from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { creditMoney } from './ledger.ts';
import { OrderFees, type SideFees } from './order-fees.ts';
import type { State } from '../state.ts';
import { LEDGER_CODES } from '../schema/event-schema.ts';

/**
 * Fee on a signed notional, rounded up: positive is paid, negative is a rebate received, which thus
 * rounds toward zero.
 */
export function feeOn(notionalQuanta: Quanta, rate: Ppm): Quanta {
  return ppmOfCeil(quanta(absBig(notionalQuanta)), rate);
}

/** Fee on a fill of `size` ≥ 0 lots at a price. */
export function feeOfFill(size: number, price: PriceTicks, unit: number, rate: Ppm): Quanta {
  return quantaOf(feeMoney(size, price, unit, rate));
}

/** Fees of a user's order for a fill of `size` lots at `price`. */
export function feesOf(
  state: ExchangeState,
  slot: number,
  role: 'maker' | 'taker',
  size: number,
  price: PriceTicks,
): SideFees {
  return new OrderFees(role).set(state, slot, size, price);
}

/** Distributes the net protocol fee of one fill; 0 moves no money. */
export function distributeFee(state: State, net: Money): void {
  const toVault = ppmFloor(net, state.config.vaultFeeSharePpm);
  const toInsurance = ppmFloor(net, state.config.insuranceFeeSharePpm);
  creditMoney(state, state.vault, toVault, LEDGER_CODES.feeShare);
  creditMoney(state, state.insurance, toInsurance, LEDGER_CODES.feeShare);
  creditMoney(
    state,
    state.treasury,
    minus(minus(net, toVault), toInsurance),
    LEDGER_CODES.feeShare,
  );
}
