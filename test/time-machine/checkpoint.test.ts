import { expect, it } from 'vitest';
import { Checkpoint } from '../../src/time-machine/what-if/checkpoint.ts';

class Node {
  count = 1;
  readonly zero = -0;
  nothing: number | null = null;
  readonly bytes = new Float64Array([1, 2, 3]);
  readonly sameBytes = new Uint8Array(this.bytes.buffer);
  list: unknown[] = [1n, 'a', { deep: true }];
  readonly holes: unknown[] = [];
  readonly map = new Map<unknown, unknown>([
    ['a', { of: 1 }],
    ['b', 2],
  ]);
  readonly set = new Set<unknown>([1, 2]);
  other: Node | null = null;

  constructor() {
    this.holes[2] = 'third';
  }
}

const node = (): Node => {
  const made = new Node();
  made.other = new Node();
  made.other.other = made;
  return made;
};

const CHANGES: readonly (readonly [string, (node: Node) => void])[] = [
  ['a property', (of) => (of.count = 2)],
  ['a sign of zero', (of) => Object.assign(of, { zero: 0 })],
  ['a null', (of) => (of.nothing = Number.NaN)],
  ['an element', (of) => (of.list[0] = 2n)],
  ['a longer list', (of) => of.list.push(1)],
  ['a shorter list', (of) => of.list.splice(0, 2)],
  ['a hole', (of) => (of.holes[0] = 1)],
  ['an object in a list', (of) => ((of.list[2] as { deep: boolean }).deep = false)],
  ['another list', (of) => (of.list = [])],
  ['a byte', (of) => (of.sameBytes[0] = 7)],
  ['a number in bytes', (of) => (of.bytes[2] = 9)],
  ['an entry', (of) => of.map.set('a', 3)],
  ['an object in an entry', (of) => ((of.map.get('a') as { of: number }).of = 5)],
  ['one more entry', (of) => of.map.set('c', 3)],
  ['one entry less', (of) => of.map.delete('b')],
  ['the order of entries', (of) => of.map.delete('a') && of.map.set('a', 1)],
  ['one more value', (of) => of.set.add(3)],
  ['the order of values', (of) => of.set.delete(1) && of.set.add(1)],
  ['another object', (of) => (of.other = Object.assign(new Node(), { count: 3 }))],
  ['an object at a distance', (of) => (of.other!.count = 5)],
];

it.each(CHANGES)('takes back %s', (_name, change) => {
  const [changed, expected] = [node(), node()];
  const checkpoint = new Checkpoint(changed);
  for (let i = 0; i < 2; i++) {
    change(changed);
    expect(contentOf(changed)).not.toEqual(contentOf(expected));
    checkpoint.rewind();
    expect(contentOf(changed)).toEqual(contentOf(expected));
    expect(changed.other?.other).toBe(changed);
  }
});

const fieldsOf = (of: Node): Record<string, unknown> => Object.fromEntries(Object.entries(of));

/** With the order of entries, and the sign of zeros. */
const contentOf = (of: Node) => ({
  ...fieldsOf(of),
  other: of.other === null ? null : { ...fieldsOf(of.other), other: null },
  map: [...of.map],
  set: [...of.set],
  isNegative: Object.is(of.zero, -0),
});

it('refuses a function, which may hide state', () => {
  expect(() => new Checkpoint({ deep: [() => 1] })).toThrow('a function may hide state');
});

it('leaves a frozen object alone, and takes back what it refers to', () => {
  const frozen = Object.freeze({ list: [1] });
  const checkpoint = new Checkpoint({ frozen });
  frozen.list.push(2);
  checkpoint.rewind();
  expect(frozen.list).toEqual([1]);
});
