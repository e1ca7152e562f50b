/** A recovery, and other long readings of a journal, return to the event loop, so that an interrupt ends them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backupFolder } from '../../src/journal-files/backup-folder.ts';
import { recover, recoverPatiently } from '../../src/journal-files/recover.ts';
import { findUnits } from '../../src/tape-files/find-units.ts';
import { formatNamed } from '../../src/tape-files/format-named.ts';
import { journalRecords } from '../../src/tape-files/journal-records.ts';
import { abandon, depositGroups, openIn, useFolder } from './folder.ts';

const scratch = useFolder();
/** Beyond one step of a replay, without a snapshot. */
const COMMANDS = 9000;
const IMPORT = {
  ...{ symbol: 'BTC-USD-PERP', units: null, inverse: null, map: null, skipBad: 0, state: null },
};

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

test('an interrupt during the replay of a journal that is imported ends it', async () => {
  const path = join(scratch(), 'var');
  await writeJournal(path);
  let isInterrupted = false;
  setImmediate(() => (isInterrupted = true));
  const options = { format: formatNamed('orrery-journal'), files: [path], ...IMPORT };
  const found = findUnits(options, () => {
    if (isInterrupted) throw new Error('interrupted');
  });
  await expect(found).rejects.toThrow('interrupted');
});

test('records of a journal are read in steps, also where commands leave none', async () => {
  const path = join(scratch(), 'var');
  await writeJournal(path);
  const symbol = 'BTC-USD-PERP';
  expect([...journalRecords(path, symbol)].length).toBe(3);
});

// Before the file, twice in its reading, before the recovery and in it, and once in the last reading.
test.each([1, 2, 3, 4, 5, 6])(
  'an interrupt after step %i of a backup leaves nothing',
  async (last) => {
    const path = join(scratch(), 'var');
    const out = join(scratch(), 'backup');
    await writeJournal(path);
    let isInterrupted = false;
    let calls = 0;
    const backup = backupFolder(path, out, () => {
      calls += 1;
      if (calls === last) setImmediate(() => (isInterrupted = true));
      if (isInterrupted) throw new Error('interrupted');
    });
    await expect(backup).rejects.toThrow('interrupted');
    expect(calls).toBe(last + 1);
    expect(existsSync(out)).toBe(false);
  },
);
