/** The leader continues when the database is back (docs/SCALING.md), also beside followers. */
import { expect, test } from 'vitest';
import { headerBytes } from '../../src/journal/format/header.ts';
import type { JournalStore, Leadership } from '../../src/replication/ports.ts';
import { ReplicatedExchange } from '../../src/replication/replicated-exchange.ts';
import { freshExchange } from './sim-cluster.ts';

const LEASE_MS = 1000;
const POLL_MS = 50;

test('a follower gives the leader a whole lease after the database was away', async () => {
  let nowMs = 0;
  let isAway = false;
  let wake = (): void => undefined;
  const takenMs: number[] = [];
  const lead: Leadership = { epoch: 1, beat: 7, holder: 'leader', address: '' };
  const { config, seq, nowUs: timeUs } = freshExchange();
  const header = headerBytes(config, { seq, timeUs });
  const store: JournalStore = {
    base: () => Promise.resolve({ header, snapshot: null }),
    poll: () =>
      isAway
        ? Promise.reject(new Error('the database is out of reach'))
        : Promise.resolve({ lead, end: { seq: 0, chainHash: '' }, rows: [] }),
    takeLead: () => {
      takenMs.push(nowMs);
      return Promise.resolve(null);
    },
    beat: () => Promise.resolve(false),
    resign: () => Promise.resolve(),
    append: () => Promise.resolve(false),
    saveSnapshot: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const exchange = await ReplicatedExchange.open({
    store,
    ticker: {
      nowMs: () => nowMs,
      soon: (run) => void setImmediate(run),
      after: (_ms, run) => {
        wake = run;
        return () => undefined;
      },
    },
    ...{ self: { holder: 'a', address: '' }, path: 'memory', leaseMs: LEASE_MS, pollMs: POLL_MS },
    ...{ start: 'follow', checkConfig: () => undefined, snapshotEvery: 0 },
    create: () => ({ config, opening: [] }),
    rehearse: () => Promise.resolve(),
    onProblem: () => undefined,
  });
  const passUntil = async (endMs: number): Promise<void> => {
    for (; nowMs < endMs; nowMs += POLL_MS) {
      wake();
      await new Promise(setImmediate);
    }
  };
  await passUntil(500);
  isAway = true;
  await passUntil(3000);
  isAway = false;
  await passUntil(6000);
  // The leader has not renewed, so it is replaced then.
  expect(takenMs[0]).toBe(3000 + LEASE_MS);
  const closed = exchange.close();
  wake();
  await closed;
});
