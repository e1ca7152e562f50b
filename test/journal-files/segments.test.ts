/**
 * Segments of a journal: the torn tail of a crash is cut at any byte; durable data is read
 * completely or refused with an offset.
 */
import { readdirSync, statSync } from 'node:fs';
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { JournalReader, type JournalSource } from '../../src/journal/format/frames.ts';
import { diffJournals } from '../../src/journal/diff/journal-diff.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { openJournal } from '../../src/journal-files/folder-journal.ts';
import { plainJournal } from '../../src/journal-files/plain-journal.ts';
import { recover } from '../../src/journal-files/recover.ts';
import { listSegments } from '../../src/journal-files/segments.ts';
import { discardEmptyJournal } from '../../src/journal-files/discard-empty-journal.ts';
import { smallDisk } from './failing-disk.ts';
import { abandon, deposit, depositGroups, openIn, useFolder } from './folder.ts';

const SMALL = { first: 8192, max: 8192 };
const SECTOR = 512;
const folder = useFolder();

/**
 * The only segment of a journal, and the offsets of its groups; the last offset is that of the next
 * group.
 */
async function only(): Promise<{ path: string; bytes: Buffer; places: number[]; end: number }> {
  const [segment, ...others] = listSegments(folder());
  expect(others).toEqual([]);
  const bytes = await readFile(segment!.path);
  const places = [16 + bytes.readUInt32LE(8)];
  for (let at = places[0]!; bytes.readUInt32LE(at) > 0;) {
    at += 8 + bytes.readUInt32LE(at);
    places.push(at);
  }
  return { path: segment!.path, bytes, places, end: places.at(-1)! };
}

/** Number of commands of a segment, without applying them. Throws if it is damaged. */
function commandsIn(bytes: Uint8Array): number {
  let commands = 0;
  for (const { kind } of framesOf(new JournalReader(bytes))) if (kind === 'command') commands += 1;
  return commands;
}

function* framesOf(journal: JournalSource) {
  for (let frame = journal.next(); frame !== null; frame = journal.next()) yield frame;
}

/** State after each command of a journal with these groups. */
async function hashes(groups: readonly number[]): Promise<string[]> {
  const exchange = await openIn(folder(), { segmentBytes: SMALL });
  const found: string[] = [];
  found[exchange.engine.seq] = exchange.engine.stateHash();
  for (const size of groups) {
    await depositGroups(exchange, [size]);
    found[exchange.engine.seq] = exchange.engine.stateHash();
  }
  await abandon(exchange);
  return found;
}

describe('the first write of a folder', () => {
  test('if truncated at any byte or partly zero, it is discarded and started again', async () => {
    await abandon(await openIn(folder(), { segmentBytes: SMALL }));
    const { path, bytes, end } = await only();
    for (let length = 0; length < end; length++) {
      await writeFile(path, bytes.subarray(0, length));
      expect(await discardEmptyJournal(folder()), `cut at ${String(length)}`).toMatchObject({
        isEmpty: true,
      });
      const holed = Buffer.from(bytes);
      holed.fill(0, length);
      await writeFile(path, holed);
      expect((await discardEmptyJournal(folder())).isEmpty, `zeros from ${String(length)}`).toBe(
        true,
      );
    }
    for (const length of [1, 15, 16, 700, end - 1]) {
      await writeFile(path, bytes.subarray(0, length));
      const exchange = await openIn(folder(), { segmentBytes: SMALL });
      expect(exchange.recovery).toMatchObject({ isNew: true, cutBytes: length });
      expect(exchange.engine.markets().length).toBeGreaterThan(0);
      await abandon(exchange);
      expect(await readFile(path)).toEqual(bytes);
    }
  });

  test('it does not count before its rename', async () => {
    await writeFile(join(folder(), 'next-segment.partial'), 'ORRERY');
    const exchange = await openIn(folder(), { segmentBytes: SMALL });
    expect(exchange.recovery).toMatchObject({ isNew: true, cutBytes: 0 });
    await exchange.close();
  });

  test('a foreign file is refused, not removed', async () => {
    await writeFile(join(folder(), 'journal.orrery'), 'my diary');
    await expect(openIn(folder())).rejects.toThrow('not a journal: byte 0 differs');
    expect(readdirSync(folder())).toEqual(['journal.orrery']);
  });
});

describe('a crash', () => {
  test('whatever sectors of the last group are missing, earlier groups are recovered and writes continue', async () => {
    const stateAt = await hashes([3, 1, 40]);
    const { path, bytes, places, end } = await only();
    const seqs = Object.keys(stateAt).map(Number);
    const [, , before = 0, last = 0] = seqs;
    const begun = places.at(-2)!;
    const draw = new RandomStreams('torn').stream('sectors');
    for (let round = 0; round < 40; round++) {
      const torn = Buffer.from(bytes);
      let missing = 0;
      for (let at = begun - (begun % SECTOR); at < end; at += SECTOR) {
        if (draw.below(2) === 0) continue;
        torn.fill(0, Math.max(at, begun), Math.min(at + SECTOR, end));
        missing += 1;
      }
      await writeFile(path, torn);
      const expected = missing === 0 ? last : before;
      const exchange = await openIn(folder(), { segmentBytes: SMALL });
      expect(exchange.engine.seq).toBe(expected);
      expect(exchange.engine.stateHash()).toBe(stateAt[expected]);
      await depositGroups(exchange, [1]);
      const hash = exchange.engine.stateHash();
      await abandon(exchange);
      expect(recover(folder()).engine.stateHash()).toBe(hash);
    }
  });

  test('truncated at any byte, it recovers to the end of a group', async () => {
    const stateAt = await hashes([2, 3, 1]);
    const { path, bytes, places, end } = await only();
    const firstGroup = Object.keys(stateAt).map(Number)[0]!;
    let seen = 0;
    for (let length = end; length > 0; length--) {
      await truncate(path, length);
      if (length < places[1]!) {
        expect((await discardEmptyJournal(folder())).isEmpty).toBe(true);
        break;
      }
      seen = commandsIn(bytes.subarray(0, length));
      expect(stateAt, `cut at ${String(length)}`).toHaveProperty(String(seen));
      if (!places.includes(length) && length % 50 > 0) continue;
      expect(recover(folder()).engine.stateHash()).toBe(stateAt[seen]);
    }
    expect(seen).toBe(firstGroup);
  });
});

describe('a byte that changed', () => {
  test('anywhere in durable data, is refused with its offset or loses nothing', async () => {
    const exchange = await openIn(folder(), { segmentBytes: SMALL });
    await depositGroups(exchange, [3, 1, 4]);
    const { seq } = exchange.engine;
    await exchange.close();
    for (const name of readdirSync(folder())) {
      if (name.startsWith('snapshot')) await rm(join(folder(), name));
    }
    const { path, bytes, places, end } = await only();
    const sealed = places.at(-2)!;
    for (let at = 0; at < end + 40; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      if (at < sealed) {
        expect(() => commandsIn(changed), `byte ${String(at)}`).toThrow(/journal/);
      } else {
        // The last group has no command; it proves that earlier groups are complete.
        expect(commandsIn(changed), `byte ${String(at)}`).toBe(seq);
      }
    }
    const changed = Buffer.from(bytes);
    changed[sealed - 10]! ^= 1;
    await writeFile(path, changed);
    expect(() => recover(folder())).toThrow(
      /journal-0{15}1\.orrery: journal at byte \d+, after command \d+: a wrong checksum, although a whole group follows at byte \d+/,
    );
  });

  test('the chain hash after a pause is enough for that', async () => {
    const exchange = await openIn(folder(), { segmentBytes: SMALL });
    await depositGroups(exchange, [3]);
    await expect
      .poll(() => [...framesOf(openJournal(folder()))].at(-1)?.kind, { timeout: 5000 })
      .toBe('chain');
    await abandon(exchange);
    const { path, bytes, places } = await only();
    bytes[places.at(-2)! - 1]! ^= 1;
    await writeFile(path, bytes);
    expect(() => recover(folder())).toThrow('although a whole group follows');
  });
});

test('a disk without space for the next segment gets a smaller one, and keeps the rest', async () => {
  const segmentBytes = { first: 4096, max: 65_536 };
  const openFile = smallDisk(folder(), 4096 + 2 * 16_384 + 6000);
  const exchange = await openIn(folder(), { segmentBytes, openFile });
  const sizes = () => listSegments(folder()).map(({ path }) => statSync(path).size);
  const groups = async (until: () => boolean) => {
    for (let i = 0; i < 3000 && !until(); i++) await depositGroups(exchange, [1]);
  };
  await groups(() => sizes().length === 4);
  expect(sizes()).toEqual([4096, 16_384, 16_384, 4096]);
  const before = exchange.engine.seq;
  await expect(groups(() => false)).rejects.toThrow('no space left on the device');
  expect(exchange.engine.seq).toBeGreaterThan(before);
  expect(readdirSync(folder())).not.toContain('next-segment.partial');
  await abandon(exchange);
  expect(recover(folder()).engine.seq).toBe(exchange.engine.seq);
});

describe('many segments', () => {
  async function fill(): Promise<string> {
    const exchange = await openIn(folder(), { segmentBytes: { first: 4096, max: 4096 } });
    await depositGroups(
      exchange,
      Array.from({ length: 120 }, (_, i) => 1 + (i % 5)),
    );
    const hash = exchange.engine.stateHash();
    await abandon(exchange);
    return hash;
  }

  test('are one journal, and one plain file without zeros when exported', async () => {
    const hash = await fill();
    expect(listSegments(folder()).length).toBeGreaterThan(5);
    expect(recover(folder()).engine.stateHash()).toBe(hash);
    const plain = Buffer.concat([...plainJournal(openJournal(folder()))]);
    const diff = await diffJournals(
      { name: folder(), open: () => openJournal(folder()) },
      { name: 'plain', open: () => new JournalReader(plain) },
    );
    expect(diff).toMatchObject({ firstCommand: null, firstEvent: null, recorded: null });
    const alone = replay(plain, { verify: true });
    expect(alone.engine.stateHash()).toBe(hash);
    expect(alone.torn).toBeNull();

    // A plain journal can be the start of a folder; the exchange continues from it.
    for (const { path } of listSegments(folder())) await rm(path);
    await writeFile(join(folder(), 'journal.orrery'), plain);
    const exchange = await openIn(folder());
    expect(exchange.engine.stateHash()).toBe(hash);
    await depositGroups(exchange, [2]);
    const further = exchange.engine.stateHash();
    await abandon(exchange);
    expect(recover(folder()).engine.stateHash()).toBe(further);
    expect(readdirSync(folder())).toContain('journal.orrery');
  });

  test('a missing or truncated segment is refused', async () => {
    await fill();
    const [, second, third] = listSegments(folder());
    const bytes = await readFile(second!.path);
    await rm(second!.path);
    expect(() => recover(folder())).toThrow(
      `${third!.path}: journal header: follows command ${String(third!.afterSeq)}, but the segment before ends with command ${String(second!.afterSeq)}`,
    );
    await writeFile(second!.path, bytes.subarray(0, 3000));
    expect(() => recover(folder())).toThrow(`${second!.path}: journal at byte`);
    await writeFile(second!.path, bytes);
    expect(recover(folder()).replayed).toBeGreaterThan(300);
  });

  test('a group larger than any segment has its own segment', async () => {
    const exchange = await openIn(folder(), { segmentBytes: { first: 4096, max: 4096 } });
    await depositGroups(exchange, [1, 500, 1]);
    const hash = exchange.engine.stateHash();
    await abandon(exchange);
    expect(recover(folder()).engine.stateHash()).toBe(hash);
  });

  test('a single segment is not replayed as the whole journal', async () => {
    await fill();
    const second = listSegments(folder())[1]!;
    expect(() => replay(openJournal(second.path), { verify: true })).toThrow(
      `starts after command ${String(second.afterSeq)}; read its folder instead`,
    );
  });
});

test('a segment without the right to write is named, not its folder', async () => {
  await (await openIn(folder())).close();
  const segment = listSegments(folder())[0]!.path;
  const denied = (path: string): Promise<never> =>
    Promise.reject(Object.assign(new Error('EACCES'), { code: 'EACCES', path }));
  await expect(openIn(folder(), { openFile: denied })).rejects.toThrow(
    `${segment}: permission denied`,
  );
});

test('a journal that ends before its snapshot is reported as having lost commands', async () => {
  const exchange = await openIn(folder(), { segmentBytes: SMALL });
  await depositGroups(exchange, [3, 2]);
  const { seq } = exchange.engine;
  await exchange.close();
  const { path, bytes, places, end } = await only();
  bytes.fill(0, places.at(-3), end);
  await writeFile(path, bytes);
  expect(() => recover(folder())).toThrow(
    `ends with command ${String(seq - 2)}, but snapshot-${String(seq).padStart(16, '0')}.bin was written when command ${String(seq)} was on disk`,
  );
});

test('unsynced commands of an engine fault are rolled back', async () => {
  const problems: string[] = [];
  const exchange = await openIn(folder(), { onProblem: (what) => problems.push(what) });
  await depositGroups(exchange, [2]);
  const hash = exchange.engine.stateHash();
  const { seq } = exchange.engine;
  const late = { ...deposit(seq + 1), timeUs: deposit(-5).timeUs };
  expect(() => exchange.submit(late)).toThrow('command times never decrease');
  await expect.poll(() => problems).toEqual(['writes have stopped: command times never decrease']);
  expect(() => exchange.submit(deposit(seq + 1))).toThrow('command times never decrease');
  expect(exchange.engine.stateHash()).toBe(hash);
  await exchange.close();
  expect(recover(folder()).engine.stateHash()).toBe(hash);
});
