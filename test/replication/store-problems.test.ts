/** Messages for an operator when the database refuses writes (docs/OPERATIONS.md, Logs). */
import { expect, test } from 'vitest';
import { timeUs } from '../../src/num/units.ts';
import { EMPTY, type JournalEnd, type JournalStore } from '../../src/replication/ports.ts';
import { ReplicatedExchange } from '../../src/replication/replicated-exchange.ts';
import { headerBytes } from '../../src/journal/format/header.ts';
import { freshExchange } from './sim-cluster.ts';

const LEASE_MS = 1000;
const REFUSED = 'cannot execute INSERT in a read-only transaction';

const { config, seq, nowUs } = freshExchange();

/** A store that refuses what is not given. */
const storeOf = (more: Partial<JournalStore>): JournalStore => ({
  base: () => Promise.resolve(null),
  poll: () =>
    Promise.resolve({
      lead: { epoch: 0, beat: 0, holder: '', address: '' },
      ...{ end: { seq: 0, chainHash: '' }, rows: [] },
    }),
  takeLead: () => Promise.reject(new Error(REFUSED)),
  beat: () => Promise.resolve(true),
  resign: () => Promise.resolve(),
  append: () => Promise.reject(new Error(REFUSED)),
  saveSnapshot: () => Promise.resolve(),
  close: () => Promise.resolve(),
  ...more,
});

class Clock {
  nowMs = 0;
  private timers: { atMs: number; run: () => void }[] = [];

  readonly ticker = {
    nowMs: () => this.nowMs,
    soon: (run: () => void) => void setImmediate(run),
    after: (ms: number, run: () => void) => {
      const timer = { atMs: this.nowMs + ms, run };
      this.timers.push(timer);
      return () => void (this.timers = this.timers.filter((one) => one !== timer));
    },
  };

  async passUntil(endMs: number): Promise<void> {
    for (; this.nowMs < endMs; this.nowMs += 10) {
      const due = this.timers.filter(({ atMs }) => atMs <= this.nowMs);
      this.timers = this.timers.filter((one) => !due.includes(one));
      for (const { run } of due) run();
      await new Promise(setImmediate);
    }
  }
}

function open(
  start: 'lead' | 'follow',
  store: JournalStore,
): { clock: Clock; problems: string[]; opened: Promise<ReplicatedExchange> } {
  const clock = new Clock();
  const problems: string[] = [];
  const opened = ReplicatedExchange.open({
    ...{ store, start, ticker: clock.ticker, leaseMs: LEASE_MS, pollMs: 50, snapshotEvery: 0 },
    ...{ self: { holder: 'a', address: '' }, path: 'memory', checkConfig: () => undefined },
    create: () => ({ config, opening: [] }),
    rehearse: () => Promise.resolve(),
    onProblem: (what, problem) => void problems.push(`${problem}: ${what}`),
  });
  return { clock, problems, opened };
}

test('a leader reports once that writes have stopped, and that they go on', async () => {
  let refuses = false;
  let end: JournalEnd = EMPTY;
  const lead = { epoch: 1, beat: 0, holder: '', address: '' };
  const { clock, problems, opened } = open(
    'lead',
    storeOf({
      takeLead: () => Promise.resolve(1),
      append: () => (refuses ? Promise.reject(new Error(REFUSED)) : Promise.resolve(true)),
      poll: () => Promise.resolve({ lead, end, rows: [] }),
    }),
  );
  const exchange = await opened;
  end = { seq: exchange.durableSeq, chainHash: exchange.engine.chainHash() };
  refuses = true;
  exchange.submit({ kind: 'advanceTime', timeUs: timeUs(nowUs + 1) });
  await clock.passUntil(3 * LEASE_MS);
  expect(exchange.failure?.message).toBe('the database takes no commands');
  // The lease is renewed, and yet a read would wait for the commands that are not committed.
  await expect(exchange.durable()).rejects.toThrow('the database takes no commands');
  refuses = false;
  await clock.passUntil(4 * LEASE_MS);
  expect(problems).toEqual([
    `writes_delayed: a group of commands is not committed yet: ${REFUSED}`,
    `writes_stopped: writes have stopped: ${REFUSED}`,
    'writes_resumed: the database takes commands again',
  ]);
  await exchange.close();
});

test('a follower reports once that it cannot lead, also if each refusal takes long', async () => {
  const header = headerBytes(config, { seq, timeUs: nowUs });
  let beat = 0;
  const later: { after?: Clock['ticker']['after'] } = {};
  const { clock, problems, opened } = open(
    'follow',
    storeOf({
      base: () => Promise.resolve({ header, snapshot: null }),
      poll: () =>
        Promise.resolve({
          lead: { epoch: 1, beat, holder: 'b', address: '' },
          ...{ end: { seq: 0, chainHash: '' }, rows: [] },
        }),
      // As of a database that waits for its standby.
      takeLead: () =>
        new Promise((_, reject) => {
          later.after?.(LEASE_MS, () => {
            reject(new Error(REFUSED));
          });
        }),
    }),
  );
  later.after = clock.ticker.after;
  const exchange = await opened;
  await clock.passUntil(9 * LEASE_MS);
  expect(problems).toEqual([`reads_delayed: the lead is not taken: ${REFUSED}`]);
  beat = 1;
  await clock.passUntil(10 * LEASE_MS + 500);
  expect(problems.slice(1)).toEqual(['reads_resumed: the lead is renewed again']);
  const closed = exchange.close();
  await clock.passUntil(13 * LEASE_MS);
  await closed;
});

test('a follower that can read but not lead reports that it cannot lead', async () => {
  const header = headerBytes(config, { seq, timeUs: nowUs });
  const { clock, problems, opened } = open(
    'follow',
    storeOf({ base: () => Promise.resolve({ header, snapshot: null }) }),
  );
  const exchange = await opened;
  await clock.passUntil(LEASE_MS);
  expect(problems).toEqual([`reads_delayed: the lead is not taken: ${REFUSED}`]);
  const closed = exchange.close();
  await clock.passUntil(2 * LEASE_MS);
  await closed;
});
