import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdIndex } from '../../src/engine/book/id-index.ts';

const SEED = 87;
/** Distances between ids: neighbours, other blocks, and blocks whose number exceeds 32 bits. */
const distance = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 2, arbitrary: fc.integer({ min: 4, max: 3000 }) },
  { weight: 1, arbitrary: fc.constantFrom(2 ** 31, 2 ** 36, 2 ** 40) },
);
const step = fc.record({ distance, removes: fc.nat(3), place: fc.nat() });

test('an index of ids finds what a map finds', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 400 }), fc.nat(40), (steps, rooms) => {
      const index = new IdIndex();
      const model = new Map<number, number>();
      if (rooms > 20) index.reserve(rooms * 100);
      let id = 0;
      for (const [slot, { distance: by, removes, place }] of steps.entries()) {
        id += by;
        index.add(id, slot);
        model.set(id, slot);
        for (let i = 0; i < removes && model.size > 0; i++) {
          const gone = [...model.keys()][(place + i) % model.size] ?? 0;
          index.remove(gone);
          model.delete(gone);
          expect(index.find(gone)).toBe(-1);
        }
        expect(index.find(id)).toBe(model.get(id) ?? -1);
        expect(index.count).toBe(model.size);
      }
      for (const [key, slot] of model) {
        expect(index.find(key)).toBe(slot);
        for (const near of [key - 1, key + 1, key + 64 * 2 ** 32]) {
          expect(index.find(near)).toBe(model.get(near) ?? -1);
        }
        for (const no of [-key, key + 0.5]) expect(index.find(no)).toBe(-1);
      }
      for (const no of [NaN, Infinity, -1, -16]) expect(index.find(no)).toBe(-1);
    }),
    { seed: SEED, numRuns: 150 },
  );
});

test('an index of ids refuses a second slot of an id, and an id that it does not have', () => {
  const index = new IdIndex();
  index.add(5, 1);
  expect(() => {
    index.add(5, 2);
  }).toThrow('an id has one slot');
  expect(() => {
    index.remove(6);
  }).toThrow('the id is in the index');
  index.remove(5);
  expect(() => {
    index.remove(5);
  }).toThrow('the id is in the index');
});
