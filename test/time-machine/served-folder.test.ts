/** Journals of served exchanges: several segments, a plain start, and compacted folders. */
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { command } from '../../src/cli/commands/inspect.ts';
import { tooLargeForPage } from '../../src/cli/time-machine/journal-source.ts';
import { compact, planCompaction } from '../../src/journal-files/compact-journal.ts';
import { sourceOfFiles, type ChosenFile } from '../../src/time-machine/source/chosen-files.ts';
import { bytesInMemory } from '../../src/time-machine/source/journal-bytes.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { depositGroups, openIn, useFolder } from '../journal-files/folder.ts';

const SMALL = { first: 8192, max: 8192 };
const folder = useFolder();
let last = { seq: 0, hash: '' };

beforeEach(async () => {
  const exchange = await openIn(folder(), { segmentBytes: SMALL });
  await depositGroups(exchange, [60, 60, 60]);
  // Compaction starts at the oldest snapshot.
  await exchange.snapshot();
  await depositGroups(exchange, [60, 60]);
  await exchange.close();
  last = { seq: exchange.engine.seq, hash: exchange.engine.chainHash() };
});

const chosen = (but: RegExp = /^$/): ChosenFile[] =>
  readdirSync(folder())
    .filter((name) => !but.test(name))
    .map((name) => ({ name, bytes: bytesInMemory(readFileSync(join(folder(), name))) }))
    // A browser lists files in the order of the desktop.
    .reverse();

function open(files: readonly ChosenFile[]): Timeline {
  const timeline = Timeline.open(sourceOfFiles(files));
  const progress = timeline.index();
  expect(progress).toMatchObject({ seq: last.seq, mismatch: null, fault: null });
  expect(timeline.hashAt(last.seq)).toBe(last.hash);
  return timeline;
}

async function compacted(): Promise<void> {
  const plan = planCompaction(folder());
  expect(plan.dropped.length).toBeGreaterThan(0);
  await compact(folder(), plan);
}

describe('chosen files of a served exchange', () => {
  it('open from the first command, in whatever order they are', () => {
    expect(open(chosen()).baseSeq).toBe(0);
  });

  it('open after a snapshot if the folder was compacted', async () => {
    await compacted();
    const timeline = open(chosen());
    expect(timeline.baseSeq).toBeGreaterThan(0);
    // Every instant that is left: hashes recorded before the snapshot are not compared.
    expect(timeline.hashAt(timeline.baseSeq + 1)).not.toBe(last.hash);
  });

  it('name the missing file', async () => {
    await compacted();
    expect(() => sourceOfFiles(chosen(/^snapshot/))).toThrow(
      /starts after command \d+, and needs the state there: choose the files snapshot-….bin/,
    );
    const snapshots = chosen(/^journal/);
    expect(() => sourceOfFiles(snapshots)).toThrow('none of these files is a journal');
    expect(() => sourceOfFiles(snapshots.slice(0, 1))).toThrow(
      'is a snapshot: choose the files journal-',
    );
    for (const name of readdirSync(folder())) {
      if (!name.startsWith('snapshot')) continue;
      const damaged = readFileSync(join(folder(), name));
      damaged[damaged.length >> 1]! ^= 1;
      writeFileSync(join(folder(), name), damaged);
    }
    expect(() => sourceOfFiles(chosen())).toThrow('is damaged or of another release');
    expect(() => sourceOfFiles([])).toThrow('no file was chosen');
  });
});

describe('a compacted folder that one page cannot hold', () => {
  const inspect = (html: string) =>
    command.handler({
      ...{ journal: folder(), from: 1, to: 1, limit: 1, json: true, open: false, html },
      ...{ seq: undefined, mask: false, _: [], $0: '' },
    });

  it('is named with its snapshot, and these files open', async () => {
    await compacted();
    expect(tooLargeForPage(folder())).toBeNull();
    const newest = readdirSync(folder()).findLast((name) => name.startsWith('journal'));
    // The preallocated space of a segment in use, without blocks on the disk.
    truncateSync(join(folder(), newest!), 300 * 2 ** 20);
    const files = tooLargeForPage(folder()) ?? [];
    expect(files[0]).toMatch(/snapshot-\d{16}\.bin$/);
    expect(files.slice(1).every((path) => /journal-\d{16}\.orrery$/.test(path))).toBe(true);
    await inspect(join(folder(), 'page.html'));
    const named = files.map((path) => path.slice(folder().length + 1));
    open(chosen().filter(({ name }) => named.includes(name)));
  });

  it('is refused with a reason if it has no snapshot', async () => {
    await compacted();
    const newest = readdirSync(folder()).findLast((name) => name.startsWith('journal'));
    truncateSync(join(folder(), newest!), 300 * 2 ** 20);
    for (const name of readdirSync(folder())) {
      if (name.startsWith('snapshot')) writeFileSync(join(folder(), name), 'damaged');
    }
    await expect(inspect(join(folder(), 'page.html'))).rejects.toThrow(
      'no snapshot has the state at that command',
    );
  });
});
