/** Fees. Fees round up, rebates and shares of vault and insurance round down. */
import { must } from '../../base/assert.ts';
import { absBig } from '../../num/arithmetic.ts';
import {
  feeMoney,
  minus,
  NO_MONEY,
  plus,
  ppmFloor,
  quantaOf,
  type Money,
} from '../../num/money.ts';
import { ppmOfCeil } from '../../num/notional.ts';
import { quanta, type Lots, type Ppm, type PriceTicks, type Quanta } from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { creditMoney } from './ledger.ts';
import type { State } from '../state.ts';

/** Fees of one side of one fill; the protocol fee is negative for a rebate. */
export interface SideFees {
  readonly protocol: Money;
  readonly originator: Money;
  /** To insurance, for an engine order. */
  readonly liquidation: Money;
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
  protocol: NO_MONEY,
  originator: NO_MONEY,
  liquidation: NO_MONEY,
  others: false,
};

export function totalFee(fees: SideFees): Money {
  if (!fees.others) return fees.protocol;
  return plus(plus(fees.protocol, fees.originator), fees.liquidation);
}

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

/** Fees of a user's order, in a record that may be used again. */
export class OrderFees implements SideFees {
  protocol = NO_MONEY;
  originator = NO_MONEY;
  readonly liquidation = NO_MONEY;
  others = false;
  private readonly isMaker: boolean;

  constructor(role: 'maker' | 'taker') {
    this.isMaker = role === 'maker';
  }

  /** The fees of a fill of `size` lots at `price`. */
  set({ orders, markets }: ExchangeState, slot: number, size: number, price: PriceTicks): this {
    const { spec } = must(markets[orders.market(slot)], 'an order has a market');
    const unit = spec.quantaPerTickLot;
    this.protocol = feeMoney(size, price, unit, this.isMaker ? spec.makerFeePpm : spec.takerFeePpm);
    const rate = orders.originatorFeePpm(slot);
    this.originator = rate === 0 ? NO_MONEY : feeMoney(size, price, unit, rate);
    this.others = rate !== 0;
    return this;
  }
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
  creditMoney(state, state.vault, toVault, 'feeShare');
  creditMoney(state, state.insurance, toInsurance, 'feeShare');
  creditMoney(state, state.treasury, minus(minus(net, toVault), toInsurance), 'feeShare');
}
