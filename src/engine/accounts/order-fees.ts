/** The fees of one side of a fill, as figures; `fees.ts` distributes them. */
import { must } from '../../base/assert.ts';
import { feeMoney, NO_MONEY, plus, type Money } from '../../num/money.ts';
import type { Lots, PriceTicks } from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';

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
