/** A folder that is compacted at its last command: the snapshot has all, and the journal nothing. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compact, planCompaction } from '../../src/journal-files/compact-journal.ts';
import { recover } from '../../src/journal-files/recover.ts';
import { verifyJournal } from '../../src/journal-files/verify-journal.ts';
import { depositGroups, openIn, useFolder } from './folder.ts';

const SMALL = { first: 8192, max: 8192 };
const folder = useFolder();

test('it verifies, and a changed byte of its snapshot is found', async () => {
  const exchange = await openIn(folder(), { segmentBytes: SMALL });
  await depositGroups(exchange, [60, 60, 60]);
  const { seq } = exchange.engine;
  const hash = exchange.engine.stateHash();
  await exchange.snapshot();
  await exchange.close();
  const plan = planCompaction(folder());
  await compact(folder(), plan);
  expect(plan.snapshotSeq).toBe(seq);
  expect(plan.dropped.length).toBeGreaterThan(0);
  expect(recover(folder()).engine.stateHash()).toBe(hash);
  expect(verifyJournal(folder())).toMatchObject({
    isWhole: true,
    lastSeq: seq,
    stateHash: hash,
    snapshots: [{ name: plan.snapshot, verdict: 'agrees' }],
  });

  const path = join(folder(), plan.snapshot);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(path, bytes);
  expect(() => verifyJournal(folder())).toThrow('no snapshot has the state');
});
