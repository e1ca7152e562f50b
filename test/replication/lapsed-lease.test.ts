/** A leader that cannot renew its lease says how old its state may be (docs/SCALING.md). */
import { expect, test } from 'vitest';
import type { JournalStore } from '../../src/replication/ports.ts';
import { ReplicatedExchange } from '../../src/replication/replicated-exchange.ts';
import { freshExchange } from './sim-cluster.ts';

test('after its lease a leader has a lag, since another one may lead', async () => {
  let nowMs = 0;
  const unreachable = Promise.reject(new Error('the database is out of reach'));
  unreachable.catch(() => undefined);
  const store: JournalStore = {
    base: () => Promise.resolve(null),
    poll: () =>
      Promise.resolve({
        lead: { epoch: 0, beat: 0, holder: '', address: '' },
        ...{ end: { seq: 0, chainHash: '' }, rows: [] },
      }),
    takeLead: () => Promise.resolve(1),
    beat: () => unreachable,
    resign: () => Promise.resolve(),
    append: () => Promise.resolve(true),
    saveSnapshot: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const exchange = await ReplicatedExchange.open({
    store,
    ticker: {
      nowMs: () => nowMs,
      soon: (run) => void setImmediate(run),
      after: () => () => undefined,
    },
    ...{ self: { holder: 'a', address: '' }, path: 'memory', leaseMs: 1000, pollMs: 1000 },
    ...{ start: 'lead', checkConfig: () => undefined, snapshotEvery: 0 },
    create: () => ({ config: freshExchange().config, opening: [] }),
    rehearse: () => Promise.resolve(),
    onProblem: () => undefined,
  });
  nowMs = 899;
  expect(exchange.replica).toMatchObject({ role: 'leader', lagMs: 0 });
  nowMs = 1400;
  expect(exchange.replica).toMatchObject({ role: 'leader', lagMs: 500 });
  await exchange.close();
});
