/**
 * The folder of an exchange when disks and processes fail: any byte of any file turned, any file cut or lost, the disk gone or a write torn at any
 * operation, a clock that goes back. It starts with a state that the exchange once had, and with everything that was acknowledged where that
 * can be known, or not at all and says why.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { Host } from '../../src/http/host.ts';
import { address, timeUs } from '../../src/num/units.ts';
import { JournalError } from '../../src/sim/journal/frames.ts';
import type { DurableExchange } from '../../src/store/durable-exchange.ts';
import { FileError } from '../../src/store/file-error.ts';
import { recover } from '../../src/store/recover.ts';
import type { OpenFile } from '../../src/store/segment-writer.ts';
import { keccak } from '../../src/wallet/ethers-ports.ts';
import { drawLife } from '../metamorphic/life.ts';
import { EFFORT } from '../setup/effort.ts';
import { abandon, openIn } from '../store/folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-faults-'));
const SMALL = { first: 4096, most: 4096 };
const life = drawLife('folder', { commands: 160 });
/** State hash after each command. */
const states: string[] = [];

const options = {
  config: life.config,
  fallback: life.config,
  opening: [],
  segmentBytes: SMALL,
};

/** Submits some commands of the life, in groups of one to four, each on disk before the next. */
async function submit(exchange: DurableExchange, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    exchange.submit(life.commands[i] as Command);
    states[i + 1] = exchange.engine.stateHash();
    if (i % 4 === 0) await exchange.durable();
  }
  await exchange.durable();
}

/** Two snapshots, several segments, and an end: in `closed` a clean one, in `crashed` none. */
const closed = join(scratch, 'closed');
const crashed = join(scratch, 'crashed');
const third = Math.floor(life.commands.length / 3);
const all = life.commands.length;

beforeAll(async () => {
  for (const folder of [closed, crashed]) {
    let from = 0;
    for (const to of [third, 2 * third, all]) {
      const exchange = await openIn(folder, options);
      states[0] ??= exchange.engine.stateHash();
      await submit(exchange, from, to);
      from = to;
      if (folder === crashed && to === all) await abandon(exchange);
      else await exchange.close();
    }
  }
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const filesOf = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name !== 'lock' && !name.includes('partial'))
    .sort();
const isSnapshot = (name: string): boolean => name.startsWith('snapshot');
const sizeOf = (folder: string, name: string): number => readFileSync(join(folder, name)).length;

/** The last command that a damaged copy of a folder knows, with the state that it then had; null when it is refused with words. */
function recovered(folder: string, damage: (copy: string) => void): number | null {
  const copy = join(scratch, 'copy');
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
  damage(copy);
  try {
    const { engine } = recover(copy);
    expect(engine.stateHash()).toBe(states[engine.seq]);
    return engine.seq;
  } catch (error) {
    if (!(error instanceof FileError || error instanceof JournalError)) throw error;
    expect(error.message).toMatch(/journal|snapshot/);
    return null;
  }
}

/** Places in a file: every one in the long proofs, some of them otherwise, the first and the last always. */
function placesIn(size: number, sample: number): number[] {
  const step = EFFORT > 1 ? Math.max(1, Math.floor(size / (sample * EFFORT * 2))) : size / sample;
  const places = [];
  for (let at = 0; at < size - 1; at += step) places.push(Math.floor(at));
  return [...places, size - 1];
}

describe('a folder', () => {
  test('untouched starts where it was', () => {
    for (const folder of [closed, crashed]) {
      expect(recovered(folder, () => undefined)).toBe(all);
      expect(filesOf(folder).filter(isSnapshot).length).toBeGreaterThan(1);
      expect(filesOf(folder).filter((name) => !isSnapshot(name)).length).toBeGreaterThan(2);
    }
  });

  test.each([
    ['closed', closed],
    ['crashed', crashed],
  ])('%s, with a bit turned in any file: all of it, or refused', (_name, folder) => {
    for (const name of filesOf(folder)) {
      for (const at of placesIn(sizeOf(folder, name), 24)) {
        const found = recovered(folder, (copy) => {
          const path = join(copy, name);
          const bytes = readFileSync(path);
          bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
          rmSync(path);
          writeSync(path, bytes);
        });
        const where = `${name} at ${String(at)}`;
        // A snapshot is a shortcut: without it everything is there.
        if (isSnapshot(name)) expect(found, where).toBe(all);
        // Of a crash the last group may be a torn write; nothing else may be lost.
        else if (found !== null) expect(found, where).toBeGreaterThanOrEqual(folder === closed ? all : all - 4);
      }
    }
  });

  test.each([
    ['closed', closed],
    ['crashed', crashed],
  ])('%s, with any file cut short: what a crash could have left, or refused', (_name, folder) => {
    const names = filesOf(folder);
    for (const name of names) {
      for (const length of placesIn(sizeOf(folder, name), 16)) {
        const found = recovered(folder, (copy) => {
          truncateSync(join(copy, name), length);
        });
        const where = `${name} cut at ${String(length)}`;
        if (isSnapshot(name)) expect(found, where).toBe(all);
        // What a snapshot has seen on disk cannot be missing.
        else if (found !== null) expect(found, where).toBeGreaterThanOrEqual(folder === closed ? all : 2 * third);
        else expect(name, 'a crash leaves only the last segment unfinished').toMatch(/journal/);
      }
    }
  });

  test('with files lost: snapshots are done without, segments are missed', () => {
    for (const folder of [closed, crashed]) {
      const names = filesOf(folder);
      const snapshots = names.filter(isSnapshot);
      for (const lost of [...snapshots.map((name) => [name]), snapshots]) {
        const found = recovered(folder, (copy) => {
          for (const name of lost) rmSync(join(copy, name));
        });
        expect(found, lost.join(' ')).toBe(all);
      }
      for (const name of names.filter((other) => !isSnapshot(other))) {
        const found = recovered(folder, (copy) => {
          rmSync(join(copy, name));
        });
        if (found !== null) expect(found, name).toBeGreaterThanOrEqual(2 * third);
      }
    }
  });
});
