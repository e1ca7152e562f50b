/** Backups of a folder that is written to, and restored exchanges. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Host } from '../../src/http/exchange-host.ts';
import { rebuildHistory } from '../../src/http/rebuild-history.ts';
import { backupFolder } from '../../src/journal-files/backup-folder.ts';
import { openJournal } from '../../src/journal-files/folder-journal.ts';
import { recover } from '../../src/journal-files/recover.ts';
import { listSegments } from '../../src/journal-files/segments.ts';
import { verifyJournal } from '../../src/journal-files/verify-journal.ts';
import { ALICE, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';
import { depositGroups, openIn, useFolder } from './folder.ts';

const scratch = useFolder();
const AS_ALICE = { account: ALICE, signer: ALICE };

test('backups under load have every command answered before, and serve on', async () => {
  const segmentBytes = { first: 2048, max: 4096 };
  const served = await Served.start({ path: join(scratch(), 'var'), disk: { segmentBytes } });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  let ends = false;
  let answered = 0;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!ends) {
        await served.call('submitOrder', order({ price: '30000' }), AS_ALICE);
        await served.call('cancelAllOrders', { account: ALICE, subaccountIndex: 0 }, AS_ALICE);
        answered = Math.max(answered, served.host.exchange.durableSeq);
      }
    }),
  );
  const backups: string[] = [];
  for (let i = 0; i < 6; i++) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    const before = answered;
    const out = join(scratch(), `backup-${String(i)}`);
    const { lastSeq } = await backupFolder(served.path, out);
    expect(lastSeq).toBeGreaterThanOrEqual(before);
    expect(verifyJournal(out)).toMatchObject({ isWhole: true, lastSeq });
    backups.push(out);
    if (i === 3) await served.sim('snapshot', {});
  }
  ends = true;
  await load;
  expect(listSegments(served.path).length).toBeGreaterThan(1);
  await served.remove();

  const [last = ''] = backups.slice(-1);
  const restored = await Served.start({ path: last });
  expect(restored.recovery).toMatchObject({ isNew: false, cutBytes: 0 });
  const { status } = await restored.call('submitOrder', order({ nonce: 9e9 }), AS_ALICE);
  expect(status).toBe(200);
  await restored.stop();
  expect(verifyJournal(last)).toMatchObject({ isWhole: true });
});

test('damage is not taken for a write in progress, and nothing is left', async () => {
  const path = join(scratch(), 'var');
  const served = await Served.start({ path });
  for (let i = 0; i < 20; i++) await served.sim('deposit', { account: ALICE, amount: '1' });
  await served.stop();
  const file = listSegments(path)[0]!.path;
  const bytes = readFileSync(file);
  bytes[700] = (bytes[700] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
  const out = join(scratch(), 'out');
  // The original is named: the copy is deleted.
  await expect(backupFolder(path, out)).rejects.toThrow(
    new RegExp(`^${file}: .*although a whole group follows`),
  );
  expect(existsSync(out)).toBe(false);

  // Nor are parents that it made, but a folder that was there.
  await expect(backupFolder(path, join(out, 'deep', 'er'))).rejects.toThrow(
    'a whole group follows',
  );
  expect(existsSync(out)).toBe(false);
  mkdirSync(out);
  await expect(backupFolder(path, out)).rejects.toThrow('a whole group follows');
  expect(readdirSync(out)).toEqual([]);
});

test('damage before the snapshot fails a backup that no server could start on', async () => {
  const path = join(scratch(), 'var');
  const exchange = await openIn(path, { segmentBytes: { first: 1024, max: 1024 } });
  await depositGroups(exchange, Array<number>(16).fill(5));
  await exchange.snapshot();
  await exchange.close();
  const [first, second] = listSegments(path);
  expect(second).toBeDefined();
  const bytes = readFileSync(first!.path);
  bytes[700] = (bytes[700] ?? 0) ^ 0xff;
  writeFileSync(first!.path, bytes);
  const out = join(scratch(), 'out');
  await expect(backupFolder(path, out)).rejects.toThrow(`${first!.path}: journal at byte`);
  expect(existsSync(out)).toBe(false);
  // As a start reads it.
  const started = await openIn(path);
  const host = {
    exchange: started,
    history: {
      rebuild: (read: (sink: () => void) => void) => {
        read(() => undefined);
      },
    },
  };
  expect(() => rebuildHistory(host as unknown as Host)).toThrow('journal at byte');
  await started.close();
});

test('a backup that a killed process left is refused until the whole exchange is in it', async () => {
  const path = join(scratch(), 'var');
  const exchange = await openIn(path, { segmentBytes: { first: 1024, max: 1024 } });
  await depositGroups(exchange, Array<number>(16).fill(5));
  await exchange.snapshot();
  await exchange.close();
  const files = readdirSync(path).filter((name) => /orrery$|bin$/.test(name));
  expect(listSegments(path).length).toBeGreaterThan(3);

  // The folder as it is before each file, and before the test of the whole.
  const left: string[] = [];
  const out = join(scratch(), 'out');
  const { lastSeq } = await backupFolder(path, out, () => {
    const copy = join(scratch(), `left-${String(left.length)}`);
    cpSync(out, copy, { recursive: true });
    left.push(copy);
  });
  expect(left.length).toBe(files.length + 1);
  for (const folder of left) {
    const refusal = `${folder}: is a backup that did not finish; delete this folder`;
    await expect(openIn(folder)).rejects.toThrow(refusal);
    for (const read of [recover, verifyJournal, openJournal]) {
      expect(() => read(folder)).toThrow(refusal);
    }
    await expect(backupFolder(path, folder)).rejects.toThrow(refusal);
    await expect(backupFolder(folder, join(scratch(), 'again'))).rejects.toThrow(refusal);
  }
  expect(readdirSync(out).sort()).toEqual(files.sort());
  expect(recover(out).position.seq).toBe(lastSeq);

  // An interrupt leaves nothing.
  const none = join(scratch(), 'none');
  let begun = 0;
  const interrupted = backupFolder(path, none, () => {
    begun += 1;
    if (begun === 3) throw new Error('interrupted');
  });
  await expect(interrupted).rejects.toThrow('interrupted');
  expect(existsSync(none)).toBe(false);
});

test('a pipe or a folder in place of a snapshot is left out, and one of a journal is named', async () => {
  const path = join(scratch(), 'var');
  const served = await Served.start({ path });
  for (let i = 0; i < 5; i++) await served.sim('deposit', { account: ALICE, amount: '1' });
  await served.stop();
  execFileSync('mkfifo', [join(path, 'snapshot-0000000000000098.bin')]);
  mkdirSync(join(path, 'snapshot-0000000000000099.bin'));
  const { files } = await backupFolder(path, join(scratch(), 'out'));
  expect(files.filter((name) => /9[89]/.test(name))).toEqual([]);
  expect(files.length).toBe(2);

  const segment = join(path, 'journal-0000000000000099.orrery');
  mkdirSync(segment);
  await expect(backupFolder(path, join(scratch(), 'no'))).rejects.toThrow(
    `${segment}: is a folder; expected a file`,
  );
  rmSync(segment, { recursive: true });
  execFileSync('mkfifo', [segment]);
  await expect(backupFolder(path, join(scratch(), 'no'))).rejects.toThrow(
    `${segment}: is not a regular file`,
  );
});

test('a folder without a journal, a file, the folder itself, and a folder with files are refused', async () => {
  const path = join(scratch(), 'var');
  const served = await Served.start({ path });
  await expect(backupFolder(path, path)).rejects.toThrow('is the folder itself');
  const full = join(scratch(), 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'x'), '');
  await expect(backupFolder(path, full)).rejects.toThrow('is not empty');
  await expect(backupFolder(full, join(scratch(), 'y'))).rejects.toThrow('no journal');
  const file = listSegments(path)[0]!.path;
  await expect(backupFolder(file, join(scratch(), 'y'))).rejects.toThrow(`${file}: is a file`);
  expect(existsSync(join(scratch(), 'y'))).toBe(false);
  const out = join(scratch(), 'private');
  await backupFolder(path, out);
  for (const name of readdirSync(out)) expect(statSync(join(out, name)).mode & 0o077).toBe(0);
  await served.remove();
});

/** Written by release 0.2.0: deposits, a fill, a resting order; and its hash of the state then. */
const FOLDER_0_2 = new URL('fixtures/folder-0.2/', import.meta.url);
const STATE_0_2 = 'fc23b33075004243f6828d176b7a867393cdfa8440c8cf0aea401866f52ce6cb';

test('a folder of release 0.2 opens with the state it had; its snapshot is not used', async () => {
  const path = join(scratch(), 'old');
  mkdirSync(path);
  for (const name of readdirSync(FOLDER_0_2)) {
    writeFileSync(
      join(path, name.replace('.gz', '')),
      gunzipSync(readFileSync(new URL(name, FOLDER_0_2))),
    );
  }
  expect(verifyJournal(path)).toMatchObject({
    isWhole: true,
    stateHash: STATE_0_2,
    snapshots: [{ verdict: 'outdated' }],
  });
  expect(recover(path).passedOver).toEqual(['snapshot-0000000000000009.bin is of another release']);
  const exchange = await openIn(path, { config: null });
  expect(exchange.engine.stateHash()).toBe(STATE_0_2);
  await exchange.close();
});
