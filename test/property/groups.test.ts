/**
 * Random runs of orders of all types: invariants after every command, exactly the transitions of
 * docs/ORDER-STATES.md and all of them, restored exchanges with equal continuations, and split
 * intervals.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { TRANSITIONS } from '../../src/engine/orders/states.ts';
import { TrailingIndex } from '../../src/engine/orders/trailing-index.ts';
import type { Reached } from '../../src/engine/orders/reached.ts';
import { marketId, orderId, priceTicks, subaccountId, timeUs } from '../../src/num/units.ts';
import { drafted, GroupWorld, type Draft } from '../tables/group-world.ts';

const size = fc.integer({ min: 1, max: 6 });
const near = fc.integer({ min: 985, max: 1015 });
const flags = fc.constantFrom(
  {},
  {},
  { ioc: true },
  { reduceOnly: true },
  { ioc: true, reduceOnly: true },
);
const side = fc.constantFrom(1, -1);
const leg = (
  orderType: 'takeProfit' | 'stopLoss',
  sells: number,
  lots: number,
  trigger: number,
): Draft => ({
  orderType,
  size: sells * lots,
  price: sells < 0 ? 1 : 1090,
  ioc: lots % 3 !== 0,
  reduceOnly: true,
  triggerTicks: priceTicks(trigger),
});

/** Groups that are mostly well-formed. */
const group: fc.Arbitrary<Draft[]> = fc.oneof(
  fc
    .record({ size, side, price: near, flags })
    .map((o): Draft[] => [{ size: o.size * o.side, price: o.price, ...o.flags }]),
  fc
    .record({ size, side, price: near, up: near, down: near, legs: size })
    .map((o): Draft[] => [
      { size: o.size * o.side, price: o.price },
      leg('takeProfit', -o.side, o.legs, o.up),
      leg('stopLoss', -o.side, o.legs, o.down),
    ]),
  fc
    .record({
      side,
      up: near,
      down: near,
      legs: size,
      other: size,
      // Of the position, or of an order that may be live.
      parent: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 60 }).map(orderId)),
    })
    .map((o): Draft[] => [
      { ...leg('stopLoss', o.side, o.legs, o.down), parent: o.parent },
      { ...leg('takeProfit', o.side, o.other, o.up), parent: o.parent },
    ]),
  fc
    .record({
      side,
      trigger: near,
      price: near,
      size,
      kind: fc.constantFrom('takeProfit', 'stopLoss', 'trailingStop'),
      flags,
    })
    .map((o): Draft[] => [
      {
        size: o.side * o.size,
        price: o.price,
        ...o.flags,
        orderType: o.kind,
        triggerTicks: o.kind === 'trailingStop' && o.size % 2 === 0 ? null : priceTicks(o.trigger),
        trailingPpm: o.kind === 'trailingStop' ? o.size * 1500 : null,
      },
    ]),
  fc
    .record({ side, price: near, size, n: fc.integer({ min: 1, max: 4 }), flags, last: size })
    .map((o) =>
      Array.from({ length: o.n }, (_, i): Draft => ({
        orderType: 'iceberg',
        size: o.side * (i === o.n - 1 ? Math.min(o.last, o.size) : o.size),
        price: o.price,
      })),
    ),
  fc.record({ side, price: near, size, n: fc.integer({ min: 1, max: 4 }), flags }).map((o) =>
    Array.from({ length: o.n }, (): Draft => ({
      orderType: 'twap',
      periodMs: 700n,
      size: o.side * o.size,
      price: o.price,
      ...o.flags,
    })),
  ),
);

type Step =
  | {
      readonly kind: 'group';
      readonly who: number;
      readonly drafts: Draft[];
      readonly expiresInMs: bigint;
    }
  | { readonly kind: 'index'; readonly price: number }
  | { readonly kind: 'wait'; readonly us: number }
  | { readonly kind: 'cancel'; readonly id: number };

const who = fc.constantFrom(6, 7, 8);
const step: fc.Arbitrary<Step> = fc.noBias(
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc
        .record({
          who,
          drafts: group,
          expiresInMs: fc.constantFrom(900n, 3000n, 1_000_000n, 1_000_000n),
        })
        .map((o): Step => ({ kind: 'group', ...o })),
    },
    { weight: 4, arbitrary: near.map((price): Step => ({ kind: 'index', price })) },
    {
      weight: 3,
      arbitrary: fc.integer({ min: 1, max: 1_500_000 }).map((us): Step => ({ kind: 'wait', us })),
    },
    {
      weight: 2,
      arbitrary: fc.integer({ min: 1, max: 120 }).map((id): Step => ({ kind: 'cancel', id })),
    },
  ),
);

function commandsOf(steps: readonly Step[], startUs: number) {
  let atUs = startUs;
  let nonce = 1000n;
  return steps.map((o) => {
    switch (o.kind) {
      case 'group':
        return {
          kind: 'placeOrders' as const,
          timeUs: timeUs(atUs),
          subaccount: subaccountId(o.who),
          delegate: null,
          orders: o.drafts.map((draft) =>
            drafted({ ...draft, expiresAtMs: BigInt(atUs) / 1000n + o.expiresInMs }, ++nonce),
          ),
        };
      case 'index':
        return {
          kind: 'setIndex' as const,
          timeUs: timeUs(atUs),
          market: marketId(0),
          priceTicks: priceTicks(o.price),
          text: String(o.price),
        };
      case 'wait':
        atUs += o.us;
        return { kind: 'advanceTime' as const, timeUs: timeUs(atUs) };
      default:
        return { kind: 'cancelOrder' as const, timeUs: timeUs(atUs), orderId: orderId(o.id) };
    }
  });
}

const reachedChanges = new Set<string>();

function watchStates(): (event: EngineEvent) => void {
  const states = new Map<number, string>();
  const lots = new Map<number, number>();
  const move = (id: number, to: string): void => {
    reachedChanges.add(`${states.get(id) ?? 'none'} ${to}`);
    states.set(id, to);
  };
  return (event) => {
    switch (event.kind) {
      case 'orderAccepted':
        lots.set(event.orderId, event.lots);
        move(event.orderId, 'new');
        return;
      case 'orderRejected':
        move(event.orderId, 'rejected');
        return;
      case 'orderPending':
        move(event.orderId, 'pending');
        return;
      case 'orderReleased':
        move(event.orderId, lots.get(event.orderId) === undefined ? 'partiallyFilled' : 'new');
        return;
      case 'orderFilled':
        // After its first fill an order is activated as partially filled.
        lots.delete(event.orderId);
        move(event.orderId, event.remainingLots === 0 ? 'filled' : 'partiallyFilled');
        return;
      case 'orderEnded':
        if (event.status !== 'filled') move(event.orderId, event.status);
        return;
      default:
    }
  };
}

test('orders of all types keep every invariant, and change status only as in the table (R-2.8)', () => {
  const reasons = new Set<string>();
  fc.assert(
    fc.property(
      fc.constantFrom('mark', 'last', 'index'),
      fc.array(step, { minLength: 40, maxLength: 90 }),
      (source, steps) => {
        const world = new GroupWorld({ triggerSource: source as 'mark' }, { maxOpenOrders: 12 });
        const watch = watchStates();
        for (const command of commandsOf(steps, world.atUs)) {
          const outcome = world.engine.apply(command, (event) => {
            watch(event);
            if ('reason' in event && event.reason !== null) reasons.add(event.reason);
          });
          if (outcome !== 'ok')
            expect(['order_not_found', 'request_expired']).toContain(outcome.code);
          expect(world.engine.checkInvariants()).toEqual([]);
        }
      },
    ),
    { numRuns: 300, endOnFailure: true },
  );
  const allowed = new Set(TRANSITIONS.map(({ from, to }) => `${from} ${to}`));
  expect([...reachedChanges].filter((change) => !allowed.has(change))).toEqual([]);
  expect([...allowed].filter((change) => !reachedChanges.has(change))).toEqual([]);
  for (const reason of [
    'ocoSibling',
    'parentCancelled',
    'positionClosed',
    'reduceOnly',
    'iocRemainder',
    'expired',
    'openOrders',
  ]) {
    expect([...reasons], `never reached: ${reason}`).toContain(reason);
  }
});

test('a restored exchange continues equally, and an interval may be split (R-12.1)', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 80 }), fc.nat(6), (steps, at) => {
      const straight = new GroupWorld().engine;
      let restored: Exchange = new GroupWorld().engine;
      const cut = new GroupWorld().engine;
      const commands = commandsOf(steps, straight.nowUs);
      for (const [i, command] of commands.entries()) {
        if (i % 7 === at) restored = restored.fork();
        const half = Math.floor((cut.nowUs + command.timeUs) / 2);
        if (half > cut.nowUs) cut.apply({ kind: 'advanceTime', timeUs: timeUs(half) });
        const one: EngineEvent[] = [];
        const other: EngineEvent[] = [];
        const outcome = straight.apply(command, (event) => one.push(event));
        expect(restored.apply(command, (event) => other.push(event))).toEqual(outcome);
        expect(other).toEqual(one);
        expect(cut.apply(command)).toEqual(outcome);
      }
      expect(restored.chainHash()).toBe(straight.chainHash());
      expect(restored.snapshot()).toEqual(straight.snapshot());
      for (let id = 1; id <= straight.lastOrderId; id++) {
        // The split run has more commands, and so other sequence numbers.
        const one = straight.order(orderId(id));
        const other = cut.order(orderId(id));
        expect({ ...other, lastUpdateSeq: 0 }).toEqual({ ...one, lastUpdateSeq: 0 });
      }
    }),
    { numRuns: 100, endOnFailure: true },
  );
});

test('the index of trailing stops fires the same orders as a full scan (R-4.2)', () => {
  const event = fc.oneof(
    {
      weight: 2,
      arbitrary: fc.integer({ min: 1, max: 300_000 }).map((distance) => ({ distance })),
    },
    { weight: 3, arbitrary: fc.integer({ min: 900, max: 1100 }).map((mark) => ({ mark })) },
    { weight: 1, arbitrary: fc.nat(30).map((gone) => ({ gone })) },
  );
  fc.assert(
    fc.property(
      fc.constantFrom(1, -1),
      fc.array(event, { minLength: 20, maxLength: 120 }),
      (up, events) => {
        const index = new TrailingIndex(up);
        const naive = new Map<number, { distance: number; extreme: number }>();
        let mark = 1000;
        let next = 1;
        const waits = (id: number): boolean => naive.has(id);
        for (const o of events) {
          if ('distance' in o) {
            naive.set(next, { distance: o.distance, extreme: mark });
            index.add(orderId(next), o.distance, mark);
            next += 1;
          } else if ('gone' in o) {
            if (naive.delete(o.gone)) index.forget(waits);
          } else {
            mark = o.mark;
            const expected: number[] = [];
            for (const [id, stop] of naive) {
              stop.extreme = up > 0 ? Math.max(stop.extreme, mark) : Math.min(stop.extreme, mark);
              const left = BigInt(mark) * 1_000_000n;
              const right = BigInt(stop.extreme) * BigInt(1_000_000 - up * stop.distance);
              if (up > 0 ? left <= right : left >= right) expected.push(id);
            }
            const fired: Reached[] = [];
            index.reach(mark);
            index.take(mark, waits, fired);
            expect(fired.map(({ id }) => id as number).sort((a, b) => a - b)).toEqual(expected);
            for (const id of expected) naive.delete(id);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a mark that fires none costs the same with 100,000 pending triggers as with few', () => {
  const few = waitingTriggers(100);
  const many = waitingTriggers(100_000);
  // Interleaved, and the minimum of many short rounds, to exclude other load.
  let [best, bestOfMany] = [Infinity, Infinity];
  for (let round = 0; round < 40; round++) {
    best = Math.min(best, markUpdates(few));
    bestOfMany = Math.min(bestOfMany, markUpdates(many));
  }
  expect(bestOfMany / best).toBeLessThan(2);
});

function waitingTriggers(count: number): GroupWorld {
  const world = new GroupWorld({}, { maxOpenOrders: 1_000_000 });
  for (let i = 0; i < count; i += 100) {
    world.engine.apply({
      kind: 'placeOrders',
      timeUs: timeUs(world.atUs),
      subaccount: subaccountId(6),
      delegate: null,
      orders: Array.from({ length: 100 }, (_, j) =>
        drafted(
          {
            size: -1,
            price: 900,
            orderType: 'trailingStop',
            trailingPpm: 500_000 + j,
            triggerTicks: j % 2 === 0 ? null : priceTicks(5000 + j),
          },
          BigInt(i + j + 1),
        ),
      ),
    });
  }
  return world;
}

function markUpdates(world: GroupWorld): number {
  const started = performance.now();
  for (let i = 0; i < 200; i++) {
    world.engine.apply({
      kind: 'setIndex',
      timeUs: timeUs(world.atUs),
      market: marketId(0),
      priceTicks: priceTicks(1000 + (i % 7)),
      text: '1',
    });
  }
  return performance.now() - started;
}
