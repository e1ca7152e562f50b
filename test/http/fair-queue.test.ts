/** Order of work among callers: light ones first, heavy ones in equal shares, each in its order. */
import type { FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { inQueue } from '../../src/http/in-queue.ts';
import { FairQueue } from '../../src/http/fair-queue.ts';

/** A queue on a clock that work moves. */
class Bench {
  atMs = 0;
  readonly done: string[] = [];
  readonly queue: FairQueue;

  /** Real time passes too, unless a test has no pause: pauses are real. */
  constructor(realMs: () => number = () => performance.now()) {
    this.queue = new FairQueue(() => this.atMs + realMs());
  }

  run(caller: string, ms: number, name = caller, expectedMs = 0, continues = false): Promise<void> {
    const work = (): void => {
      this.atMs += ms;
      this.done.push(name);
    };
    return Promise.resolve(this.queue.run(caller, work, expectedMs, continues));
  }

  /** Lets the caller's mean approach this cost; work after it is in a new turn. */
  async learn(caller: string, ms: number): Promise<void> {
    for (let i = 0; i < 100; i++) {
      await this.run(caller, ms);
      this.atMs += 100;
    }
    // Work of nothing opens a turn, which has done nothing once its work has run.
    await this.run(caller, 0);
    await new Promise(setImmediate);
    this.done.length = 0;
  }
}

describe('work of callers', () => {
  test('runs at once while a turn has done little', () => {
    const bench = new Bench(() => 0);
    void bench.run('a', 1);
    void bench.run('b', 0.5);
    expect(bench.done).toEqual(['a', 'b']);
  });

  test('of a light caller precedes waiting work of heavy ones', async () => {
    const bench = new Bench();
    for (const heavy of ['h1', 'h2', 'h3']) await bench.learn(heavy, 10);
    await bench.learn('light', 0.1);
    const all = ['h1', 'h1', 'h2', 'h2', 'h3', 'h3'].map((caller) => bench.run(caller, 10));
    all.push(bench.run('light', 0.1));
    await Promise.all(all);
    // At most one piece ran before: the light one precedes all that wait.
    expect(bench.done.indexOf('light')).toBeLessThan(2);
    expect(bench.done).toHaveLength(7);
  });

  test('of heavy callers takes turns by the work that each had done', async () => {
    const bench = new Bench();
    for (const heavy of ['x', 'a', 'b']) await bench.learn(heavy, 5);
    const all = [bench.run('x', 5)];
    for (let i = 0; i < 4; i++) all.push(bench.run('a', 20));
    for (let i = 0; i < 8; i++) all.push(bench.run('b', 10));
    await Promise.all(all);
    const middle = bench.done.slice(1, 10);
    const count = (caller: string): number => middle.filter((name) => name === caller).length;
    expect(count('a')).toBeLessThan(count('b'));
    expect(count('a')).toBeGreaterThan(1);
  });

  test('of a light caller that pauses of the process made slow twice still precedes', async () => {
    const bench = new Bench();
    for (const heavy of ['h1', 'h2', 'h3']) await bench.learn(heavy, 1);
    await bench.learn('light', 0.1);
    for (const pauseMs of [30, 30]) await bench.run('light', pauseMs);
    bench.done.length = 0;
    const all = ['h1', 'h1', 'h2', 'h2', 'h3', 'h3'].map((caller) => bench.run(caller, 1));
    all.push(bench.run('light', 0.1));
    await Promise.all(all);
    expect(bench.done.indexOf('light')).toBeLessThan(2);
  });

  test('that is expected to be costly waits behind light work, whoever sends it', async () => {
    const bench = new Bench();
    const savers = Array.from({ length: 20 }, (_, i) => `saver ${String(i)}`);
    for (const saver of savers) await bench.learn(saver, 0.01);
    await bench.learn('light', 0.1);
    const all = [bench.run('light', 3)];
    for (const saver of savers) all.push(bench.run(saver, 3, saver, 2.5));
    all.push(bench.run('light', 0.1));
    await Promise.all(all);
    expect(bench.done.slice(0, 2)).toEqual(['light', 'light']);
  });

  test('of a known heavy caller runs although new ones come all the time', async () => {
    const bench = new Bench();
    await bench.learn('known', 3);
    const all = [bench.run('other', 3, 'other', 2.5), bench.run('known', 3)];
    const send = (i: number): void => {
      const { length } = bench.done;
      if (i < 200) all.push(bench.run(`new ${String(i)}`, 3, 'new', 2.5).then(() => send(length)));
    };
    for (let i = 0; i < 4; i++) send(i);
    await all[1];
    expect(bench.done.filter((name) => name === 'new').length).toBeLessThan(120);
  });

  test('that is heavy runs once in a turn: at its begin or at its end', async () => {
    const bench = new Bench();
    const all = ['x', 'y'].map((caller) => bench.run(caller, 3, caller, 2.5));
    await new Promise(setImmediate);
    expect(bench.done).toEqual(['x']);
    await Promise.all(all);
    expect(bench.done).toEqual(['x', 'y']);
  });

  test('of a request that has begun precedes requests that have not', async () => {
    const bench = new Bench();
    const all = [bench.run('x', 3, 'x', 2.5)];
    for (const caller of ['a', 'b', 'a']) all.push(bench.run(caller, 3, `${caller} begins`, 2.5));
    all.push(bench.run('b', 3, 'b continues', 2.5, true));
    await Promise.all(all);
    expect(bench.done).toEqual(['x', 'b continues', 'a begins', 'b begins', 'a begins']);
  });

  test('of heavy callers runs together in a turn while it is short', async () => {
    const bench = new Bench();
    for (const caller of ['a', 'b', 'c', 'd']) await bench.learn(caller, 0.5);
    const turns: number[] = [];
    const watch = (): void => {
      turns.push(bench.done.length);
      if (bench.done.length < 9) setImmediate(watch);
    };
    const all = [bench.run('first', 3)];
    for (const caller of ['a', 'b', 'c', 'd']) {
      all.push(bench.run(caller, 0.5), bench.run(caller, 0.5));
    }
    setImmediate(watch);
    await Promise.all(all);
    const perTurn = turns.map((done, i) => done - (turns[i - 1] ?? 1));
    expect(Math.max(...perTurn)).toBeGreaterThan(1);
    expect(Math.max(...perTurn)).toBeLessThan(6);
  });

  test('of one caller keeps its order', async () => {
    const bench = new Bench();
    const names = Array.from({ length: 30 }, (_, i) => `p${String(i)}`);
    await Promise.all(names.map((name, i) => bench.run('a', i % 3 === 0 ? 4 : 0.1, name)));
    expect(bench.done).toEqual(names);
  });

  test('of a new caller comes after that of known light ones', async () => {
    const bench = new Bench();
    await bench.learn('known', 0.1);
    const all = [bench.run('known', 3, 'first')];
    for (let i = 0; i < 50; i++) all.push(bench.run(`new ${String(i)}`, 5));
    all.push(bench.run('known', 0.1, 'second'));
    await Promise.all(all);
    expect(bench.done.slice(0, 2)).toEqual(['first', 'second']);
  });

  test('that throws rejects, and later work runs', async () => {
    const { queue } = new Bench();
    const fail = (): never => {
      throw new Error('no');
    };
    expect(() => queue.run('a', fail)).toThrow('no');
    const bench = new Bench();
    void bench.run('a', 5);
    await expect(bench.queue.run('a', fail)).rejects.toThrow('no');
    await bench.run('a', 1);
    expect(bench.done).toHaveLength(2);
  });

  test('of callers that are gone is forgotten', async () => {
    const bench = new Bench();
    for (let i = 0; i < 1000; i++) await bench.run(`c${String(i)}`, 0.01);
    bench.atMs += 60_000;
    await bench.run('later', 0.01);
    const { shares } = bench.queue as unknown as { shares: Map<string, unknown> };
    expect(shares.size).toBeLessThan(3);
  });
});

describe('a request whose client has closed the connection', () => {
  const requestOf = (socket: { readonly destroyed: boolean }): FastifyRequest => {
    const request: unknown = { known: { work: 'w', caller: 'c' }, raw: { socket } };
    return request as FastifyRequest;
  };

  test('is not done if it waits', async () => {
    const queue = new FairQueue();
    const done: string[] = [];
    const socket = { destroyed: false };
    const first = inQueue(queue, requestOf(socket), () => done.push('first'), 10);
    const second = inQueue(queue, requestOf(socket), () => done.push('second'), 10);
    const other = inQueue(queue, requestOf({ destroyed: false }), () => done.push('other'), 10);
    socket.destroyed = true;
    await expect(second).rejects.toThrow('the client closed the connection');
    await Promise.all([first, other]);
    expect(done).toEqual(['first', 'other']);
  });

  test('is done if it has begun: an error of its reply has no handler', async () => {
    const queue = new FairQueue();
    const done: string[] = [];
    const socket = { destroyed: false };
    void inQueue(queue, requestOf(socket), () => done.push('first'), 10);
    const reply = inQueue(queue, requestOf(socket), () => done.push('reply'), 10, true);
    socket.destroyed = true;
    await reply;
    expect(done).toEqual(['first', 'reply']);
  });

  test('is done if it does not wait: it was sent in time', () => {
    const done: string[] = [];
    const gone = requestOf({ destroyed: true });
    void inQueue(new FairQueue(), gone, () => done.push('done'), 0);
    expect(done).toEqual(['done']);
  });
});
