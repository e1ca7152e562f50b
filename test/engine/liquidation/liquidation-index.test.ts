/** The bounds of positions against a plain list: which ones a mark has passed. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Exposure } from '../../../src/engine/accounts/subaccount.ts';
import { LiquidationIndex } from '../../../src/engine/liquidation/liquidation-index.ts';
import { lots, marketId, subaccountId } from '../../../src/num/units.ts';

const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'turn', 'remove', 'mark'),
  which: fc.nat(29),
  ticks: fc.integer({ min: -20, max: 20 }),
});

interface Bound {
  readonly exposure: Exposure;
  readonly long: boolean;
  readonly ticks: number;
}

const isPassed = ({ long, ticks }: Bound, mark: number): boolean =>
  long ? mark < ticks : mark > ticks;

/** The widest range without danger. */
function rangeOf(bounds: readonly Bound[]): readonly [number, number] {
  const of = (long: boolean): number[] =>
    bounds.filter((bound) => bound.long === long).map(({ ticks }) => ticks);
  return [Math.max(...of(true)), Math.min(...of(false))];
}

test('a mark takes the positions whose bound it has passed, the nearest bound first', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const index = new LiquidationIndex();
      const exposures = Array.from({ length: 30 }, (_, i) => exposureOf(i));
      const bounds = new Map<Exposure, Bound>();
      const drop = (exposure: Exposure): void => {
        index.remove(exposure);
        bounds.delete(exposure);
      };
      for (const { kind, which, ticks } of steps) {
        const exposure = exposures[which]!;
        if (kind === 'turn') exposure.positionLots = lots(-exposure.positionLots);
        if (kind === 'put' || kind === 'turn') {
          const long = exposure.positionLots > 0;
          // Longs are in danger below, shorts above.
          index.put(exposure, 1000 + ticks);
          bounds.set(exposure, { exposure, long, ticks: 1000 + ticks });
        } else if (kind === 'remove') drop(exposure);
        else {
          const mark = 1000 + ticks;
          const passed = [...bounds.values()].filter((bound) => isPassed(bound, mark));
          const taken: Bound[] = [];
          for (;;) {
            const next = index.takeEndangered(mark);
            if (next === undefined) break;
            taken.push(bounds.get(next)!);
            bounds.delete(next);
          }
          expect(new Set(taken)).toEqual(new Set(passed));
          const longs = taken.filter(({ long }) => long).map((bound) => bound.ticks);
          const shorts = taken.filter(({ long }) => !long).map((bound) => bound.ticks);
          expect(longs).toEqual(longs.toSorted((a, b) => b - a));
          expect(shorts).toEqual(shorts.toSorted((a, b) => a - b));
        }
        expect([index.safeFrom, index.safeTo]).toEqual(rangeOf([...bounds.values()]));
      }
    }),
    { numRuns: 400 },
  );
});

test('a position at its bound is safe', () => {
  const index = new LiquidationIndex();
  const [long, short] = [exposureOf(0), exposureOf(1)];
  index.put(long, 990);
  index.put(short, 1010);
  expect(index.takeEndangered(990)).toBeUndefined();
  expect(index.takeEndangered(1010)).toBeUndefined();
  expect(index.takeEndangered(989)).toBe(long);
  expect(index.takeEndangered(1011)).toBe(short);
  expect([index.safeFrom, index.safeTo]).toEqual([-Infinity, Infinity]);
});

/** A long of an even number, or a short. */
function exposureOf(i: number): Exposure {
  const exposure = new Exposure(subaccountId(i), marketId(0));
  exposure.positionLots = lots(i % 2 === 0 ? 1 : -1);
  return exposure;
}
