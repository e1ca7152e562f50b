/** A recovery returns to the event loop, so that an interrupt ends it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupFolder } from '../../src/journal-files/backup-folder.ts';
import { recover, recoverPatiently } from '../../src/journal-files/recover.ts';
import { abandon, depositGroups, openIn, useFolder } from './folder.ts';

const scratch = useFolder();
/** Beyond one step of a replay, without a snapshot. */
const COMMANDS = 9000;

async function writeJournal(path: string): Promise<void> {
  const exchange = await openIn(path, { snapshotEvery: 0 });
  await depositGroups(exchange, [COMMANDS]);
  await abandon(exchange);
}

test('a recovery lets the event loop run', async () => {
  const path = join(scratch(), 'var');
  await writeJournal(path);
  const hash = recover(path).engine.stateHash();
  let turns = 0;
  const found = await recoverPatiently(path, {}, () => (turns += 1));
  expect(turns).toBe(1);
  expect(found.engine.stateHash()).toBe(hash);
});

test('an interrupt during the recovery of a backup leaves nothing', async () => {
  const path = join(scratch(), 'var');
  const out = join(scratch(), 'backup');
  await writeJournal(path);
  let isInterrupted = false;
  let calls = 0;
  const backup = backupFolder(path, out, () => {
    calls += 1;
    // Before each file, and before the recovery.
    if (calls === 2) setImmediate(() => (isInterrupted = true));
    if (isInterrupted) throw new Error('interrupted');
  });
  await expect(backup).rejects.toThrow('interrupted');
  expect(calls).toBe(3);
  expect(existsSync(out)).toBe(false);
});
