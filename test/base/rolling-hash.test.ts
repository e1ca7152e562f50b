/**
 * A call of the chain hash with several values equals separate calls in the same order, also where
 * the count of words restarts in between.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RollingHash } from '../../src/base/rolling-hash.ts';

const SEED = 89;
/** The count restarts there. */
const CAPACITY = 1 << 14;

type Five = readonly [number, number, number, number, number];
type Step = (hash: RollingHash, ints: Five, numbers: Five) => void;

/** Each call, and the separate calls that it equals. */
const CALLS: Readonly<Record<string, readonly [Step, Step]>> = {
  intNum: [
    (hash, [u], [x]) => hash.intNum(u, x),
    (hash, [u], [x]) => {
      hash.int(u);
      hash.num(x);
    },
  ],
  ints: [
    (hash, [u, v, w]) => hash.ints(u, v, w),
    (hash, [u, v, w]) => {
      for (const word of [u, v, w]) hash.int(word);
    },
  ],
  nums: [
    (hash, _, [x, y]) => hash.nums(x, y),
    (hash, _, [x, y]) => {
      for (const number of [x, y]) hash.num(number);
    },
  ],
  bigints: [
    (hash, _, [x, y]) => hash.bigints(BigInt(x), BigInt(y)),
    (hash, _, [x, y]) => {
      for (const number of [x, y]) hash.bigint(BigInt(number));
    },
  ],
  intsNums: [
    (hash, [u, v, w], [x, y]) => hash.intsNums(u, v, w, x, y),
    (hash, [u, v, w], [x, y]) => {
      for (const word of [u, v, w]) hash.int(word);
      for (const number of [x, y]) hash.num(number);
    },
  ],
  intIntNum: [
    (hash, [u, v], [x]) => hash.intIntNum(u, v, x),
    (hash, [u, v], [x]) => {
      for (const word of [u, v]) hash.int(word);
      hash.num(x);
    },
  ],
  intNumTwice: [
    (hash, [u, v], [x, y]) => hash.intNumTwice(u, x, v, y),
    (hash, [u, v], [x, y]) => {
      hash.int(u);
      hash.num(x);
      hash.int(v);
      hash.num(y);
    },
  ],
  numsOfFive: [
    (hash, _, numbers) => hash.numsOfFive(...numbers),
    (hash, _, numbers) => {
      for (const number of numbers) hash.num(number);
    },
  ],
  words: [
    (hash, ints) => hash.words(Int32Array.from([7, ...ints, ...ints]), 1),
    (hash, ints) => {
      for (const word of [...ints, ...ints]) hash.int(word);
    },
  ],
};

const NAMES = Object.keys(CALLS);
const int32 = fc.integer();
const number = fc.oneof(fc.integer(), fc.maxSafeInteger());
const step = fc.record({
  name: fc.constantFrom(...NAMES),
  ints: fc.tuple(int32, int32, int32, int32, int32),
  numbers: fc.tuple(number, number, number, number, number),
});

test('a call with several values equals separate calls', () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(
      fc.oneof(fc.nat(3), fc.integer({ min: CAPACITY - 60, max: CAPACITY })),
      fc.array(step, { minLength: 1, maxLength: 12 }),
      (before, steps) => {
        const [together, apart] = [new RollingHash(), new RollingHash()];
        for (let i = 0; i < before; i++) for (const hash of [together, apart]) hash.int(i);
        for (const { name, ints, numbers } of steps) {
          const [call, calls] = CALLS[name] ?? [];
          call?.(together, ints, numbers);
          calls?.(apart, ints, numbers);
          reached.add(name);
        }
        for (const hash of [together, apart]) hash.commit();
        expect(together.hex()).toBe(apart.hex());
      },
    ),
    { seed: SEED, numRuns: 1000 },
  );
  expect([...reached].sort()).toEqual([...NAMES].sort());
});
