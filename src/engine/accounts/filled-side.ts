/** A side of the fill in progress: its deal, and the money that it moves. */
import { NO_MONEY, type Money } from '../../num/money.ts';
import {
  lots,
  marketId,
  priceTicks,
  subaccountId,
  type Lots,
  type PriceTicks,
} from '../../num/units.ts';
import { NONE } from '../book/order-rows.ts';
import { NO_FEES, type Deal, type SideFees } from './order-fees.ts';
import { Exposure } from './subaccount.ts';

/** Of a side that no fill has used yet. */
const NO_EXPOSURE = new Exposure(subaccountId(0), marketId(0));

/** Money that a fill of an isolated position will move. */
export interface IsolatedFill {
  /** Realised by the closed part. */
  readonly pnl: bigint;
  /** Fees by payer: the margin pays for the closed part, the cash for the opened part. */
  readonly closingFees: SideFees;
  readonly openingFees: SideFees;
  /** From margin to cash; negative if the position closes with a loss beyond its margin. */
  readonly returned: bigint;
  /** From cash to margin. */
  readonly moved: bigint;
}

/** One side of a fill; the exchange has two, which every fill uses again. */
export class FilledSide implements Deal {
  exposure = NO_EXPOSURE;
  /** Its order; NONE for the house, which pays no fees. */
  slot = NONE;
  lots: Lots = lots(0);
  priceTicks: PriceTicks = priceTicks(0);
  fees: SideFees = NO_FEES;
  /** Margin moved by an isolated side; null for cross. */
  plan: IsolatedFill | null = null;
  /** The position before, and what the fill takes out of it. */
  before = 0;
  funding: Money = NO_MONEY;
  realized: Money = NO_MONEY;

  setDeal(size: number, price: PriceTicks, fees: SideFees): void {
    this.lots = lots(size);
    this.priceTicks = price;
    this.fees = fees;
  }
}
