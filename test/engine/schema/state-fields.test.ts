/**
 * Every field of state reaches the state hash and survives a snapshot, or is named below with its
 * reason. The objects of rich states are walked, so that a new field which is not archived is
 * found.
 */
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ArchiveReader } from '../../../src/base/archive.ts';
import { must } from '../../../src/base/assert.ts';
import { ExchangeState } from '../../../src/engine/exchange-state.ts';
import type { Credits } from '../../../src/engine/tape/credits.ts';
import { Market } from '../../../src/engine/market/market.ts';
import { restoreState, snapshotOf, stateHashOf } from '../../../src/engine/snapshot/snapshot.ts';
import { drawProfile } from '../../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../../src/fuzz/fuzz-run.ts';
import { PROFILE_NAMES, type ProfileName } from '../../../src/fuzz/profile.ts';
import { SPEC } from './command-examples.ts';

/**
 * Indexes and columns: what they hold is changed in the archive itself, and in the rows of orders.
 */
const STORAGE = new Set([
  ...['EndedOrders', 'OrderBook', 'SlotIndex', 'TimerHeap', 'NonceCells', 'Holders'],
  ...['LiquidationIndex', 'PriceSums', 'PriceTriggers', 'TrailingIndex', 'RollingHash'],
  'Credits',
  ...['TradeHistory', 'Candles', 'Recent'],
]);

/** Fields outside the state hash. */
const LEFT_OUT = new Set([
  // History, which decides no command.
  ...[
    'Account.endedOrders',
    'Account.endedOrdersCut',
    'Market.bookSeq',
    'ExchangeState.operatorLog',
  ],
  // Figures of a report.
  ...['TapeLevels.taken.restated', 'TapeBook.divergedLots', 'TapeBook.divergedLevels'],
  'ExchangeState.config.retention',
  // The place in the journal, and places in lists.
  ...['ExchangeState.seq', 'Account.id', 'Subaccount.id', 'Exposure.subaccount', 'Market.id'],
  // Derived from what is archived.
  ...[
    'ExchangeState.samplingKey',
    'ExchangeState.marketBySymbol',
    'Account.subaccounts',
    'TapeBook.orders',
    'RowValues.size',
  ],
  ...['ExchangeState.expiring', 'MarketTimers.earliestUs', 'Subaccount.exposureCount'],
  ...['Subaccount.margin', 'Subaccount.sumsOrders'],
  ...['Exposure.closing', 'Exposure.orders', 'Exposure.part', 'Exposure.resting'],
  ...['Subaccount.latest', 'Subaccount.orderCount', 'Subaccount.riskCheckPending'],
  ...['Subaccount.waitsForThaw'],
  ...['Exposure.highestBid', 'Exposure.highestPrice', 'Exposure.lowestAsk'],
  ...['Exposure.safePlace', 'Exposure.safeSide', 'Exposure.safeTicks', 'Market.seenChanges'],
  ...['Market.highestInitialPpm', 'Market.highestMaintenancePpm', 'Market.lowestMaintenancePpm'],
  ...['Market.frozenAtCheck', 'Market.tested'],
  ...['NonceScope.topHigh', 'NonceScope.topLow', 'NonceWindow.topHigh', 'NonceWindow.topLow'],
  // Sums of the samples, and a reach of them.
  ...['SquareRoot.squares', 'SquareRoot.volume', 'SquareRoot.reachNow'],
]);
/** Follow from the market's half-life and the clock; a change ages volume that is archived. */
const AGES = new Set(['SquareRoot.stepUs', 'SquareRoot.step']);
/** Places in memory: which nonces they hold is archived. */
const RINGS = new Set(
  ['NonceScope', 'NonceWindow'].flatMap((name) => [
    `${name}.mask`,
    `${name}.place`,
    `${name}.start`,
  ]),
);
/** Changed alone these contradict the rest of the state: loading fails, or recomputes them. */
const IDENTITY = new Set([
  ...['Account.address', 'Subaccount.account', 'Subaccount.index', 'Subaccount.role'],
  ...[
    'Exposure.market',
    'ExchangeState.config.clsAccount',
    'ExchangeState.config.insuranceAccount',
  ],
  ...['ExchangeState.config.shortfallAccount', 'ExchangeState.config.treasuryAccount'],
]);
const REF = { orderId: 1, nonce: 1n, attached: 'no' };
/** Values of a field whose type does not say them. */
const OTHERS: Readonly<Record<string, readonly unknown[]>> = {
  'Market.status': ['postOnly', 'halted'],
  'Market.nextSpec': [SPEC],
  'Account.signers': [['0x1', '0x2']],
  'Special.attached': ['takeProfit', 'stopLoss'],
  'Special.group': [REF],
  'Special.group.attached': ['takeProfit', 'stopLoss'],
  'Special.sibling': [REF],
  'Special.sibling.attached': ['takeProfit', 'stopLoss'],
  'Special.parent': [REF],
  'Special.parent.attached': ['takeProfit', 'stopLoss'],
};

/** The archive restores a state without the context of a command. */
const restored = (bytes: Uint8Array): ExchangeState =>
  restoreState(bytes, (config) => new ExchangeState(config));

type Key = string | number;
interface Leaf {
  /** `Market.lastTicks`: class and field. */
  readonly name: string;
  readonly path: readonly Key[];
  readonly value: unknown;
}

/**
 * Numbers, texts and nulls of the objects that the state holds: of each field a few, telling ones
 * first.
 */
function leavesOf(state: ExchangeState): Leaf[] {
  const leaves = new Map<string, Leaf[]>();
  const seen = new Set<object>();
  const visit = (value: unknown, name: string, path: readonly Key[]): void => {
    if (typeof value === 'function' || value === undefined || value instanceof Set) return;
    if (typeof value !== 'object' || value === null) {
      const known = leaves.get(name) ?? [];
      const telling = known.filter((leaf) => !isDull(leaf.value));
      if (telling.length < 3) leaves.set(name, [...telling, { name, path, value }]);
      return;
    }
    const { name: className } = value.constructor;
    if (seen.has(value) || ArrayBuffer.isView(value) || STORAGE.has(className)) return;
    seen.add(value);
    const isPlain = ['Array', 'Map', 'Object'].includes(className);
    for (const [key, inner] of childrenOf(value)) {
      const isItem = Array.isArray(value) || value instanceof Map;
      visit(inner, isItem ? name : `${isPlain ? name : className}.${key}`, [...path, key]);
    }
  };
  visit(state, 'ExchangeState', []);
  return [...leaves.values()].flat();
}

const isDull = (value: unknown): boolean =>
  value === null || value === 0 || value === 0n || value === false || value === '';

/** Of the table of orders only what few orders have: rows are changed by themselves. */
function childrenOf(value: object): [Key, unknown][] {
  if (value instanceof Map) return [...value.values()].map((item, i) => [i, item as unknown]);
  if (value.constructor.name !== 'OrderTable') return Object.entries(value);
  return Object.entries(value).filter(([key]) => key === 'extras');
}

function read(state: ExchangeState, path: readonly Key[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (value instanceof Map) return [...(value.values() as Iterable<unknown>)][Number(key)];
    return (value as Row | null)?.[key];
  }, state);
}

function write(state: ExchangeState, path: readonly Key[], value: unknown): void {
  const owner = read(state, path.slice(0, -1));
  const key = path.at(-1) ?? '';
  if (!(owner instanceof Map)) (owner as Row)[key] = value;
  else owner.set([...(owner.keys() as Iterable<unknown>)][Number(key)], value);
}
type Row = Record<Key, unknown>;

function changedValues({ name, value }: Leaf): readonly unknown[] {
  const others = OTHERS[name];
  if (others !== undefined) return others.filter((other) => other !== value);
  switch (typeof value) {
    case 'number':
      return value === Infinity ? [2 ** 50] : [value + 1, value - 1];
    case 'bigint':
      return [value + 1n];
    case 'boolean':
      return [!value];
    case 'string':
      return [`${value}1`];
    default:
      return [1, 1n, 'x'];
  }
}

interface Verdict {
  /** The hash changed, or the archive refused the value. */
  reached: boolean;
  hashed: boolean;
  /** The changed value is there again after a snapshot was taken and loaded. */
  survived: boolean;
}

/** Each field of these states, changed in a state restored for it alone. */
function examineFields(
  worlds: readonly Uint8Array[],
  isExamined = (_name: string): boolean => true,
): Map<string, Verdict> {
  const verdicts = new Map<string, Verdict>();
  const firstWorld = new Map<string, number>();
  for (const [i, bytes] of worlds.entries()) {
    const base = stateHashOf(restored(bytes));
    for (const leaf of leavesOf(restored(bytes))) {
      const known = verdicts.get(leaf.name);
      const isLeftOut = isIn(LEFT_OUT, leaf.name);
      if (!isExamined(leaf.name) || known?.survived === true) continue;
      if (known?.reached === true && IDENTITY.has(leaf.name)) continue;
      if (isLeftOut && (firstWorld.get(leaf.name) ?? i) !== i) continue;
      firstWorld.set(leaf.name, i);
      const verdict = verdicts.get(leaf.name) ?? { reached: false, hashed: false, survived: false };
      verdicts.set(leaf.name, verdict);
      for (const value of changedValues(leaf)) examineChange(bytes, base, leaf, value, verdict);
    }
  }
  return verdicts;
}

function examineChange(
  bytes: Uint8Array,
  base: string,
  { path }: Leaf,
  value: unknown,
  verdict: Verdict,
): void {
  const state = restored(bytes);
  write(state, path, value);
  try {
    const hash = stateHashOf(state);
    if (hash === base) return;
    verdict.reached = true;
    verdict.hashed = true;
    const again = restored(snapshotOf(state));
    if (stateHashOf(again) !== hash) return;
    expect(read(again, path) ?? null).toEqual(value);
    verdict.survived = true;
  } catch {
    verdict.reached = true;
  }
}

/** Names and what begins with them. */
const isIn = (names: ReadonlySet<string>, name: string): boolean =>
  names.has(name) || [...names].some((known) => name.startsWith(`${known}.`));

/** The first of seeded runs on recordings whose end is like this. */
function tapeWorld(isSought: (state: ExchangeState) => boolean): Uint8Array {
  for (let seed = 0; seed < 100; seed++) {
    const profile = drawProfile(`credit ${String(seed)}`, { name: 'tape', commands: 200 });
    const bytes = runFuzz(profile, { after: () => null }).engine.snapshot();
    if (isSought(restored(bytes))) return bytes;
  }
  throw new Error('no run of the profile `tape` ends so');
}

/** Ends with lots that a late trade can claim. */
const creditedWorld = (): Uint8Array => tapeWorld((state) => creditsOf(state) !== undefined);

/** Credits of one side of a market, where some are alive. */
function creditsOf(state: ExchangeState): Credits | undefined {
  return state.markets
    .flatMap(({ tape }) => [tape.credits(1), tape.credits(-1)])
    .find((credits) => credits.alive(state.nowUs).length > 0);
}

let worlds: Uint8Array[] = [];
beforeAll(() => {
  // The slowest last: fields that were found in one world are passed over in the next.
  const worldOf = (seed: string, name: ProfileName): Uint8Array =>
    runFuzz(drawProfile(seed, { name, commands: 400 }), { after: () => null }).engine.snapshot();
  worlds = [...PROFILE_NAMES].reverse().map((name) => worldOf('w', name));
  // Ends with recorded orders.
  worlds.push(tapeWorld(({ markets }) => markets.some(({ tape }) => tape.orders.size > 0)));
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('every field of the objects of state', () => {
  test('reaches the state hash and survives a snapshot, or is left out for a reason', () => {
    const verdicts = examineFields(worlds);
    const names = [...verdicts.keys()].filter((name) => !RINGS.has(name) && !AGES.has(name));
    const hashed = names.filter((name) => !isIn(LEFT_OUT, name));
    expect(hashed.length).toBeGreaterThan(150);
    expect(hashed.filter((name) => verdicts.get(name)?.reached === false)).toEqual([]);
    const lost = hashed.filter((name) => {
      const verdict = verdicts.get(name);
      return verdict?.hashed === true && !verdict.survived;
    });
    expect(lost.filter((name) => !IDENTITY.has(name))).toEqual([]);
    // What is left out is, and is there.
    const left = names.filter((name) => isIn(LEFT_OUT, name));
    expect(left.filter((name) => verdicts.get(name)?.reached === true)).toEqual([]);
    const there = (known: string): boolean => left.some((name) => isIn(new Set([known]), name));
    expect([...LEFT_OUT].filter((known) => !there(known))).toEqual([]);
  }, 120_000);

  test.each(['insurancePaid', 'fundingRatePpb', 'lastTicks'] as const)(
    'a market that does not archive %s is found',
    (field) => {
      const whole = Reflect.get(Market.prototype, 'archive');
      const nothing = field === 'insurancePaid' ? 0n : 0;
      vi.spyOn(Market.prototype, 'archive').mockImplementation(function (this: Market, io, nowUs) {
        const saved: unknown = this[field];
        Object.assign(this, { [field]: nothing });
        whole.call(this, io, nowUs);
        Object.assign(this, { [field]: saved });
      });
      const verdicts = examineFields(worlds.slice(0, 1), (name) => name.startsWith('Market.'));
      const unreached = [...verdicts]
        .filter(([name, { reached }]) => !reached && !isIn(LEFT_OUT, name) && !RINGS.has(name))
        .map(([name]) => name);
      expect(unreached).toContain(`Market.${field}`);
    },
  );
});

/**
 * The columns of a row of orders (engine/book/order-rows): doubles, 64-bit integers, words, bits of
 * the state word.
 */
const CHANGES: readonly ((orders: Columns, slot: number) => void)[] = [
  ...[0, 1, 2, 3, 4, 5].map((column) => ({ floats }: Columns, slot: number) => {
    floats[slot * 12 + column] = (floats[slot * 12 + column] ?? 0) + 1;
  }),
  ...[6, 7].map((column) => ({ bigs }: Columns, slot: number) => {
    bigs[slot * 12 + column] = (bigs[slot * 12 + column] ?? 0n) + 1n;
  }),
  ...[16, 17, 18].map((column) => ({ ints }: Columns, slot: number) => {
    ints[slot * 24 + column] = (ints[slot * 24 + column] ?? 0) + 1;
  }),
  // Three flags, pending, type, status, reason; the other bits say where the order is stored.
  ...[0, 1, 2, 8, 10, 11, 13, 14, 16, 17].map((bit) => ({ ints }: Columns, slot: number) => {
    ints[slot * 24 + 19] = (ints[slot * 24 + 19] ?? 0) ^ (1 << bit);
  }),
];
interface Columns {
  readonly floats: Float64Array;
  readonly bigs: BigInt64Array;
  readonly ints: Int32Array;
}

test('every column of the rows of orders reaches the state hash', () => {
  let tried = 0;
  for (const bytes of worlds) {
    const base = stateHashOf(restored(bytes));
    for (const slot of restored(bytes).orders.orderSlots().slice(0, 2)) {
      for (const [i, change] of CHANGES.entries()) {
        const state = restored(bytes);
        change(state.orders, slot);
        tried += 1;
        expect(hashOrError(state), `change ${String(i)} of slot ${String(slot)}`).not.toBe(base);
      }
    }
  }
  expect(tried).toBeGreaterThan(4 * CHANGES.length);
});

test('every field of a credit reaches the state hash and survives a snapshot', () => {
  const bytes = creditedWorld();
  const base = stateHashOf(restored(bytes));
  // The price, lots from ahead of the first order, lots from elsewhere, and the last time.
  for (const field of [0, 1, 2, 3]) {
    const state = restored(bytes);
    const credits = must(creditsOf(state), 'the run ends with credit');
    const { price = 0 } = credits.alive(state.nowUs)[0] ?? {};
    const { fields } = credits as unknown as { readonly fields: Float64Array };
    const at = credits.find(price, state.nowUs) + field;
    fields[at] = (fields[at] ?? 0) + 1;
    const hash = stateHashOf(state);
    expect(hash, `field ${String(field)}`).not.toBe(base);
    expect(stateHashOf(restored(snapshotOf(state)))).toBe(hash);
  }
});

function hashOrError(state: ExchangeState): string {
  try {
    return stateHashOf(state);
  } catch (error) {
    return String(error);
  }
}

/**
 * Values of a snapshot that the state hash leaves out: five of retention, and the sequence number.
 */
const UNHASHED_IN_CONFIG = 6;
/**
 * Roles of the exchange's own subaccounts are the configuration's, and a level has the price of its
 * orders.
 */
const REDUNDANT = new Set(['accounts', 'book']);

/**
 * Loads a snapshot with the `at`th value changed that is not 0, false or empty. Returns the state,
 * or null after a refusal, and the section of the value.
 */
function loadChanged(
  bytes: Uint8Array,
  at: number,
): { state: ExchangeState | null; section: string } {
  let count = 0;
  let depth = 0;
  let section = '';
  let changedIn = '';
  const change = <T>(name: 'int' | 'bigint' | 'bool' | 'text', changed: (value: T) => T): void => {
    const whole = Reflect.get(ArchiveReader.prototype, name) as (this: ArchiveReader) => T;
    vi.spyOn(ArchiveReader.prototype, name).mockImplementation(function (this: ArchiveReader) {
      depth += 1;
      const value = whole.call(this);
      depth -= 1;
      if (depth > 0 || isDull(value) || count++ !== at) return value as never;
      changedIn = section;
      return changed(value) as never;
    });
  };
  change<number>('int', (value) => value + 1);
  change<bigint>('bigint', (value) => value + 1n);
  change<boolean>('bool', (value) => !value);
  change<string>('text', (value) => `${value}1`);
  const enter = Reflect.get(ArchiveReader.prototype, 'section');
  vi.spyOn(ArchiveReader.prototype, 'section').mockImplementation(function (
    this: ArchiveReader,
    name,
  ) {
    depth += 1;
    enter.call(this, name);
    depth -= 1;
    section = name;
  });
  let state: ExchangeState | null = null;
  try {
    state = restored(bytes);
  } catch {
    // The value was refused.
  }
  vi.restoreAllMocks();
  return { state, section: changedIn };
}

test('every value of the archive reaches the state hash and survives another snapshot', () => {
  const sections = new Set<string>();
  for (const bytes of worlds.slice(0, 3)) {
    const base = stateHashOf(restored(bytes));
    const unhashed: string[] = [];
    for (let at = 0; ; at += at < 60 ? 1 : 37) {
      const { state, section } = loadChanged(bytes, at);
      if (section === 'history') break;
      sections.add(section);
      if (state === null) continue;
      const hash = hashOrError(state);
      if (hash === base) unhashed.push(section);
      else if (/^[0-9a-f]{64}$/.test(hash)) expect(hashAgain(state)).toBe(hash);
    }
    expect(unhashed.filter((section) => section === 'config').length).toBe(UNHASHED_IN_CONFIG);
    const others = new Set(unhashed.filter((section) => section !== 'config'));
    expect([...others].filter((section) => !REDUNDANT.has(section))).toEqual([]);
  }
  expect(sections.size).toBeGreaterThan(6);
}, 120_000);

/** After a snapshot was taken and loaded. */
function hashAgain(state: ExchangeState): string {
  try {
    return stateHashOf(restored(snapshotOf(state)));
  } catch {
    return stateHashOf(state);
  }
}
