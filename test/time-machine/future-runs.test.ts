/** Futures from a snapshot without nonces and history are those from a whole one. */
import { expect, it, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { Checkpoint } from '../../src/time-machine/what-if/checkpoint.ts';
import { FutureRuns, isLiquidated } from '../../src/time-machine/what-if/future-runs.ts';
import { resampledFuture } from '../../src/time-machine/what-if/future.ts';
import { Inevitability } from '../../src/time-machine/what-if/inevitability.ts';
import { MoveCollector } from '../../src/time-machine/what-if/price-moves.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { randomJournal, World } from './journals.ts';

const WINDOW = { from: 300, to: 400 };

it.each<readonly [ProfileName, string]>([
  ['stress', 'futures-1'],
  ['stress', 'futures-2'],
  ['crisis', 'futures-3'],
])('the events of a future are equal (%s, %s)', (profile, seed) => {
  const journal = randomJournal(seed, 500, { profile });
  const timeline = Timeline.open(journal.bytes);
  timeline.index();
  const collector = new MoveCollector(5, WINDOW);
  collector.read(timeline.cursorAt(0), Infinity);
  const moves = collector.finish();
  expect(moves.moves.length).toBeGreaterThan(5);
  for (const seq of [WINDOW.from, WINDOW.to]) {
    const { engine } = timeline.cursorAt(seq);
    const whole = engine.fork();
    const state = engine.snapshotForPrices();
    const bare = Exchange.restore(state);
    const checkpoint = new Checkpoint(bare);
    const prices = moves.moves.find((move) => move.seq > seq)?.before ?? moves.last;
    const future = (name: string) =>
      resampledFuture(moves, 60, engine.nowUs, prices, new RandomStreams(seed).stream(name));
    for (const name of ['another', 'a third']) {
      for (const command of future(name)) bare.apply(command, () => undefined);
      expect(bare.chainHash()).not.toBe(engine.chainHash());
      checkpoint.rewind();
      expect(bare.snapshotForPrices()).toEqual(state);
    }
    let events = 0;
    for (const command of future('future')) {
      const emitted: unknown[] = [];
      whole.apply(command, (event) => emitted.push(structuredClone(event)));
      let i = 0;
      bare.apply(command, (event) => {
        expect(event).toEqual(emitted[i++]);
      });
      expect(i).toBe(emitted.length);
      events += i;
    }
    expect(bare.chainHash()).toBe(whole.chainHash());
    expect(events).toBeGreaterThan(20);
    expect(bare.checkInvariants()).toEqual([]);
    expect(engine.snapshotForPrices().length).toBeLessThan(engine.snapshot().length);
  }
});

test('a journal with more moves than fit keeps those around the window', () => {
  const world = new World();
  for (let i = 0; i < 5000; i++) world.price(1000 + (i % 7));
  const collector = new MoveCollector(5, { from: 3000, to: 3400 }, 2000);
  const cursor = world.open().cursorAt(0);
  while (collector.read(cursor, 500));
  const { moves, books } = collector.finish();
  expect(moves.length).toBeLessThan(3500);
  expect(moves[0]!.seq).toBeLessThan(3000);
  expect(moves.at(-1)!.seq).toBeGreaterThan(3400);
  // Consecutive, and as many recorded books as blocks.
  moves.forEach(({ seq }, i) => {
    expect(seq).toBe(moves[0]!.seq + i);
  });
  expect(books.length).toBe(Math.ceil(moves.length / 5));
});

/** A market that falls and rises by chance, until it liquidates an account with one lot. */
function fallingWorld() {
  const world = new World();
  const maker = world.user(10_000_000);
  const victim = world.user(700);
  let ticks = 2000;
  world.price(ticks);
  world.order(maker, -1, ticks);
  world.order(victim, 1, ticks, { ioc: true });
  for (let i = 0; i < 300 && ticks > 600; i++) {
    ticks += ((i * 7) % 11) - 8;
    world.price(ticks);
  }
  const timeline = world.open();
  timeline.index();
  for (let seq = 1; ; seq++) {
    const events = timeline.seek(seq).step?.events ?? [];
    if (events.some((event) => event.kind === 'liquidationStep')) {
      return { world, timeline, victim, liquidationSeq: seq };
    }
  }
}

test('counts what a restore for each future counts, in parts and in any order', () => {
  const { timeline, victim, liquidationSeq } = fallingWorld();
  const collector = new MoveCollector(5, { from: 1, to: liquidationSeq });
  collector.read(timeline.cursorAt(0), Infinity);
  const moves = collector.finish();
  const settings = { subaccount: victim, horizon: 20, seed: 'parts' };
  const runs = new FutureRuns(moves, settings);
  const counts = [1, 6, 10, 13, 16, 20, 60].map((before) => {
    const seq = liquidationSeq - before;
    const { engine } = timeline.cursorAt(seq);
    const prices = moves.moves.find((move) => move.seq > seq)?.before ?? moves.last;
    const job = { seq, state: engine.snapshotForPrices(), prices };
    let counted = 0;
    for (let i = 0; i < 30; i++) {
      const random = new RandomStreams('parts').stream(`future ${String(i)}`);
      const future = resampledFuture(moves, 20, engine.nowUs, prices, random);
      if (isLiquidated(Exchange.restore(job.state), victim, future)) counted += 1;
    }
    const parts = [
      { first: 7, end: 30 },
      { first: 0, end: 7 },
    ];
    const shared = parts.map((part) => runs.run({ ...job, ...part }));
    expect(shared[0]! + shared[1]!).toBe(counted);
    return counted;
  });
  // Not all or none: the comparison could not fail.
  expect(counts.filter((count) => count > 0 && count < 30).length).toBeGreaterThan(1);
});

test('an index that ends while moves are collected changes no curve', () => {
  const { world, victim, liquidationSeq } = fallingWorld();
  const curveOf = (indexed: 'before' | 'between' | 'never') => {
    const timeline = world.open();
    if (indexed === 'before') timeline.index();
    const options = { subaccount: victim, liquidationSeq, forks: 100 };
    const inevitability = new Inevitability(timeline, options);
    inevitability.collect(64);
    inevitability.collect(64);
    if (indexed === 'between') timeline.index();
    while (inevitability.collect(64));
    const { moves } = inevitability.shared?.moves ?? { moves: [] };
    return { moves: moves.length, curve: inevitability.run(Infinity) };
  };
  const expected = curveOf('never');
  expect(expected.moves).toBeGreaterThan(200);
  expect(curveOf('before')).toEqual(expected);
  expect(curveOf('between')).toEqual(expected);
});
