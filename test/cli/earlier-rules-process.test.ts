/**
 * Journals of semantics version 1 (release 0.1): every reader rejects them and names that release.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { crc32 } from '../../src/base/crc32.ts';
import { recover } from '../../src/journal-files/recover.ts';
import { listSegments } from '../../src/journal-files/segments.ts';
import { listSnapshots } from '../../src/journal-files/snapshots.ts';
import { depositGroups, openIn, useFolder } from '../journal-files/folder.ts';
import { CLI, startServe } from './serve-process.ts';

/** Written by `orrery run` of release 0.1.0. */
const RELEASED = fileURLToPath(new URL('../journal/fixtures/release-0.1.orrery', import.meta.url));
const REFUSAL = 'semantics version 1, this program reads 2 and 3; replay it with orrery 0.1';
/** Magic, length, checksum; then the format version's byte and the semantics version's. */
const HEADER_FIXED = 16;
const RUN = {
  ...{ orrery: 'run', version: 1, firstUs: 1, lastUs: 2, sampleUs: 1, seed: '1', commands: 1 },
  ...{ markets: [], strategies: [], chainHash: '0', stateHash: '0', assumptions: [], data: [] },
};
const template = mkdtempSync(join(tmpdir(), 'orrery-'));
const scratch = useFolder();
const data = (): string => join(scratch(), 'var');

/** The same header with semantics version 1 (a zigzag byte) and a valid checksum. */
function asVersion1(path: string): void {
  const bytes = readFileSync(path);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = HEADER_FIXED + view.getUint32(8, true);
  expect(bytes[HEADER_FIXED + 1]).toBe(6);
  bytes[HEADER_FIXED + 1] = 2;
  view.setInt32(12, crc32(view, HEADER_FIXED, end), true);
  writeFileSync(path, bytes);
}

function dropSnapshots(): void {
  for (const { name } of listSnapshots(data())) rmSync(join(data(), name));
}

/** Creates the state after a compaction. */
function dropFirstSegments(): void {
  const [oldest] = listSnapshots(data()).reverse();
  const kept = listSegments(data()).findLastIndex(({ afterSeq }) => afterSeq <= oldest!.seq);
  expect(kept).toBeGreaterThan(0);
  for (const { path } of listSegments(data()).slice(0, kept)) rmSync(path);
}

function orrery(...args: string[]): { status: number | null; err: string } {
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8' });
  return { status, err: stderr };
}

const refused = { status: 2, err: expect.stringContaining(REFUSAL) as string };

beforeAll(async () => {
  const exchange = await openIn(template, { segmentBytes: { first: 4096, max: 4096 } });
  for (const groups of [60, 30]) {
    await depositGroups(
      exchange,
      Array.from({ length: groups }, () => 4),
    );
    await exchange.snapshot();
  }
  await exchange.close();
  for (const { path } of listSegments(template)) asVersion1(path);
});
afterAll(() => {
  rmSync(template, { recursive: true, force: true });
});
beforeEach(() => {
  cpSync(template, data(), { recursive: true });
});

test.each([
  [['replay', 'JOURNAL']],
  [['replay', 'JOURNAL', '--verify']],
  [['journal', 'verify', 'JOURNAL']],
  [['journal', 'inspect', 'JOURNAL']],
  [['journal', 'export', 'JOURNAL', '--json']],
  [['diff', 'JOURNAL', 'JOURNAL']],
])('a journal of release 0.1 is rejected by %j', (args) => {
  const filled = args.map((arg) => (arg === 'JOURNAL' ? RELEASED : arg));
  expect(orrery(...filled)).toEqual(refused);
});

test.each(['whole', 'compacted', 'compacted, without snapshots'])(
  'a data folder of semantics version 1 is rejected: %s',
  async (state) => {
    if (state !== 'whole') dropFirstSegments();
    if (state === 'compacted, without snapshots') dropSnapshots();
    const before = readdirSync(data());
    expect(() => recover(data())).toThrow(REFUSAL);
    await expect(openIn(data())).rejects.toThrow(REFUSAL);
    await expect(startServe(['--data-dir', data()])).rejects.toThrow(REFUSAL);
    expect(orrery('replay', data())).toEqual(refused);
    expect(orrery('journal', 'verify', data())).toEqual(refused);
    expect(readdirSync(data())).toEqual(before);
  },
);

test('a folder with the plain journal of release 0.1 is rejected and unchanged', async () => {
  for (const name of readdirSync(data())) rmSync(join(data(), name));
  const path = join(data(), 'journal.orrery');
  copyFileSync(RELEASED, path);
  await expect(openIn(data())).rejects.toThrow(REFUSAL);

  // A complete header without commands is not the rest of a torn first write.
  const bytes = readFileSync(RELEASED);
  writeFileSync(path, bytes.subarray(0, HEADER_FIXED + bytes.readUInt32LE(8)));
  await expect(openIn(data())).rejects.toThrow(REFUSAL);
  expect(readdirSync(data())).toEqual(['journal.orrery']);
});

test('a journal of release 0.2 that leads elsewhere is named as one of that release', () => {
  const path = join(scratch(), 'black-friday.orrery');
  const fixture = new URL(
    '../journal/fixtures/release-0.2/black-friday.orrery.gz',
    import.meta.url,
  );
  writeFileSync(path, gunzipSync(readFileSync(fixture)));
  const note = 'the journal begins by the rules of orrery 0.2, some of which have changed';
  for (const args of [
    ['replay', path],
    ['journal', 'verify', path],
  ]) {
    const { status, stdout } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8' });
    expect({ args, status }).toEqual({ args, status: 1 });
    expect(stdout).toContain(note);
  }
  // The hash of its run is one by the same rules.
  const journal = join(scratch(), 'journal.orrery');
  cpSync(path, journal);
  writeFileSync(join(scratch(), 'run.json'), JSON.stringify(RUN));
  const replay = ['replay', journal, '--verify'];
  const { stdout: replayed } = spawnSync(process.execPath, [CLI, ...replay], { encoding: 'utf8' });
  expect(replayed).toContain(note);
  expect(replayed).not.toContain('another run');
  rmSync(join(scratch(), 'run.json'));
  const doctor = ['doctor', '--data-dir', scratch(), '--full'];
  rmSync(join(scratch(), 'var'), { recursive: true });
  const { stdout } = spawnSync(process.execPath, [CLI, ...doctor], { encoding: 'utf8' });
  expect(stdout).toContain(note);
});
