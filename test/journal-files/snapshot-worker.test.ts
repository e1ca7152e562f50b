/**
 * Background snapshots: recovery uses them, they block no requests, and a state that does
 * not replay stops writes.
 */
import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recover } from '../../src/journal-files/recover.ts';
import { abandon, deposit, depositGroups, openIn, useFolder } from './folder.ts';

const folder = useFolder();
const snapshots = (): string[] =>
  readdirSync(folder()).filter((name) => name.startsWith('snapshot'));

test('a snapshot is taken while commands continue, and the next start uses it', async () => {
  const exchange = await openIn(folder());
  await depositGroups(exchange, [50]);
  const { seq } = exchange.engine;
  const taken = exchange.snapshot();
  await depositGroups(exchange, [20, 1]);
  expect(await taken).toBe(`snapshot-${String(seq).padStart(16, '0')}.bin`);
  expect(exchange.snapshots).toMatchObject({ seq, failures: 0, mismatch: false });
  const hash = exchange.engine.stateHash();
  await abandon(exchange);
  const found = recover(folder());
  expect(found).toMatchObject({ snapshotSeq: seq, replayed: 21, passedOver: [] });
  expect(found.engine.stateHash()).toBe(hash);
});

test('one is taken every `snapshotEvery` commands; the last two are kept', async () => {
  const exchange = await openIn(folder(), { snapshotEvery: 10 });
  for (let i = 0; i < 3; i++) {
    const { seq } = exchange.snapshots;
    await depositGroups(exchange, [10]);
    await expect.poll(() => exchange.snapshots.seq, { timeout: 60_000 }).toBeGreaterThan(seq);
  }
  expect(snapshots().length).toBe(2);
  await exchange.close();
});

test('a served state that differs from its replayed journal stops writes and is reported; reads continue', async () => {
  const problems: string[] = [];
  const exchange = await openIn(folder(), { onProblem: (what) => problems.push(what) });
  await depositGroups(exchange, [2]);
  const { state } = exchange.engine as unknown as {
    state: { hash: { int: (word: number) => void } };
  };
  state.hash.int(7);
  await depositGroups(exchange, [1]);
  await expect(exchange.snapshot()).rejects.toThrow('its journal replays to');
  expect(exchange.snapshots).toMatchObject({ failures: 1, mismatch: true });
  expect(exchange.failure?.message).toMatch(
    /^the exchange served has chain hash [0-9a-f]{32} after/,
  );
  expect(problems).toEqual([`writes have stopped: ${exchange.failure!.message}`]);
  expect(() => exchange.submit(deposit(exchange.engine.seq + 1))).toThrow('its journal replays to');
  expect(exchange.engine.subaccountsOf(deposit(1).account).length).toBe(1);
  expect(snapshots()).toEqual([]);
  await exchange.close();
  expect(snapshots()).toEqual([]);
});

test('a failed snapshot or a terminated thread does not stop the exchange', async () => {
  const problems: string[] = [];
  const exchange = await openIn(folder(), { onProblem: (what) => problems.push(what) });
  await depositGroups(exchange, [2]);
  const { seq } = exchange.engine;
  const name = `snapshot-${String(seq).padStart(16, '0')}.bin`;
  await mkdir(join(folder(), name));
  await expect(exchange.snapshot()).rejects.toThrow(name);
  const taken = exchange.snapshot();
  const { snapshotWorker } = exchange as unknown as {
    snapshotWorker: { cancel: () => Promise<void> };
  };
  await snapshotWorker.cancel();
  await expect(taken).rejects.toThrow('the snapshot thread ended early');
  expect(exchange.snapshots.failures).toBe(2);
  expect(problems.every((what) => what.startsWith('no snapshot: '))).toBe(true);
  await depositGroups(exchange, [1]);
  expect(exchange.failure).toBeNull();
  expect(await exchange.snapshot()).toContain(String(seq + 1));
  await abandon(exchange);
});

test('the end of the exchange during a snapshot is no failed snapshot', async () => {
  const problems: string[] = [];
  const exchange = await openIn(folder(), { onProblem: (what) => problems.push(what) });
  await depositGroups(exchange, [2]);
  const asked = Promise.allSettled([exchange.snapshot(), exchange.snapshot()]);
  await exchange.close();
  expect(problems).toEqual([]);
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(exchange.snapshots.failures).toBe(0);
  // The end has written its own.
  expect(snapshots()).toEqual([`snapshot-${String(exchange.engine.seq).padStart(16, '0')}.bin`]);
});
