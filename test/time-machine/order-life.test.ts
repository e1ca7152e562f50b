/** Why an order was filled late, and which orders took its place: on built runs. */
import { describe, expect, it } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { OrderLife, type OrderLifeView } from '../../src/time-machine/views/order-life.ts';
import { ordersOf, withoutOrder } from '../../src/web/time-machine/order-history.ts';
import { runBranch } from '../../src/web/time-machine/branch-run.ts';
import type { Timeline } from '../../src/time-machine/timeline.ts';
import { World } from './journals.ts';
import { newOrder } from './planted.ts';

function lifeOf(timeline: Timeline, order: number): OrderLifeView {
  const cursor = timeline.cursorAt(timeline.baseSeq);
  const life = new OrderLife(order);
  const events: EngineEvent[] = [];
  while (cursor.step((event) => events.push(event)) !== null) {
    if (!life.after(cursor.engine, events)) break;
    events.length = 0;
  }
  return life.view(cursor.engine);
}

describe('the life of an order', () => {
  it('names the orders before it, and what became of them', () => {
    const world = new World();
    const [early, late, own] = [world.user(1e6), world.user(1e6), world.user(1e6)];
    const taker = world.user(1e6);
    world.price(1000);
    const first = world.order(early, 4, 990);
    const second = world.order(late, 3, 990);
    const mine = world.order(own, 5, 990);
    const after = world.order(late, 9, 990);
    const better = world.order(early, 2, 991);
    world.order(taker, -2, 991, { ioc: true });
    world.cancel(second);
    world.order(taker, -3, 990, { ioc: true });
    const fill = world.order(taker, -2, 990, { ioc: true });
    const timeline = world.open();
    timeline.index();
    const { wait, filled, moments } = lifeOf(timeline, mine.id);
    expect(wait).toMatchObject({
      seq: mine.seq,
      price: '990',
      ahead: '7',
      owners: [
        { name: 'u1', orderId: first.id, size: '4' },
        { name: 'u2', orderId: second.id, size: '3' },
      ],
      traded: '4',
      withdrawn: '3',
      better: '2',
      betterOwners: [{ name: 'u1', size: '2' }],
    });
    // The better order rested for one command of a second.
    expect(wait?.behindUs).toBe(1_000_000);
    expect(filled?.seq).toBe(fill.seq);
    expect(moments.map(({ text, ahead }) => [text, ahead])).toEqual([
      ['', '7'],
      ['', '7'],
      [`3 ahead of it was withdrawn (order ${String(second.id)} of u2)`, '4'],
      [`3 ahead of it traded (order ${String(first.id)} of u1)`, '1'],
      ['', '0'],
    ]);
    expect(after.id).not.toBe(better.id);
  });

  it('distinguishes a fill on arrival, an order that never rests, and one that waits', () => {
    const world = new World();
    const [maker, taker] = [world.user(1e6), world.user(1e6)];
    world.price(1000);
    const waits = world.order(maker, -5, 1001);
    const takes = world.order(taker, 2, 1001, { ioc: true });
    const nothing = world.order(taker, 2, 999, { ioc: true });
    const stays = world.order(taker, 1, 998);
    const timeline = world.open();
    timeline.index();
    expect(lifeOf(timeline, takes.id)).toMatchObject({ wait: null, filled: { seq: takes.seq } });
    expect(lifeOf(timeline, nothing.id)).toMatchObject({ wait: null, filled: null });
    expect(lifeOf(timeline, waits.id)).toMatchObject({ wait: { ahead: '0', behindUs: 0 } });
    expect(lifeOf(timeline, stays.id)).toMatchObject({ wait: { traded: '0' }, filled: null });
    expect(lifeOf(timeline, 999)).toEqual({ moments: [], wait: null, filled: null });
  });
});

describe('the orders of an account', () => {
  it('are numbered, and each has a run without it', async () => {
    const world = new World();
    const [maker, taker] = [world.user(1e6), world.user(1e6)];
    world.price(1000);
    const [first] = [-1, -2, -3].map((size) => world.order(maker, size, 1001 - size)) as [
      ReturnType<World['order']>,
    ];
    const batch = world.apply({
      kind: 'placeOrders',
      timeUs: world.time,
      subaccount: taker,
      delegate: null,
      orders: [
        newOrder({ nonce: 2_000_000n, priceTicks: 1002 as never }),
        newOrder({ nonce: 2_000_001n, priceTicks: 1003 as never, lots: 2 as never }),
        newOrder({ nonce: 2_000_002n, priceTicks: 900 as never, ioc: false }),
      ],
    });
    const last = world.exchange.lastOrderId;
    const cancel = world.cancel({ id: last });
    const timeline = world.open();
    timeline.index();
    const found = await ordersOf(timeline, taker, () => false);
    expect(found?.rows.map(({ number, seq, filled, end }) => [number, seq, filled, end])).toEqual([
      [1, batch.seq, '1', 'filled'],
      [2, batch.seq, '2', 'filled'],
      [3, batch.seq, '0', 'cancelled: its owner cancelled it'],
    ]);
    const edit = withoutOrder(timeline, batch.seq, last - 2);
    expect(edit).toEqual({ kind: 'dropOrder', seq: batch.seq, nth: 0, order: last - 2 });
    const result = await runBranch(timeline, [edit], () => false);
    // The other orders of the command stay, and the cancel still finds its order.
    expect(result?.skipped).toEqual([]);
    expect(result?.fills.base).toBe(4);
    expect(result?.fills.branch).toBe(4);
    expect(result?.fills.onlyBranch.map(({ price }) => price)).toEqual(['1002', '1003', '1003']);
    const third = await runBranch(timeline, [withoutOrder(timeline, batch.seq, last)], () => false);
    expect(third?.skipped).toEqual([cancel.seq]);
    expect(withoutOrder(timeline, first.seq, first.id)).toEqual({ kind: 'drop', seq: first.seq });
  });
});
