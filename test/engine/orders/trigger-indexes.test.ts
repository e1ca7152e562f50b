/**
 * The indexes of pending triggers against plain lists: which orders fire at which mark, the next
 * price that fires one, and how many entries of ended orders they keep.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../../src/base/archive.ts';
import { orderId, type OrderId } from '../../../src/num/units.ts';
import type { Reached } from '../../../src/engine/orders/reached.ts';
import { TrailingIndex, trailingTicks } from '../../../src/engine/orders/trailing-index.ts';
import { PriceTriggers } from '../../../src/engine/orders/trigger-index.ts';

const SMALL = 1024;

/** A stop, the extreme that it follows, and whether its order is pending. */
interface Stop {
  readonly id: number;
  readonly distance: number;
  extreme: number;
  waits: boolean;
}

/** Trailing stops of one side as a list, beside the index. */
class Trailing {
  readonly up: 1 | -1;
  index: TrailingIndex;
  stops: Stop[] = [];
  /** All stops that were ever added; the index may ask for any. */
  readonly known = new Map<number, Stop>();
  /** Orders that the index asked for. */
  asked = 0;
  mark = 1000;

  constructor(up: 1 | -1) {
    this.up = up;
    this.index = new TrailingIndex(up);
  }

  readonly waits = (id: OrderId): boolean => {
    this.asked += 1;
    return this.known.get(id)?.waits === true;
  };

  readonly distanceOf = (id: OrderId): number => this.known.get(id)?.distance ?? 0;

  get waiting(): Stop[] {
    return this.stops.filter(({ waits }) => waits);
  }

  priceOf({ extreme, distance }: Stop): number {
    return trailingTicks(this.up, extreme, distance);
  }

  add(id: number, distance: number): void {
    const stop = { id, distance, extreme: this.mark, waits: true };
    this.stops.push(stop);
    this.known.set(id, stop);
    this.index.add(orderId(id), distance, this.mark);
  }

  end(stop: Stop | undefined): void {
    if (stop === undefined) return;
    stop.waits = false;
    this.stops = this.waiting;
    this.index.forget(this.waits);
  }

  /** A new mark: what fires, by id. */
  move(mark: number): void {
    this.mark = mark;
    const further = this.up > 0 ? Math.max : Math.min;
    for (const stop of this.stops) stop.extreme = further(stop.extreme, mark);
    const fires = this.stops.filter((stop) => this.up * this.priceOf(stop) >= this.up * mark);
    const expected = fires.map((stop) => ({ id: stop.id, ticks: this.priceOf(stop) }));
    const reached: Reached[] = [];
    this.index.reach(mark);
    this.index.take(mark, this.waits, reached);
    expect(reached.sort((a, b) => a.id - b.id)).toEqual(expected.sort((a, b) => a.id - b.id));
    for (const stop of fires) stop.waits = false;
    this.stops = this.waiting;
  }

  next(): number | null {
    const prices = this.stops.map((stop) => this.priceOf(stop));
    if (prices.length === 0) return null;
    return this.up > 0 ? Math.max(...prices) : Math.min(...prices);
  }

  saved(): Uint8Array {
    const io = new ArchiveWriter();
    this.index.archive(io, this.waits, this.distanceOf);
    return io.bytes();
  }

  /** Saved groups from the greatest extreme, each with its ids in ascending order. */
  expectedBytes(): Uint8Array {
    const io = new ArchiveWriter();
    const extremes = [...new Set(this.stops.map(({ extreme }) => extreme))];
    extremes.sort((a, b) => this.up * (b - a));
    io.int(extremes.length);
    for (const extreme of extremes) {
      const ids = this.stops.filter((stop) => stop.extreme === extreme).map(({ id }) => id);
      io.int(extreme);
      io.int(ids.length);
      for (const id of ids.sort((a, b) => a - b)) io.int(id);
    }
    return io.bytes();
  }

  restore(): void {
    const bytes = this.saved();
    expect(bytes).toEqual(this.expectedBytes());
    this.index = new TrailingIndex(this.up);
    this.index.archive(new ArchiveReader(bytes), this.waits, this.distanceOf);
  }

  check(low: number, high: number): void {
    const within = this.stops
      .map((stop) => this.priceOf(stop))
      .some((price) => price >= low && price <= high);
    expect(this.index.firesWithin(low, high, this.waits, this.distanceOf)).toBe(within);
    expect(this.index.isEmpty).toBe(this.stops.length === 0);
    expect(this.index.next(this.waits)).toBe(this.next());
  }
}

const step = fc.record({
  kind: fc.constantFrom('add', 'add', 'add', 'end', 'move', 'move', 'restore', 'next', 'within'),
  number: fc.nat(30),
  other: fc.nat(12),
});

test.each([1, -1] as const)('trailing stops fire as those of a list do, side %i', (up) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new Trailing(up);
      let last = 0;
      for (const { kind, number, other } of steps) {
        // Ids in another order than that of the additions.
        if (kind === 'add') world.add((last = (last + 37) % 1009) + 1, 2000 * (1 + (other % 5)));
        else if (kind === 'end') world.end(world.stops[number % Math.max(1, world.stops.length)]);
        else if (kind === 'move') world.move(985 + number);
        else if (kind === 'restore') world.restore();
        else if (kind === 'next') expect(world.index.next(world.waits)).toBe(world.next());
        else world.check(980 + number, 980 + number + other);
      }
      world.check(990, 1000);
      expect(world.saved()).toEqual(world.expectedBytes());
    }),
    { numRuns: 300 },
  );
});

test.each([1, -1] as const)('a stop within a range of prices is found, side %i', (up) => {
  const world = new Trailing(up);
  const price = (distance: number): number => trailingTicks(up, world.mark, distance);
  world.check(0, 10_000);
  world.add(1, 20_000);
  world.add(2, 50_000);
  world.add(3, 90_000);
  for (const distance of [20_000, 50_000, 90_000]) {
    const at = price(distance);
    world.check(at, at);
    world.check(at - 1, at - 1);
    world.check(at + 1, at + 1);
    world.check(at - 9, at - 1);
    world.check(at + 1, at + 9);
  }
  world.end(world.stops[1]);
  world.check(price(50_000), price(50_000));
  world.check(price(90_000), price(90_000));
});

test.each([1, -1] as const)('ended stops do not remain in the index, side %i', (up) => {
  const world = new Trailing(up);
  /** Entries of the index: each is asked for once when it is saved. */
  const entries = (): number => {
    world.asked = 0;
    world.saved();
    return world.asked;
  };
  const count = 6 * SMALL;
  for (let id = 1; id <= count; id++) {
    // Groups of different extremes, so some lose all of their stops and others some.
    if (id % 1500 === 0) world.move(world.mark - up * 10);
    world.add(id, 100_000 + (id % 7) * 1000);
  }
  expect(entries()).toBe(count);
  const endWhere = (ends: (id: number) => boolean): void => {
    for (const stop of world.stops.filter(({ id }) => ends(id))) {
      stop.waits = false;
      world.index.forget(world.waits);
    }
    world.stops = world.waiting;
  };
  // At most three quarters of the entries are those of ended stops.
  endWhere((id) => id % 4 !== 0 && id > 4);
  expect(world.stops.length * 4).toBeGreaterThanOrEqual(count);
  expect(entries()).toBe(count);
  endWhere((id) => id < 9 || (id > 1400 && id < 3100) || id % 8 !== 0);
  const kept = entries();
  expect(kept).toBeLessThan(4 * world.stops.length + 1);
  expect(kept).toBeGreaterThanOrEqual(world.stops.length);
  expect(world.saved()).toEqual(world.expectedBytes());
  world.check(0, 10_000);
  // Few entries are never counted.
  endWhere((id) => id !== 5600 && id !== 1040);
  expect(entries()).toBeLessThanOrEqual(SMALL);
  expect(world.saved()).toEqual(world.expectedBytes());
  expect(world.stops).toHaveLength(2);
  world.check(0, 10_000);
  for (let i = 0; i < 60; i++) world.move(world.mark - up * 2);
  expect(world.stops).toHaveLength(0);
  world.check(0, 10_000);
});

test.each([1, -1] as const)('fire prices that closer stops replace are dropped, side %i', (up) => {
  const world = new Trailing(up);
  world.mark = 100_000;
  // A group that stays, and one whose fire price changes with every stop.
  world.add(1, 900_000);
  world.move(world.mark - up * 1000);
  for (let i = 0; i < 3 * SMALL; i++) world.add(2 + i, 800_000 - i * 200);
  world.check(0, 1_000_000);
  world.end(world.stops.at(-1));
  world.end(world.stops.at(-1));
  world.check(0, 1_000_000);
  for (const ppm of [100_000, 200_000, 300_000, 700_000]) {
    world.move(Math.round(98_000 * (1 - (up * ppm) / 1_000_000)));
    world.check(0, 1_000_000);
  }
});

/** A trigger of a list. */
interface Trigger {
  readonly id: number;
  readonly when: 'above' | 'below';
  readonly price: number;
  waits: boolean;
}

class Prices {
  readonly index = new PriceTriggers();
  readonly known = new Map<number, Trigger>();
  asked = 0;

  readonly waits = (id: OrderId): boolean => {
    this.asked += 1;
    return this.known.get(id)?.waits === true;
  };

  get waiting(): Trigger[] {
    return [...this.known.values()].filter(({ waits }) => waits);
  }

  add(id: number, when: 'above' | 'below', price: number): void {
    this.known.set(id, { id, when, price, waits: true });
    this.index.add(when, price, orderId(id));
  }

  end(trigger: Trigger | undefined): void {
    if (trigger === undefined) return;
    trigger.waits = false;
    this.index.forget(this.waits);
  }

  move(price: number): void {
    const fires = this.waiting.filter((trigger) =>
      trigger.when === 'above' ? trigger.price <= price : trigger.price >= price,
    );
    const reached: Reached[] = [];
    this.index.take(price, this.waits, reached);
    expect(reached.sort((a, b) => a.id - b.id)).toEqual(
      fires.map(({ id, price: ticks }) => ({ id, ticks })).sort((a, b) => a.id - b.id),
    );
    for (const trigger of fires) trigger.waits = false;
  }

  /** Prices of triggers that fire on the way up or down. */
  on(up: 1 | -1): Trigger[] {
    return this.waiting.filter(({ when }) => (when === 'above') === up > 0);
  }

  check(up: 1 | -1, low: number, high: number): void {
    const beyond = this.on(up)
      .map(({ price }) => price)
      .filter((price) => up * price > up * low);
    const nearest = up > 0 ? Math.min(...beyond) : Math.max(...beyond);
    expect(this.index.next(up, low, this.waits)).toBe(beyond.length === 0 ? null : nearest);
    const between = this.on(up).filter(({ price }) => price >= low && price <= high);
    expect(this.index.between(up, low, high, this.waits).sort((a, b) => a - b)).toEqual(
      between.map(({ id }) => id).sort((a, b) => a - b),
    );
    const mayWait =
      this.on(1).some(({ price }) => price <= high) ||
      this.on(-1).some(({ price }) => price >= low);
    const answer = this.index.mayWaitWithin(low, high);
    if (mayWait || this.waiting.length === 0) expect(answer).toBe(mayWait);
  }
}

test('triggers fire as those of a list do', () => {
  const move = fc.record({
    kind: fc.constantFrom('add', 'add', 'add', 'end', 'move', 'check', 'check'),
    up: fc.boolean(),
    number: fc.nat(20),
    other: fc.nat(8),
  });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 50 }), (moves) => {
      const world = new Prices();
      let last = 0;
      for (const { kind, up, number, other } of moves) {
        if (kind === 'add') world.add((last += 1), up ? 'above' : 'below', 990 + number);
        else if (kind === 'end') world.end(world.waiting[number]);
        else if (kind === 'move') world.move(990 + number);
        else world.check(up ? 1 : -1, 990 + number, 990 + number + other);
      }
      world.check(1, 1000, 1005);
      world.check(-1, 1000, 1005);
    }),
    { numRuns: 300 },
  );
});

test('a range that no trigger is in needs no check', () => {
  const { index, ...world } = new Prices();
  expect(index.mayWaitWithin(0, 10_000)).toBe(false);
  index.add('above', 1010, orderId(1));
  index.add('below', 990, orderId(2));
  expect(index.mayWaitWithin(991, 1009)).toBe(false);
  expect(index.mayWaitWithin(990, 1009)).toBe(true);
  expect(index.mayWaitWithin(991, 1010)).toBe(true);
  expect(world.asked).toBe(0);
});

test.each(['above', 'below'] as const)('ended triggers do not remain in the index, %s', (when) => {
  const world = new Prices();
  const up = when === 'above' ? 1 : -1;
  /** Entries of the index: each in the range is asked for once. */
  const entries = (): number => {
    world.asked = 0;
    world.index.between(up, 0, 10_000_000, world.waits);
    return world.asked;
  };
  const count = 4 * SMALL;
  for (let id = 1; id <= count; id++) world.add(id, when, 5000 + (id % 700));
  const triggers = [...world.known.values()];
  for (const trigger of triggers) if (trigger.id % 4 !== 0) world.end(trigger);
  expect(entries()).toBe(count);
  for (const trigger of triggers) if (trigger.id % 8 !== 0) if (trigger.waits) world.end(trigger);
  expect(entries()).toBeLessThan(count / 2);
  world.check(up, up > 0 ? 0 : 10_000, 10_000);
  for (const trigger of triggers) if (trigger.waits && trigger.id > 8) world.end(trigger);
  expect(entries()).toBeLessThanOrEqual(SMALL);
  world.move(up > 0 ? 100_000 : 0);
  expect(world.waiting).toEqual([]);
  expect(world.index.mayWaitWithin(0, 1_000_000)).toBe(false);
});
