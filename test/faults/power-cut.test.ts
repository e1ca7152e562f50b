/**
 * A process or the power that ends at any file operation of a data folder: its first write,
 * rotation of segments, snapshots beside commands, the end, compaction, and a start on hard links.
 * Answered commands are there after the next start, with the state of a run without an end.
 */
import { existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { Dice } from '../../src/fuzz/dice.ts';
import { compact, planCompaction } from '../../src/journal-files/compact-journal.ts';
import { discardEmptyJournal } from '../../src/journal-files/discard-empty-journal.ts';
import type { DurableExchange } from '../../src/journal-files/durable-exchange.ts';
import { recover, type Recovered } from '../../src/journal-files/recover.ts';
import { listSegments } from '../../src/journal-files/segments.ts';
import { writeSnapshot } from '../../src/journal-files/snapshots.ts';
import { verifyJournal } from '../../src/journal-files/verify-journal.ts';
import { abandon, openIn } from '../journal-files/folder.ts';
import { drawLife } from '../metamorphic/life.ts';
import { EFFORT } from '../setup/effort.ts';
import { RecordedDisk, type Remains } from './recorded-disk.ts';

const SEED = 'power-cut';
const scratch = mkdtempSync(join(tmpdir(), 'orrery-power-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const life = drawLife(SEED, { commands: 100 });
const all = life.commands.length;
const options = {
  config: life.config,
  fallback: life.config,
  opening: [],
  segmentBytes: { first: 2048, max: 2048 },
};
/** State hash after each command, without a fault. */
const states: string[] = [];
const twin = new Exchange(life.config);
states.push(twin.stateHash());
for (const command of life.commands) {
  twin.apply(command);
  states.push(twin.stateHash());
}

/** A snapshot as its thread writes it. */
async function snapshotAt(folder: string, untilSeq: number): Promise<void> {
  const { engine } = recover(folder, { untilSeq });
  await writeSnapshot(folder, { seq: engine.seq, engine: engine.snapshot(), orderIds: [] });
}

/** Submits commands in groups of one to four, with a snapshot beside every seventh group. */
async function submit(exchange: DurableExchange, to: number, disk: RecordedDisk): Promise<void> {
  let snapshot: Promise<void> = Promise.resolve();
  for (let group = 1; exchange.engine.seq < to; group++) {
    for (let i = 0; i < 1 + (group % 4) && exchange.engine.seq < to; i++) {
      exchange.submit(life.commands[exchange.engine.seq] as Command);
    }
    await exchange.durable();
    disk.mark = exchange.engine.seq;
    if (group % 7 !== 0) continue;
    await snapshot;
    snapshot = snapshotAt(exchange.path, exchange.engine.seq);
  }
  await snapshot;
}

async function submitRest(exchange: DurableExchange): Promise<void> {
  while (exchange.engine.seq < all) {
    exchange.submit(life.commands[exchange.engine.seq] as Command);
    if (exchange.engine.seq % 5 === 0) await exchange.durable();
  }
}

function mustRecover(folder: string, where: string): Recovered {
  try {
    return recover(folder);
  } catch (error) {
    throw new Error(where, { cause: error });
  }
}

/** Remains of an end at each operation of a folder. */
async function record(folder: string): Promise<readonly Remains[]> {
  const disk = new RecordedDisk(folder, Dice.of(SEED, 'sectors'));
  try {
    const first = await openIn(folder, options);
    await submit(first, Math.floor(all / 3), disk);
    await abandon(first);
    const second = await openIn(folder, options);
    await submit(second, Math.floor((2 * all) / 3), disk);
    await second.close();
    const plan = planCompaction(folder);
    expect(plan.dropped.length).toBeGreaterThan(1);
    await compact(folder, plan);
    const last = listSegments(folder).at(-1);
    linkSync(last?.path ?? '', join(scratch, 'link'));
    const third = await openIn(folder, options);
    await submit(third, all, disk);
    await third.close();
    return disk.remains;
  } finally {
    disk.stop();
  }
}

/** A folder with these files. */
function laidOut(files: Remains['files']): string {
  const folder = join(scratch, 'after');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  return folder;
}

test.runIf(existsSync('/proc/self/fd'))(
  'answered commands outlive the end of process or power at any file operation',
  async () => {
    const remains = await record(join(scratch, 'folder'));
    expect(remains.length).toBeGreaterThan(200);
    const proofs = Math.ceil(remains.length / (EFFORT > 1 ? remains.length : 8));
    for (const [i, { files, after, cause, mark }] of remains.entries()) {
      const folder = laidOut(files);
      const where = `${cause}, ${String(mark)} answers, after ${after}, ${[...files.keys()].join(' ')}`;
      const { isEmpty } = await discardEmptyJournal(folder);
      if (isEmpty) {
        expect(mark, where).toBe(0);
        continue;
      }
      const { engine } = mustRecover(folder, where);
      expect(engine.seq, where).toBeGreaterThanOrEqual(mark);
      expect(engine.stateHash(), where).toBe(states[engine.seq]);
      const isProven = i % proofs === 0;
      // A start does not read segments before its snapshot; a verification does.
      if (isProven || after.startsWith('rm journal')) {
        expect(verifyJournal(folder), where).toMatchObject({ isWhole: true, lastSeq: engine.seq });
      }
      if (!isProven) continue;
      const exchange = await openIn(folder, options);
      await submitRest(exchange);
      await exchange.close();
      expect(recover(folder).engine.stateHash(), where).toBe(states[all]);
    }
  },
);
