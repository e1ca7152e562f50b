/** The breadth-first search of `orrery exhaust`: its table, resumption, keys and checkpoints. */
import { expect, test } from 'vitest';
import { Checkpoint, type IsSameBytes } from '../../../src/fuzz/exhaust/checkpoint.ts';
import { comparePaths } from '../../../src/fuzz/exhaust/compare-paths.ts';
import { Expander, type ExhaustPlan } from '../../../src/fuzz/exhaust/expand.ts';
import { ExploredExchange } from '../../../src/fuzz/exhaust/explored-exchange.ts';
import { gatherBuffers } from '../../../src/fuzz/exhaust/gather-buffers.ts';
import { KeySet } from '../../../src/fuzz/exhaust/key-set.ts';
import { OPERATIONS } from '../../../src/fuzz/exhaust/operations.ts';
import { Search } from '../../../src/fuzz/exhaust/search.ts';
import { openingOf } from '../../../src/fuzz/exhaust/preparations.ts';
import { CONFIG } from '../../../src/fuzz/exhaust/setting.ts';
import { KEY_WORDS, StateKey } from '../../../src/fuzz/exhaust/state-key.ts';
import { Walk } from '../../../src/fuzz/exhaust/walk.ts';
import { operationsOf, WORLD_NAMES, type WorldName } from '../../../src/fuzz/exhaust/worlds.ts';

const plan = (changes: Partial<ExhaustPlan>): ExhaustPlan => ({
  world: 'small',
  depth: 2,
  oracleDepth: 0,
  samplePpm: 0,
  digest: false,
  ...changes,
});

function newSearch(expander: Expander): Search {
  return new Search(expander.plan, expander.rootKey());
}

/** Expands everything that is left, in order. */
function finish(search: Search, expander: Expander): Search {
  for (let batch = search.take(); batch !== null; batch = search.take()) {
    search.add(batch.from, expander.expand(batch));
  }
  return search;
}

function opened(world: WorldName): ExploredExchange {
  const exchange = new ExploredExchange(CONFIG);
  for (const command of openingOf(world)) expect(exchange.apply(command)).toBe('ok');
  exchange.holdLabels();
  return exchange;
}

test('the worlds have the states and edges that the rules give', () => {
  const tables = WORLD_NAMES.map((world) => {
    const expander = new Expander(plan({ world }));
    const { rows, failure } = finish(newSearch(expander), expander);
    expect(failure).toBeNull();
    return [
      world,
      ...rows.map(({ depth, states, edges, refused, unchanged }) =>
        [depth, states, edges, refused, unchanged].join(' '),
      ),
    ];
  });
  // Changes only with a rule: a changelog entry says which.
  expect(tables).toMatchInlineSnapshot(`
    [
      [
        "small",
        "1 26 29 2 1",
        "2 447 759 59 31",
      ],
      [
        "orders",
        "1 22 24 1 1",
        "2 407 537 23 24",
      ],
      [
        "risk",
        "1 22 25 1 1",
        "2 335 550 26 23",
      ],
      [
        "money",
        "1 20 25 5 0",
        "2 225 500 110 3",
      ],
      [
        "frozen",
        "1 18 22 3 0",
        "2 211 396 53 5",
      ],
      [
        "thin",
        "1 17 19 0 0",
        "2 232 328 3 4",
      ],
      [
        "vault",
        "1 18 20 1 1",
        "2 230 360 18 19",
      ],
      [
        "debt",
        "1 16 21 1 1",
        "2 155 336 21 18",
      ],
      [
        "legs",
        "1 14 17 0 2",
        "2 155 238 2 26",
      ],
      [
        "quiet",
        "1 15 17 0 0",
        "2 159 255 1 3",
      ],
      [
        "turns",
        "1 15 16 0 1",
        "2 158 240 2 15",
      ],
    ]
  `);
});

test('every edge of one operation passes the oracle, all invariants and a restored exchange', () => {
  for (const world of WORLD_NAMES) {
    const expander = new Expander(plan({ world, depth: 1, oracleDepth: 1 }));
    const { rows, failure, reached } = finish(newSearch(expander), expander);
    expect(failure).toBeNull();
    expect(rows[0]?.checked).toBe(rows[0]?.edges);
    expect(rows[0]?.edges).toBeGreaterThan(15);
    expect(reached.size).toBeGreaterThan(0);
  }
});

test('a sample of deeper states is checked', () => {
  const expander = new Expander(plan({ world: 'orders', samplePpm: 300_000 }));
  const { rows, failure } = finish(newSearch(expander), expander);
  expect(failure).toBeNull();
  const checked = rows[1]?.checked ?? 0;
  expect(checked).toBeGreaterThan(0);
  expect(checked).toBeLessThan(rows[1]?.edges ?? 0);
});

test('a resumed search, and results out of order, give the same table', () => {
  const expander = new Expander(plan({ world: 'money', digest: true }));
  const whole = finish(newSearch(expander), expander);

  const late = newSearch(expander);
  while (!late.isComplete) {
    const batches = [late.take(), late.take(), late.take()].filter((batch) => batch !== null);
    for (const batch of batches.reverse()) late.add(batch.from, expander.expand(batch));
  }
  expect(late.rows).toEqual(whole.rows);
  expect(late.digest).toBe(whole.digest);

  const first = newSearch(expander);
  const batch = first.take();
  if (batch !== null) first.add(batch.from, expander.expand(batch));
  // A batch that has no result yet is repeated.
  first.take();
  const { head, parts } = first.save();
  const second = newSearch(expander);
  second.load(JSON.parse(JSON.stringify(head)) as typeof head, parts);
  finish(second, expander);
  expect(second.rows).toEqual(whole.rows);
  expect(second.states).toBe(whole.states);
  expect(second.accepted).toEqual(whole.accepted);
});

test('keys are equal exactly where SHA-256 hashes of the state are', () => {
  const exchange = opened('small');
  const archive = new StateKey();
  const names = operationsOf('small');
  const walk = new Walk([exchange], (i) => {
    const command = OPERATIONS[names[i]!](exchange);
    if (command !== null) exchange.apply(command);
  });
  const hashOf = new Map<string, string>();
  const words = new Int32Array(KEY_WORDS);
  let edges = 0;
  for (let i = 0; i < names.length; i += 1) {
    for (let j = 0; j < names.length; j += 3) {
      walk.moveTo([i, j]);
      exchange.key(archive, words);
      const key = words.join();
      const hash = exchange.stateHash();
      expect(hashOf.get(key) ?? hash).toBe(hash);
      hashOf.set(key, hash);
      edges += 1;
    }
  }
  expect(new Set(hashOf.values()).size).toBe(hashOf.size);
  expect(hashOf.size).toBeLessThan(edges);
});

test('an edge has the key of its whole state, and the way back restores every byte', () => {
  for (const world of WORLD_NAMES) {
    const exchange = opened(world);
    const buffers = gatherBuffers(exchange, exchange.parts().owners);
    const bytes = (): readonly Buffer[] => buffers.map((of) => Buffer.from(of));
    const archive = new StateKey();
    const names = operationsOf(world);
    const step = (i: number): void => {
      const command = OPERATIONS[names[i]!](exchange);
      if (command !== null) exchange.apply(command);
    };
    const isSame: IsSameBytes = (one, other) => Buffer.compare(one, other) === 0;
    const walk = new Walk([exchange], step, exchange.parts, isSame);
    const key = new Int32Array(KEY_WORDS);
    const whole = new Int32Array(KEY_WORDS);
    let reused = 0;
    for (let i = 0; i < names.length; i += 1) {
      walk.moveTo([i, (i * 7) % names.length]);
      exchange.key(archive, key);
      const before = bytes().map((of) => Buffer.from(of));
      for (let j = 0; j < names.length; j += 1) {
        step(j);
        walk.current.scan();
        exchange.key(archive, key, walk.current);
        exchange.key(new StateKey(), whole);
        expect(`${names[i]!} ${names[j]!} ${key.join()}`).toBe(
          `${names[i]!} ${names[j]!} ${whole.join()}`,
        );
        if (exchange.parts().objects.some((part) => !walk.current.isChanged(part))) reused += 1;
        walk.current.restoreScanned();
        if (bytes().some((now, n) => !now.equals(before[n]!))) throw new Error(names[j]);
      }
    }
    expect(reused).toBeGreaterThan(100);
    // The planted fault: changes that are not seen.
    walk.moveTo([]);
    exchange.key(archive, key);
    step(0);
    exchange.key(archive, key, { isChanged: () => false });
    exchange.key(new StateKey(), whole);
    expect(key.join()).not.toBe(whole.join());
  }
});

test('states of equal key continue alike, and states that differ are reported', () => {
  const expander = new Expander(plan({}));
  const { rows } = finish(newSearch(expander), expander);
  expect(rows[1]?.compared).toBeGreaterThan(0);
  const names = operationsOf('small');
  const [rises, deposits, buys] = ['xRises', 'annDeposits', 'annBuys'].map((name) =>
    names.indexOf(name as (typeof names)[number]),
  ) as [number, number, number];
  // A deposit and a price commute; a deposit and a refused order do not.
  expect(expander.compare([rises, deposits], [deposits, rises])).toBeNull();
  expect(expander.compare([rises, deposits], [deposits, buys])).toMatchObject({
    invariant: 'mergedStates',
    detail: expect.stringContaining('the state') as string,
  });
});

test('a continuation that depends on something outside the key is reported', () => {
  const exchange = opened('small');
  const archive = new StateKey();
  const names = operationsOf('small');
  let applied = 0;
  const walk = new Walk([exchange], (i) => {
    applied = i;
    // No operation: both paths lead to the state of the opening.
  });
  const original = exchange.apply.bind(exchange);
  // The planted fault: a variable beside the state decides an outcome.
  exchange.apply = (command, emit) =>
    applied === 1 && command.kind === 'deposit'
      ? original({ kind: 'advanceTime', timeUs: command.timeUs }, emit)
      : original(command, emit);
  const compared = { walk, exchange, archive, operations: names };
  expect(comparePaths(compared, [0], [0])).toBeNull();
  expect(comparePaths(compared, [0], [1])).toMatchObject({
    invariant: 'mergedStates',
    detail: expect.stringContaining('the continuation annDeposits') as string,
  });
});

test('a checkpoint restores an exchange byte by byte', () => {
  const exchange = opened('small');
  const names = operationsOf('risk');
  const step = (i: number): void => {
    const command = OPERATIONS[names[i % names.length]!](exchange);
    if (command !== null) exchange.apply(command);
  };
  for (let i = 0; i < names.length; i += 2) {
    step(i);
    const checkpoint = new Checkpoint([exchange]);
    const before = [exchange.snapshot(), exchange.nextTimerUs(), exchange.chainHash()];
    for (let j = 0; j < 6; j += 1) step(i * 5 + j * 3 + 1);
    checkpoint.restore();
    expect([exchange.snapshot(), exchange.nextTimerUs(), exchange.chainHash()]).toEqual(before);
    expect(exchange.checkInvariants()).toEqual([]);
  }
});

test('another byte of a scanned part is seen, whichever way bytes are compared', () => {
  const isSeen = (isSameBytes?: IsSameBytes): boolean => {
    const part = { rows: new Int32Array(4) };
    const parts = { objects: [part], scanned: [part], owners: [part] };
    const checkpoint = new Checkpoint([{ part }], parts, null, isSameBytes);
    part.rows[2] = 7;
    checkpoint.scan();
    const isChanged = checkpoint.isChanged(part);
    checkpoint.restoreScanned();
    return isChanged && part.rows[2] === 0;
  };
  expect(isSeen()).toBe(true);
  expect(isSeen((a, b) => Buffer.compare(a, b) === 0)).toBe(true);
  // The planted fault: a comparison that sees nothing.
  expect(isSeen(() => true)).toBe(false);
});

test('a checkpoint restores maps in order, sets, arrays, buffers and cycles', () => {
  const root = {
    list: [1, 2, 3],
    map: new Map<string, object>([
      ['a', { n: 1 }],
      ['b', { n: 2 }],
    ]),
    set: new Set([5, 6]),
    bytes: new Uint8Array(8),
    text: 'x',
    self: null as unknown,
  };
  root.self = root;
  const shared = new Float64Array(root.bytes.buffer);
  const checkpoint = new Checkpoint([root, shared]);
  const a = root.map.get('a') as { n: number };
  const { map } = root;
  a.n = 7;
  root.map.delete('a');
  root.map.set('c', {});
  root.map.set('a', a);
  root.set.clear();
  root.list.push(4);
  root.list[0] = 9;
  shared[0] = 1.5;
  root.text = 'y';
  root.map = new Map();
  checkpoint.restore();
  expect(root.map).toBe(map);
  expect([...root.map.keys()]).toEqual(['a', 'b']);
  expect(a.n).toBe(1);
  expect([...root.set]).toEqual([5, 6]);
  expect(root.list).toEqual([1, 2, 3]);
  expect([...root.bytes]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(root.text).toBe('x');
  expect(() => new Checkpoint([{ weak: new WeakMap() }])).toThrow('weak collections');
});

test('a set of keys has each key once, through growth, the key of zeros included', () => {
  const set = new KeySet();
  const key = (i: number): Int32Array => new Int32Array([i & 3, i, 0, 0]);
  const numbers = Array.from({ length: 800 }, (_, i) => i);
  expect(numbers.every((i) => set.add(key(i)))).toBe(true);
  expect(numbers.some((i) => set.add(key(i)))).toBe(false);
  expect(set.size).toBe(800);
  const words = set.words();
  const copy = new KeySet();
  expect(numbers.every((i) => copy.add(words, i * KEY_WORDS))).toBe(true);
  expect(copy.size).toBe(800);
  set.clear();
  expect(set.size).toBe(0);
  expect(set.add(key(0))).toBe(true);
});
