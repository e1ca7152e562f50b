/** Deltas of the book feed against whole books. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BookFeed } from '../../src/gateway/feeds/book-feed.ts';
import { RiskWorld } from '../engine/risk-world.ts';

type Side = 'bids' | 'asks';
interface Level {
  readonly price: string;
  readonly quantity: string;
}
interface Message extends Record<Side, Level[]> {
  readonly sequence_number: number;
  readonly previous_sequence_number: number | null;
}

class Scene {
  readonly world = new RiskWorld([{ symbol: 'M', markSource: 'index', maxOpenOrders: 10_000 }]);
  readonly feed = new BookFeed(this.world.marketOf('M'));
  /** The book as a client of the feed knows it. */
  readonly known: Record<Side, Map<string, string>> = { bids: new Map(), asks: new Map() };
  lastSeq = -1;

  constructor() {
    this.world.checks = false;
    this.world.fund({ ann: '1000000', bob: '1000000' });
    this.world.price('100');
    this.takeSnapshot();
  }

  takeSnapshot(): void {
    const snapshot = this.feed.snapshot(this.world.engine) as Message;
    for (const side of ['bids', 'asks'] as const) {
      this.known[side] = new Map(snapshot[side].map(({ price, quantity }) => [price, quantity]));
      expect(snapshot[side]).toEqual(this.book()[side]);
    }
    this.lastSeq = snapshot.sequence_number;
  }

  /** Applies the delta, of which each level must be a change. */
  takeDelta(): void {
    const delta = this.feed.delta(this.world.engine) as Message | null;
    if (delta !== null) {
      expect(delta.previous_sequence_number).toBe(this.lastSeq);
      this.lastSeq = delta.sequence_number;
      for (const side of ['bids', 'asks'] as const) {
        for (const { price, quantity } of delta[side]) {
          expect(this.known[side].get(price) ?? '0').not.toBe(quantity);
          if (quantity === '0') this.known[side].delete(price);
          else this.known[side].set(price, quantity);
        }
      }
    }
    const now = this.book();
    for (const side of ['bids', 'asks'] as const) {
      const levels = now[side].map(({ price, quantity }) => [price, quantity] as const);
      expect(this.known[side]).toEqual(new Map(levels));
    }
  }

  private book(): Record<Side, Level[]> {
    const fresh = new BookFeed(this.world.marketOf('M'));
    return fresh.snapshot(this.world.engine) as Message;
  }
}

const stepOf = fc.record({
  who: fc.constantFrom('ann', 'bob'),
  size: fc.integer({ min: -4, max: 4 }).filter((size) => size !== 0),
  price: fc.integer({ min: 96, max: 104 }),
  read: fc.constantFrom('none', 'none', 'delta', 'delta', 'reset'),
});

test('a client that applies all deltas has the book', () => {
  fc.assert(
    fc.property(fc.array(stepOf, { minLength: 1, maxLength: 60 }), (steps) => {
      const scene = new Scene();
      for (const { who, size, price, read } of steps) {
        scene.world.order(who, String(size), String(price));
        if (read === 'reset') {
          scene.feed.reset();
          expect(scene.feed.delta(scene.world.engine)).toBeNull();
          scene.takeSnapshot();
        } else if (read === 'delta') scene.takeDelta();
      }
      scene.takeDelta();
    }),
    { numRuns: 150, seed: 7 },
  );
});

test('a delta of more changes than are recorded reads the book', () => {
  const scene = new Scene();
  const { world } = scene;
  for (const [rounds, kept] of [
    [1365, true],
    [1366, false],
  ] as const) {
    // The oldest change.
    world.order('ann', '1', '90');
    // An order that rests, is filled and leaves: three changes.
    for (let i = 0; i < rounds; i++) world.trade('ann', 'bob', i % 2 === 0 ? '1' : '-1', '100');
    const { levels } = world.engine.bookChanges(world.marketOf('M'), scene.feed['mark']);
    expect(levels === null).toBe(!kept);
    scene.takeDelta();
  }
});

test('a mark of another exchange is not used', () => {
  const [scene, other] = [new Scene(), new Scene()];
  scene.world.order('ann', '1', '90');
  for (const price of ['91', '92', '90']) other.world.order('ann', '1', price);
  scene.takeDelta();
  const { engine } = other.world;
  const delta = scene.feed.delta(engine) as Message;
  expect(delta.bids.map(({ price }) => price)).toEqual(['92', '91']);
});
