/**
 * Journals of release 0.2 (semantics version 2) are replayed: their hashes show whether the present
 * rules lead to the same state. The fixtures are the scenarios of that release, run by it. One of
 * them differs: its vault takes fewer bids by the present rules.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { headerBytes, SEMANTICS_VERSION } from '../../src/journal/format/header.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { checkJournal } from '../../src/cli/doctor/folder-checks.ts';
import { backupFolder } from '../../src/journal-files/backup-folder.ts';
import type { DurableExchange } from '../../src/journal-files/durable-exchange.ts';
import { FolderJournal, openJournal } from '../../src/journal-files/folder-journal.ts';
import { plainJournal } from '../../src/journal-files/plain-journal.ts';
import { recover } from '../../src/journal-files/recover.ts';
import { listSegments } from '../../src/journal-files/segments.ts';
import { verifyJournal } from '../../src/journal-files/verify-journal.ts';
import { timeUs } from '../../src/num/units.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { abandon, deposit, openIn, useFolder } from './folder.ts';

const RELEASED = new URL('../journal/fixtures/release-0.2/', import.meta.url);
const DIFFERS = 'black-friday.orrery.gz';
const NOTE =
  'the journal begins by the rules of orrery 0.2, some of which have changed; replay it with that release';
const scratch = useFolder();
const released = (name: string): Uint8Array => gunzipSync(readFileSync(new URL(name, RELEASED)));

/** The folder that release 0.2 served. */
function folder02(): string {
  const from = new URL('fixtures/folder-0.2/', import.meta.url);
  const path = join(scratch(), 'served');
  mkdirSync(path);
  for (const name of readdirSync(from)) {
    const bytes = gunzipSync(readFileSync(new URL(name, from)));
    writeFileSync(join(path, name.replace('.gz', '')), bytes);
  }
  return path;
}

/** Durable before it resolves. */
async function deposits(exchange: DurableExchange, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const command = deposit(exchange.engine.seq + 1);
    exchange.submit({ ...command, timeUs: timeUs(exchange.engine.nowUs + 1) });
  }
  await exchange.durable();
}

/** A journal as a crash leaves it: with the hashes up to a command only. */
function withoutHashesAfter(bytes: Uint8Array, seq: number): Uint8Array {
  const reader = new JournalReader(bytes);
  const parts = [headerBytes(reader.header.config, null, reader.header.semanticsVersion)];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command' || frame.seq <= seq) parts.push(reader.frameBytes);
  }
  return Buffer.concat(parts);
}

/** Gives the last segment the header of another version. */
function relabel(folder: string, version: number): void {
  const last = listSegments(folder).at(-1)!;
  const { config, after } = new FolderJournal([last], null).header;
  const bytes = readFileSync(last.path);
  bytes.set(headerBytes(config, after, version), 0);
  writeFileSync(last.path, bytes);
}

const versions = (folder: string): number[] =>
  listSegments(folder).map((segment) => new FolderJournal([segment], null).header.semanticsVersion);

test.each(readdirSync(RELEASED).filter((name) => name !== DIFFERS))(
  'it replays to the hashes that release 0.2 wrote: %s',
  (name) => {
    const bytes = released(name);
    expect(new JournalReader(bytes).header.semanticsVersion).toBe(2);
    const { ended, mismatch, chainHashes } = replay(bytes, { verify: true });
    expect({ ended, mismatch }).toEqual({ ended: true, mismatch: null });
    expect(chainHashes).toBeGreaterThan(0);
  },
);

test('a journal that the present rules lead elsewhere names its release, in each reader', async () => {
  const bytes = released(DIFFERS);
  const path = join(scratch(), 'journal.orrery');
  writeFileSync(path, bytes);
  // Its hashes are compared without `verify` too.
  const { mismatch } = replay(bytes, { verify: false });
  expect(mismatch).toMatchObject({ what: 'stateHash', seq: 2331, release: '0.2' });
  expect(verifyJournal(path)).toMatchObject({ isWhole: false, mismatch });
  expect(() => recover(scratch())).toThrow(NOTE);
  await expect(openIn(scratch(), { config: null })).rejects.toThrow(NOTE);
  const timeline = Timeline.open(bytes);
  while (!timeline.progress.complete) timeline.index(10_000);
  expect(timeline.progress.mismatch).toMatchObject({ seq: 2331, release: '0.2' });
});

test('an export keeps the version of its source', () => {
  const path = join(scratch(), 'journal.orrery');
  writeFileSync(path, released(DIFFERS));
  const copy = Buffer.concat([...plainJournal(openJournal(path))]);
  expect(replay(copy, { verify: false }).mismatch).toMatchObject({ release: '0.2' });
});

test('a journal of the present rules has no release to name', () => {
  const bytes = released(DIFFERS);
  expect(SEMANTICS_VERSION).toBe(3);
  const copy = join(scratch(), 'journal.orrery');
  writeFileSync(copy, bytes);
  const source = openJournal(copy);
  Object.assign(source.header, { semanticsVersion: SEMANTICS_VERSION });
  const relabelled = Buffer.concat([...plainJournal(source)]);
  expect(replay(relabelled, { verify: true }).mismatch).toMatchObject({ release: null });
});

test('a server continues a folder of release 0.2 in a segment that this release refuses', async () => {
  const path = folder02();
  const [first] = listSegments(path);
  const before = readFileSync(first!.path);
  const exchange = await openIn(path, { config: null });
  await deposits(exchange, 3);
  const hash = exchange.engine.stateHash();
  await exchange.close();
  expect(versions(path)).toEqual([2, SEMANTICS_VERSION]);
  expect(readFileSync(first!.path).equals(before)).toBe(true);
  expect(verifyJournal(path)).toMatchObject({ isWhole: true, stateHash: hash });

  // The next start continues the segment that has the present version.
  const again = await openIn(path, { config: null });
  expect(again.engine.stateHash()).toBe(hash);
  await deposits(again, 1);
  await again.snapshot();
  await again.close();
  expect(versions(path)).toEqual([2, SEMANTICS_VERSION]);
  expect(recover(path).passedOver).toEqual([]);
});

test('a torn write of release 0.2 is removed before the new segment', async () => {
  const path = folder02();
  const [first] = listSegments(path);
  const { offset } = recover(path).end;
  const bytes = readFileSync(first!.path);
  bytes.fill(0xab, offset, offset + 20);
  writeFileSync(first!.path, bytes);
  expect(recover(path).end.torn).not.toBeNull();
  const exchange = await openIn(path, { config: null });
  await deposits(exchange, 1);
  await exchange.close();
  expect(versions(path)).toEqual([2, SEMANTICS_VERSION]);
  expect(verifyJournal(path)).toMatchObject({ isWhole: true, torn: null });
  for (const name of readdirSync(path)) {
    if (name.startsWith('snapshot')) rmSync(join(path, name));
  }
  expect(recover(path).snapshotSeq).toBe(0);
  expect(existsSync(first!.path)).toBe(true);
});

test('commands of release 0.2 after its last hash are refused, since nothing shows their state', async () => {
  const bytes = withoutHashesAfter(released(DIFFERS), 2000);
  const path = join(scratch(), 'journal.orrery');
  writeFileSync(path, bytes);
  const unproven = { fromSeq: 1954, toSeq: 2369, release: '0.2' };
  const note =
    'commands 1954 to 2369 were applied by the rules of orrery 0.2, some of which have changed, and no hash follows to compare';
  expect(replay(bytes, { verify: false })).toMatchObject({ mismatch: null, unproven });
  expect(replay(bytes, { verify: false, untilSeq: 2000 })).toMatchObject({ unproven: null });
  expect(verifyJournal(path)).toMatchObject({ isWhole: false, mismatch: null, unproven });
  expect(() => recover(scratch())).toThrow(note);
  await expect(openIn(scratch(), { config: null })).rejects.toThrow(note);
  await expect(backupFolder(scratch(), join(scratch(), 'copy'))).rejects.toThrow(note);
  const { findings } = checkJournal(scratch(), true, null);
  expect(findings.at(-1)).toMatchObject({ verdict: 'fail', check: 'replay', found: note });
});

test('the present rules need no hash at the end', async () => {
  const exchange = await openIn(scratch());
  await deposits(exchange, 3);
  await abandon(exchange);
  const { seq } = recover(scratch()).engine;
  const found = verifyJournal(scratch());
  expect(found).toMatchObject({ isWhole: true, unproven: null, lastSeq: seq });
  relabel(scratch(), 2);
  expect(verifyJournal(scratch())).toMatchObject({
    isWhole: false,
    unproven: { fromSeq: seq - 2, toSeq: seq, release: '0.2' },
  });
});

test('a snapshot of a state by earlier rules is not used', async () => {
  const exchange = await openIn(scratch());
  await deposits(exchange, 3);
  await exchange.snapshot();
  await exchange.close();
  const { seq } = recover(scratch()).engine;
  expect(recover(scratch())).toMatchObject({ snapshotSeq: seq, passedOver: [] });
  relabel(scratch(), 2);
  const name = `snapshot-${String(seq).padStart(16, '0')}.bin`;
  expect(recover(scratch())).toMatchObject({
    snapshotSeq: 0,
    passedOver: [`${name}: has the state by the rules of orrery 0.2`],
  });
  const { findings } = checkJournal(scratch(), false, null);
  expect(findings[0]).toMatchObject({ verdict: 'warn', check: 'snapshots' });
});
