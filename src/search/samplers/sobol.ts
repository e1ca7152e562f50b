/**
 * Sobol low-discrepancy sequence. Direction numbers of Joe and Kuo (new-joe-kuo-6, 2008), in
 * Gray-code order (Antonov and Saleev).
 */
import type { RandomStream } from '../../virtual-time/rng.ts';
import { SearchError } from './space.ts';

/**
 * Degree s, coefficients a and the first s odd numbers m of the primitive polynomials of dimensions
 * 2, 3, …
 */
const DIRECTIONS: readonly (readonly [number, number, readonly number[]])[] = [
  [1, 0, [1]],
  [2, 1, [1, 3]],
  [3, 1, [1, 3, 1]],
  [3, 2, [1, 1, 1]],
  [4, 1, [1, 1, 3, 3]],
  [4, 4, [1, 3, 5, 13]],
  [5, 2, [1, 1, 5, 5, 17]],
  [5, 4, [1, 1, 5, 5, 5]],
  [5, 7, [1, 1, 7, 11, 19]],
  [5, 11, [1, 1, 5, 1, 1]],
  [5, 13, [1, 1, 1, 3, 11]],
  [5, 14, [1, 3, 5, 5, 31]],
  [6, 1, [1, 3, 3, 9, 7, 49]],
  [6, 13, [1, 1, 1, 15, 21, 21]],
  [6, 16, [1, 3, 1, 13, 27, 49]],
  [6, 19, [1, 1, 1, 15, 7, 5]],
  [6, 22, [1, 3, 1, 15, 13, 25]],
  [6, 25, [1, 1, 5, 5, 19, 61]],
  [7, 1, [1, 3, 7, 11, 23, 15, 103]],
];
const BITS = 32;
export const MAX_SOBOL_DIMENSIONS = DIRECTIONS.length + 1;

/**
 * Infinite sequence of points in [0, 1)^dimensions. With a stream, each dimension gets a random
 * digital shift (XOR), which preserves uniformity and moves the first point from the corner.
 */
export function* sobol(dimensions: number, shift: RandomStream | null): Generator<number[]> {
  if (dimensions < 1 || dimensions > MAX_SOBOL_DIMENSIONS) {
    throw new SearchError(
      `${dimensions} dimensions; a Sobol search has 1 to ${MAX_SOBOL_DIMENSIONS}`,
    );
  }
  const columns = Array.from({ length: dimensions }, (_, i) => directionsOf(i));
  const state = columns.map(() => (shift === null ? 0 : shift.below(2 ** 32) >>> 0));
  for (let index = 0; ; index++) {
    yield state.map((bits) => bits / 2 ** 32);
    const bit = lowestZero(index);
    columns.forEach((column, i) => {
      state[i] = ((state[i] ?? 0) ^ (column[bit] ?? 0)) >>> 0;
    });
  }
}

/** The 32 direction numbers of a dimension, as 32-bit fractions. */
function directionsOf(dimension: number): number[] {
  const entry = DIRECTIONS[dimension - 1];
  if (entry === undefined) return Array.from({ length: BITS }, (_, i) => (1 << (31 - i)) >>> 0);
  const [degree, coefficients, first] = entry;
  const numbers = first.map((m, i) => (m << (31 - i)) >>> 0);
  for (let i = degree; i < BITS; i++) {
    const before = numbers[i - degree] ?? 0;
    let next = before ^ (before >>> degree);
    for (let k = 1; k < degree; k++) {
      if (((coefficients >> (degree - 1 - k)) & 1) === 1) next ^= numbers[i - k] ?? 0;
    }
    numbers.push(next >>> 0);
  }
  return numbers;
}

/** Position of the lowest zero bit. */
function lowestZero(value: number): number {
  let position = 0;
  for (let rest = value; (rest & 1) === 1; rest >>>= 1) position += 1;
  return position;
}
