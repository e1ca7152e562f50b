/**
 * The only conversion from ticks × lots to money.
 *
 * notional = lots × ticks × quantaPerTickLot, exact: listing makes the last factor an integer and
 * bounds the product of one order below 2^63. Nothing is rounded, so neither side loses.
 *
 * Cost: one bigint if the product is below 2^53 and thus exact in a double; three otherwise.
 */
import { bigOf } from './arithmetic.ts';
import { PPM, quanta, type Lots, type Ppm, type PriceTicks, type Quanta } from './units.ts';

/** Signed by `lots`. */
export function notional(lots: Lots, price: PriceTicks, quantaPerTickLot: number): Quanta {
  const product = lots * price * quantaPerTickLot;
  if (Number.isSafeInteger(product)) return quanta(bigOf(product));
  return quanta(BigInt(lots) * BigInt(price) * BigInt(quantaPerTickLot));
}

const BIG_PPM = BigInt(PPM);

/** A fraction of an amount, rounded toward plus infinity: for amounts that a user pays or holds. */
export function ppmOfCeil(amount: Quanta, rate: Ppm): Quanta {
  const product = amount * BigInt(rate);
  const quotient = product / BIG_PPM;
  return quanta(quotient * BIG_PPM < product ? quotient + 1n : quotient);
}
