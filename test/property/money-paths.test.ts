/**
 * Fast paths for small amounts of money against the bigint paths, which are always valid.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NonceCells } from '../../src/engine/accounts/nonce-cells.ts';
import { NonceScope } from '../../src/engine/accounts/nonces.ts';
import { closedCost } from '../../src/engine/accounts/positions.ts';
import { Exposure } from '../../src/engine/accounts/subaccount.ts';
import { feeOfFill, feeOn } from '../../src/engine/accounts/fees.ts';
import {
  bigOf,
  ceilDivInt,
  ceilDivBig,
  doubleOf,
  floorDivBig,
  floorDivInt,
  floorTo,
} from '../../src/num/arithmetic.ts';
import { notional } from '../../src/num/notional.ts';
import { lots, marketId, ppm, priceTicks, quanta, subaccountId } from '../../src/num/units.ts';

const SEED = 77_123;
const RUNS = { seed: SEED, numRuns: 5000 };

/**
 * Integers of every magnitude, and neighbours of multiples, where a rounded quotient may be wrong.
 */
function integer(max: number): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: 0, max: Math.min(max, 1000) }),
    fc.integer({ min: 0, max: max }),
    fc
      .tuple(fc.nat(50), fc.integer({ min: -2, max: 2 }))
      .map(([power, by]) => Math.min(max, Math.max(0, 2 ** power + by))),
    fc.integer({ min: Math.max(0, max - 1000), max: max }),
  );
}
const signed = fc
  .tuple(integer(Number.MAX_SAFE_INTEGER), fc.boolean())
  .map(([size, negative]) => (negative ? 0 - size : size));
const divisor = integer(Number.MAX_SAFE_INTEGER).map((n) => Math.max(1, n));

test('conversions of bigints and doubles equal `Number` and `BigInt`', () => {
  const int64 = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    signed.map((n) => BigInt(n)),
    fc.bigInt({ min: 2n ** 53n - 9n, max: 2n ** 54n + 9n }),
  );
  fc.assert(
    fc.property(int64, signed, (big, number) => {
      expect(doubleOf(big)).toBe(Number(big));
      expect(bigOf(number)).toBe(BigInt(number));
    }),
    RUNS,
  );
});

test('division of safe integers equals that of bigints', () => {
  const one = (a: number, b: number): void => {
    expect(BigInt(floorDivInt(a, b))).toBe(floorDivBig(BigInt(a), BigInt(b)));
    expect(BigInt(ceilDivInt(a, b))).toBe(ceilDivBig(BigInt(a), BigInt(b)));
    const multiple = floorDivBig(BigInt(a), BigInt(b)) * BigInt(b);
    if (multiple >= -(2n ** 53n)) expect(BigInt(floorTo(a, b))).toBe(multiple);
  };
  fc.assert(fc.property(signed, divisor, one), RUNS);
  fc.assert(
    fc.property(integer(2 ** 26), integer(2 ** 26), fc.integer({ min: -1, max: 1 }), (a, b, by) => {
      one(a * Math.max(1, b) + by, Math.max(1, b));
    }),
    RUNS,
  );
});

test('R-8.1: a fee is computed on the whole notional, rounded against the user', () => {
  fc.assert(
    fc.property(
      integer(2 ** 40),
      integer(2 ** 31 - 1),
      integer(10_000),
      fc.integer({ min: -10_000, max: 10_000 }),
      (size, price, unit, rate) => {
        const value = notional(lots(size), priceTicks(price), unit);
        expect(feeOfFill(size, priceTicks(price), unit, ppm(rate))).toBe(feeOn(value, ppm(rate)));
      },
    ),
    RUNS,
  );
});

test('R-5.2: the cost of closed lots is ⌈cost × closed ÷ position⌉', () => {
  fc.assert(
    fc.property(signed, fc.nat(20), divisor, divisor, (cost, shift, position, part) => {
      const exposure = new Exposure(subaccountId(0), marketId(0));
      exposure.costQuanta = quanta(BigInt(cost) << BigInt(shift));
      exposure.positionLots = lots(position);
      const closed = (part % position) + 1;
      expect(closedCost(exposure, closed)).toBe(
        closed === position
          ? exposure.costQuanta
          : ceilDivBig(exposure.costQuanta * BigInt(closed), BigInt(position)),
      );
    }),
    RUNS,
  );
});

test('R-2.13: a window has the 1,024 highest nonces, and refuses nonces up to the highest dropped one', () => {
  const nonce = fc.oneof(
    fc.bigInt({ min: 0n, max: 3000n }),
    fc.bigInt({ min: 2n ** 31n - 1500n, max: 2n ** 31n + 1500n }),
    fc.bigInt({ min: 2n ** 32n - 1500n, max: 2n ** 32n + 1500n }),
    fc.bigInt({ min: 2n ** 63n - 3000n, max: 2n ** 63n - 1n }),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.option(fc.nat(2)), nonce), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 40 }),
      (uses, repeat) => {
        const scope = new NonceScope(new NonceCells());
        const model = new Map<number | null, { used: bigint[]; floor: bigint }>();
        for (const [delegate, first] of uses) {
          for (let i = 0; i < repeat; i++) {
            const nonce = first + BigInt(i);
            if (nonce >= 2n ** 63n) break;
            const own = model.get(delegate) ?? { used: [], floor: -1n };
            const known = [...model.values()].some(({ used }) => used.includes(nonce));
            const expected = known ? 'nonce_used' : nonce <= own.floor ? 'nonce_too_low' : null;
            expect(scope.check(delegate, nonce)?.code ?? null).toBe(expected);
            if (expected !== null) continue;
            scope.use(delegate, nonce);
            own.used.push(nonce);
            own.used.sort((a, b) => (a < b ? -1 : 1));
            if (own.used.length > 1024) {
              const dropped = own.used.shift() ?? -1n;
              if (dropped > own.floor) own.floor = dropped;
            }
            model.set(delegate, own);
          }
        }
      },
    ),
    { seed: SEED, numRuns: 60 },
  );
});
