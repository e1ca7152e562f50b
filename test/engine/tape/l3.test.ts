/**
 * Single historical orders (L3): the queue is exact, so users fill exactly by price-time priority.
 */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Command, TapeL3, TapeL3Action } from '../../../src/engine/commands.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { lots, marketId, orderId, priceTicks, timeUs } from '../../../src/num/units.ts';
import { TapeWorld } from './tape-world.ts';
import { EFFORT } from '../../setup/effort.ts';

let world: TapeWorld;
const M = marketId(0);

/** `add 1 bid 5@99` */
function l3(text: string): string {
  const [action = '', ref = '', side = '', size = ''] = text.split(' ');
  const [count, price] = size.split('@').map(Number);
  return world.apply({
    kind: 'tapeL3',
    timeUs: timeUs(world.atUs),
    market: M,
    action: action as TapeL3Action,
    ref: Number(ref),
    side: side as 'bid' | 'ask',
    priceTicks: priceTicks(price ?? 0),
    lots: lots(count ?? 0),
  });
}

function snapshot(...rows: readonly (readonly ['bid' | 'ask', number, number])[]): void {
  const levels = rows.map(([side, size, price]) => ({
    side,
    priceTicks: priceTicks(price),
    lots: lots(size),
  }));
  world.apply({ kind: 'tapeSnapshot', timeUs: timeUs(world.atUs), market: M, levels });
}

function depth(...rows: readonly (readonly ['bid' | 'ask', number, number])[]): void {
  const levels = rows.map(([side, size, price]) => ({
    side,
    priceTicks: priceTicks(price),
    lots: lots(size),
  }));
  world.apply({ kind: 'tapeDepth', timeUs: timeUs(world.atUs), market: M, levels });
}

function trade(size: number, price: number): void {
  const command = { priceTicks: priceTicks(price), lots: lots(size) };
  world.apply({ kind: 'tapeTrade', timeUs: timeUs(world.atUs), market: M, ...command });
}

function book(): string {
  return (['bid', 'ask'] as const)
    .map((side) =>
      world.engine
        .depth(M, side, 9)
        .map((at) => `${at.lots}@${at.priceTicks}`)
        .join(' '),
    )
    .join(' | ');
}

const prints = (): string[] =>
  world.events.flatMap((event) =>
    event.kind === 'tradePrinted' ? [`${event.lots}@${event.priceTicks}`] : [],
  );
const settled = (id: number): number => world.engine.order(orderId(id))?.settledLots ?? -1;
const place = (size: string, price: string, ioc = false): number => {
  world.order('alice', size, price, { flags: { ioc, postOnly: false, reduceOnly: false } });
  return world.engine.lastOrderId;
};

beforeEach(() => {
  world = new TapeWorld([{ lotSize: '1', markSource: 'median', indexSource: 'oracle' }]);
  world.fund({ alice: '1000000' });
  world.price('100');
  snapshot();
});

describe('one order at a time', () => {
  test('orders keep their queue positions when others leave', () => {
    l3('add 1 bid 5@99');
    l3('add 2 bid 5@99');
    const mine = place('4', '99');
    l3('add 3 bid 5@99');
    l3('remove 1 bid 5@99');
    expect(book()).toBe('14@99 | ');
    l3('execute 2 bid 5@99');
    expect(settled(mine)).toBe(0);
    // History fills the third: ours has priority.
    l3('execute 3 bid 3@99');
    expect(settled(mine)).toBe(3);
    // Our fill leaves the third's size all the same.
    expect(book()).toBe('3@99 | ');
    expect(prints()).toEqual(['-5@99', '-3@99']);
  });

  test('a user at a better price fills first', () => {
    l3('add 1 ask 5@101');
    const mine = place('-2', '100');
    l3('execute 1 ask 5@101');
    expect(settled(mine)).toBe(-2);
    expect(book()).toBe(' | ');
    expect(prints()).toEqual(['2@100', '3@101']);
  });

  test('an order that crosses a user’s trades with it first and rests what is left', () => {
    const mine = place('3', '100');
    l3('add 1 ask 5@100');
    expect(settled(mine)).toBe(3);
    expect(book()).toBe(' | 2@100');
    l3('remove 1 ask 5@100');
    expect(book()).toBe(' | ');
  });

  test('after a user consumed an order, its history only prints', () => {
    l3('add 1 ask 5@101');
    l3('add 2 ask 5@101');
    place('5', '101', true);
    l3('execute 1 ask 5@101');
    expect(book()).toBe(' | 5@101');
    l3('execute 2 ask 5@101');
    expect(book()).toBe(' | ');
  });

  test('a trade beside single orders takes users with priority and no recorded order (D-61a)', () => {
    l3('add 1 bid 5@99');
    const behind = place('4', '99');
    const ahead = place('2', '98');
    l3('add 2 bid 3@98');
    trade(-6, 99);
    expect([settled(behind), settled(ahead)]).toEqual([0, 0]);
    expect(book()).toBe('9@99 5@98 | ');
    l3('remove 1 bid 5@99');
    // The better price first, then the front of the trade's price; the recorded 3 stay.
    trade(-9, 98);
    expect([settled(behind), settled(ahead)]).toEqual([4, 2]);
    expect(book()).toBe('3@98 | ');
    expect(prints()).toEqual(['-6@99', '-4@99', '-2@98', '-3@98']);
  });

  test('orders that were never added are the oldest of their level', () => {
    snapshot(['bid', 10, 99]);
    const mine = place('1', '99');
    l3('add 7 bid 5@99');
    l3('reduce 4 bid 6@99');
    l3('execute 5 bid 4@99');
    expect(settled(mine)).toBe(0);
    expect(book()).toBe('6@99 | ');
    l3('execute 7 bid 1@99');
    expect(settled(mine)).toBe(1);
  });

  test('an order that was never added takes from all unnamed volume of its level, whatever its source', () => {
    snapshot(['bid', 10, 99]);
    const mine = place('1', '99');
    depth(['bid', 30, 99]);
    l3('add 7 bid 5@99');
    l3('remove 4 bid 14@99');
    expect(book()).toBe('22@99 | ');
    l3('execute 5 bid 10@99');
    // The user was ahead of the last four of them.
    expect(settled(mine)).toBe(1);
    expect(book()).toBe('11@99 | ');
    l3('reduce 8 bid 60@99');
    expect(book()).toBe('5@99 | ');
  });

  test('a reused number refers to the new order', () => {
    l3('add 1 bid 5@99');
    l3('add 1 bid 2@98');
    expect(book()).toBe('2@98 | ');
  });

  test('after a gap single orders have no effect until the next snapshot', () => {
    l3('add 1 bid 5@99');
    world.apply({ kind: 'tapeGap', timeUs: timeUs(world.atUs), market: M });
    l3('add 2 bid 5@99');
    expect(book()).toBe(' | ');
    snapshot(['bid', 4, 99]);
    l3('execute 1 bid 4@99');
    expect(book()).toBe(' | ');
  });

  test.each(['add 0 bid 5@99', 'add 1 bid 0@99', 'add 1 bid 5@0', 'reduce 1 bid 1.5@99'])(
    '%s is refused',
    (text) => {
      expect(l3(text)).toBe('tape_level_invalid');
    },
  );
});

/** Reference model: one list of entries per price, best price first. */
interface Place {
  readonly ref: number;
  readonly price: number;
  left: number;
}

class PlainQueue {
  /** One side; users have negative numbers. */
  private places: Place[] = [];
  readonly filled = new Map<number, number>();

  has(ref: number): boolean {
    return this.places.some((entry) => entry.ref === ref);
  }
  add(ref: number, price: number, left: number): void {
    this.places.push({ ref, price, left });
  }
  /** A trade with hidden volume: no user behind a historical order of its price meets it. */
  trade(price: number, size: number): void {
    const barrier = this.places.findIndex((entry) => entry.ref > 0 && entry.price === price);
    this.fillUsers(
      size,
      (entry, i) => entry.price > price || (entry.price === price && (barrier < 0 || i < barrier)),
    );
    this.places = this.places.filter(({ left }) => left > 0);
  }
  take(ref: number, size: number): void {
    const place = this.places.find((entry) => entry.ref === ref);
    if (place !== undefined) place.left -= Math.min(place.left, size);
    this.places = this.places.filter(({ left }) => left > 0);
  }
  /**
   * Users at better prices come first, then those ahead of the order; for a consumed order only the
   * former.
   */
  execute(ref: number, price: number, size: number): void {
    const place = this.places.findIndex((entry) => entry.ref === ref);
    this.fillUsers(size, (entry, i) => entry.price > price || (entry.price === price && i < place));
    this.take(ref, size);
  }
  private fillUsers(size: number, meets: (entry: Place, i: number) => boolean): void {
    let left = size;
    const users = this.places
      .map((entry, i) => ({ entry, i }))
      .filter(({ entry, i }) => entry.ref < 0 && meets(entry, i))
      .sort((a, b) => b.entry.price - a.entry.price || a.i - b.i);
    for (const { entry } of users) {
      const fill = Math.min(left, entry.left);
      entry.left -= fill;
      left -= fill;
      this.filled.set(entry.ref, (this.filled.get(entry.ref) ?? 0) + fill);
    }
  }
}

test('users’ fills follow price-time priority, and snapshots contain the queues', () => {
  const ref = fc.integer({ min: 1, max: 8 });
  const size = fc.integer({ min: 1, max: 6 });
  const price = fc.integer({ min: 98, max: 99 });
  const op = fc.oneof(
    fc.tuple(fc.constant('add'), ref, size, price),
    fc.tuple(fc.constantFrom('reduce', 'execute', 'execute'), ref, size, price),
    fc.tuple(fc.constant('user'), ref, size, price),
    fc.tuple(fc.constant('trade'), ref, size, price),
  );
  let fills = 0;
  fc.assert(
    fc.property(fc.array(op, { minLength: 20, maxLength: 40 }), (ops) => {
      world = new TapeWorld([{ lotSize: '1', markSource: 'median', indexSource: 'oracle' }]);
      world.fund({ alice: '1000000' });
      world.price('100');
      snapshot();
      const plain = new PlainQueue();
      const prices = new Map<number, number>();
      const users: number[] = [];
      let next = 1;
      for (const [what, drawn, count, at] of ops) {
        if (what === 'user') {
          const id = place(String(count), String(at));
          users.push(id);
          plain.add(-id, at, count);
        } else if (what === 'add') {
          const fresh = next++;
          prices.set(fresh, at);
          l3(`add ${fresh} bid ${count}@${at}`);
          plain.add(fresh, at, count);
        } else if (what === 'trade') {
          // Without single orders the book is one of levels.
          if (![...prices.keys()].some((named) => plain.has(named))) continue;
          trade(-count, at);
          plain.trade(at, count);
        } else {
          const known = prices.get(drawn);
          if (known === undefined) continue;
          l3(`${what} ${drawn} bid ${count}@${known}`);
          if (what === 'reduce') plain.take(drawn, count);
          else plain.execute(drawn, known, count);
        }
      }
      for (const id of users) {
        expect(settled(id)).toBe(plain.filled.get(-id) ?? 0);
        fills += settled(id);
      }
      const commands: readonly Command[] = world.commands;
      const half = Math.floor(commands.length / 2);
      let other = new Exchange(world.engine.config);
      commands.forEach((command, i) => {
        other.apply(command);
        if (i === half) other = other.fork();
      });
      expect(other.stateHash()).toBe(world.engine.stateHash());
      expect(other.chainHash()).toBe(world.engine.chainHash());
    }),
    { numRuns: 100 * EFFORT },
  );
  expect(fills).toBeGreaterThan(50);
});

test("an L3 command has every field of a venue's order event", () => {
  const command: TapeL3 = {
    kind: 'tapeL3',
    timeUs: timeUs(world.atUs),
    market: marketId(9),
    action: 'add',
    ref: 1,
    side: 'bid',
    priceTicks: priceTicks(1),
    lots: lots(1),
  };
  expect(world.apply(command)).toBe('market_not_found');
});
