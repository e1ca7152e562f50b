/** Fees of a fill, and their distribution. */
import { roundedDown, roundedUp } from './numbers.ts';
import {
  book,
  INSURANCE,
  subOf,
  TREASURY,
  VAULT,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

export interface Fees {
  readonly protocol: bigint;
  readonly originator: bigint;
  /** To insurance, for an engine order. */
  readonly liquidation: bigint;
}

export const NO_FEES: Fees = { protocol: 0n, originator: 0n, liquidation: 0n };
export const allOf = ({ protocol, originator, liquidation }: Fees): bigint =>
  protocol + originator + liquidation;

/** fees round up; so do rebates, which are negative, toward zero. */
export function feesOf(
  market: Market,
  order: Order,
  role: 'maker' | 'taker',
  size: bigint,
  price: bigint,
): Fees {
  const value = size * price * market.unit;
  return {
    protocol: roundedUp(value, market.rates[role]),
    originator: order.originatorFee.isZero() ? 0n : roundedUp(value, order.originatorFee),
    liquidation: 0n,
  };
}

/** Distributes the net protocol fee; the fee of an engine order goes to insurance. */
export function handOut(world: World, maker: Fees, taker: Sub, paid: Fees): void {
  book(world, subOf(world, INSURANCE), paid.liquidation, 'liquidationFee');
  const net = maker.protocol + paid.protocol;
  if (net < 0n) {
    // D-14: if a house taker pays no fee while its maker earns a rebate, the house pays that.
    book(world, taker, net, 'fee');
    return;
  }
  const vault = roundedDown(net, world.rates.vaultShare);
  const insurance = roundedDown(net, world.rates.insuranceShare);
  book(world, subOf(world, VAULT), vault, 'feeShare');
  book(world, subOf(world, INSURANCE), insurance, 'feeShare');
  book(world, subOf(world, TREASURY), net - vault - insurance, 'feeShare');
}
