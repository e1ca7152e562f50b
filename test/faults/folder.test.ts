/**
 * Data folder of an exchange under faults: a flipped bit in any file, truncated or missing files, a
 * disk failure or torn write at any operation, a clock that goes back. Either the exchange starts
 * with an earlier state and every acknowledged command that can be known, or it refuses with a
 * reason.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { Host } from '../../src/http/exchange-host.ts';
import { address, timeUs } from '../../src/num/units.ts';
import { JournalError } from '../../src/journal/format/frames.ts';
import type { DurableExchange } from '../../src/journal-files/durable-exchange.ts';
import { FileError } from '../../src/platform/file-error.ts';
import { recover } from '../../src/journal-files/recover.ts';
import type { OpenFile } from '../../src/journal-files/segment-writer.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { drawLife } from '../metamorphic/life.ts';
import { defaultOpening } from '../http/served.ts';
import { EFFORT } from '../setup/effort.ts';
import { abandon, openIn } from '../journal-files/folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-faults-'));
const SMALL = { first: 4096, max: 4096 };
const life = drawLife('folder', { commands: 120 });
/** State hash after each command. */
const states: string[] = [];

const options = {
  config: life.config,
  fallback: life.config,
  opening: [],
  segmentBytes: SMALL,
};

/** Submits commands of the run in groups of one to four, each durable before the next. */
async function submit(exchange: DurableExchange, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    exchange.submit(life.commands[i] as Command);
    states[i + 1] = exchange.engine.stateHash();
    if (i % 4 === 0) await exchange.durable();
  }
  await exchange.durable();
}

/** Two snapshots and several segments; `closed` has a clean end, `crashed` does not. */
const closed = join(scratch, 'closed');
const crashed = join(scratch, 'crashed');
const third = Math.floor(life.commands.length / 3);
const all = life.commands.length;

beforeAll(async () => {
  for (const folder of [closed, crashed]) {
    let from = 0;
    for (const to of [third, 2 * third, all]) {
      const exchange = await openIn(folder, options);
      if (from === 0) states[0] = exchange.engine.stateHash();
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
const bytesOf = (folder: string, name: string): Buffer => readFileSync(join(folder, name));

/**
 * Last command recovered from a folder with these files replaced (null: deleted), after comparing
 * the state; null if recovery fails with a message. The folder is restored afterwards.
 */
function recovered(
  folder: string,
  changes: Readonly<Record<string, Uint8Array | null>>,
): number | null {
  const before = Object.keys(changes).map((name) => [name, bytesOf(folder, name)] as const);
  try {
    for (const [name, bytes] of Object.entries(changes)) {
      if (bytes === null) rmSync(join(folder, name));
      else writeFileSync(join(folder, name), bytes);
    }
    const { engine } = recover(folder);
    expect(engine.stateHash()).toBe(states[engine.seq]);
    return engine.seq;
  } catch (error) {
    if (!(error instanceof FileError || error instanceof JournalError)) throw error;
    expect(error.message).toMatch(/journal|snapshot/);
    return null;
  } finally {
    for (const [name, bytes] of before) writeFileSync(join(folder, name), bytes);
  }
}

/**
 * Evenly spaced offsets in a file, including first and last; a long proof tests sixty times as
 * many.
 */
function placesIn(size: number, sample: number): number[] {
  const step = Math.max(1, size / (sample * Math.min(EFFORT * 3 - 2, 60)));
  const places = [];
  for (let at = 0; at < size - 1; at += step) places.push(Math.floor(at));
  return [...places, size - 1];
}

describe('a folder', () => {
  test('starts with the same state if unchanged', () => {
    for (const folder of [closed, crashed]) {
      expect(recovered(folder, {})).toBe(all);
      expect(filesOf(folder).filter(isSnapshot).length).toBeGreaterThan(1);
      expect(filesOf(folder).filter((name) => !isSnapshot(name)).length).toBeGreaterThan(2);
    }
  });

  test.each([
    ['closed', closed],
    ['crashed', crashed],
  ])('%s, with a flipped bit in any file: complete, or refused', (_name, folder) => {
    for (const name of filesOf(folder)) {
      const whole = bytesOf(folder, name);
      for (const at of placesIn(whole.length, 10)) {
        const turned = Uint8Array.from(whole);
        turned[at] = (turned[at] ?? 0) ^ (1 << (at % 8));
        const found = recovered(folder, { [name]: turned });
        const where = `${name} at ${String(at)}`;
        // A snapshot is redundant: without it recovery is complete.
        if (isSnapshot(name)) expect(found, where).toBe(all);
        // After a crash the last group may be torn; nothing else may be lost.
        else if (found !== null)
          expect(found, where).toBeGreaterThanOrEqual(folder === closed ? all : all - 4);
      }
    }
  });

  test('crashed, with a flipped bit in the head of any group of its last segment: refused with the offset', () => {
    const name = filesOf(crashed)
      .filter((other) => !isSnapshot(other))
      .at(-1)!;
    const whole = bytesOf(crashed, name);
    const heads: number[] = [];
    // Length and checksum, then kind, sequence number and time of the position before the group.
    for (let at = 16 + whole.readUInt32LE(8); whole.readUInt32LE(at) > 0;) {
      heads.push(at);
      at += 8 + whole.readUInt32LE(at);
    }
    expect(heads.length).toBeGreaterThan(4);
    for (const head of heads.slice(0, -1)) {
      for (const at of [head, head + 4, head + 8, head + 9, head + 17]) {
        const turned = Uint8Array.from(whole);
        turned[at] = (turned[at] ?? 0) ^ 128;
        expect(recovered(crashed, { [name]: turned }), `byte ${String(at)}`).toBeNull();
      }
    }
  });

  test.each([
    ['closed', closed],
    ['crashed', crashed],
  ])('%s, with any file truncated: a possible state after a crash, or refused', (_name, folder) => {
    const names = filesOf(folder);
    for (const name of names) {
      const whole = bytesOf(folder, name);
      for (const length of placesIn(whole.length, 10)) {
        const found = recovered(folder, { [name]: whole.subarray(0, length) });
        const where = `${name} cut at ${String(length)}`;
        if (isSnapshot(name)) expect(found, where).toBe(all);
        // Commands in a snapshot were durable, so they must be in the journal.
        else if (found !== null)
          expect(found, where).toBeGreaterThanOrEqual(folder === closed ? all : 2 * third);
        else expect(name, 'a crash leaves only the last segment unfinished').toMatch(/journal/);
      }
    }
  });

  test('with missing files: snapshots are not needed, segments are', () => {
    for (const folder of [closed, crashed]) {
      const names = filesOf(folder);
      const snapshots = names.filter(isSnapshot);
      for (const lost of [...snapshots.map((name) => [name]), snapshots]) {
        const found = recovered(folder, Object.fromEntries(lost.map((name) => [name, null])));
        expect(found, lost.join(' ')).toBe(all);
      }
      for (const name of names.filter((other) => !isSnapshot(other))) {
        const found = recovered(folder, { [name]: null });
        if (found !== null) expect(found, name).toBeGreaterThanOrEqual(2 * third);
      }
    }
  });
});

/**
 * Fails from its n-th write or sync on: the first half of that write is stored, later ones are not.
 */
class DyingDisk {
  operations = 0;
  private readonly last: number;
  private readonly opened: FileHandle[] = [];
  private isClosed = false;

  constructor(last: number) {
    this.last = last;
  }

  readonly openFile: OpenFile = async (path, flags) => {
    // Preallocation of the next segment may continue after close.
    if (this.isClosed) throw Object.assign(new Error('EIO'), { code: 'EIO' });
    const file = await open(path, flags);
    this.opened.push(file);
    return new Proxy(file, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'write' && name !== 'datasync' && name !== 'sync') {
          return (...args: unknown[]): unknown => Reflect.apply(value, target, args);
        }
        return async (...args: unknown[]): Promise<unknown> => {
          this.operations += 1;
          if (this.operations < this.last) return Reflect.apply(value, target, args);
          if (this.operations === this.last && name === 'write') {
            const [bytes, offset, length, position] = args as [Uint8Array, number, number, number];
            await target.write(bytes, offset, length >> 1, position);
          }
          throw Object.assign(new Error('EIO'), { code: 'EIO' });
        };
      },
    });
  };

  /** Closes handles left open after the failure. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const file of this.opened) await file.close().catch(() => undefined);
  }
}

describe('a process or disk failure at any operation', () => {
  /** Acknowledged commands before the failure, and the number of operations. */
  async function dieAt(
    folder: string,
    last: number,
  ): Promise<{ acked: number; operations: number }> {
    const disk = new DyingDisk(last);
    let acked = 0;
    try {
      const exchange = await openIn(folder, { ...options, openFile: disk.openFile });
      try {
        for (let i = 0; i < third; i++) {
          exchange.submit(life.commands[i] as Command);
          if (i % 2 > 0) continue;
          await exchange.durable();
          acked = i + 1;
        }
      } catch {
        // The disk failed; every pending reply is rejected.
      }
      await abandon(exchange).catch(() => undefined);
    } catch {
      // The disk failed before the exchange was created.
    }
    await disk.close();
    return { acked, operations: disk.operations };
  }

  test('acknowledged commands are recovered, and no command is recovered in part', async () => {
    const { operations } = await dieAt(join(scratch, 'whole'), Infinity);
    expect(operations).toBeGreaterThan(20);
    for (const last of placesIn(operations, EFFORT > 1 ? operations : 12)) {
      const folder = join(scratch, 'dying');
      rmSync(folder, { recursive: true, force: true });
      const { acked } = await dieAt(folder, last + 1);
      const exchange = await openIn(folder, options);
      const { seq } = exchange.engine;
      expect(seq, `died at operation ${String(last + 1)}`).toBeGreaterThanOrEqual(acked);
      expect(exchange.engine.stateHash()).toBe(states[seq]);
      // The exchange continues from the recovered state.
      await submit(exchange, seq, third);
      await abandon(exchange);
      expect(recover(folder).engine.stateHash()).toBe(states[third]);
    }
  });
});

test('a folder with snapshots and without a journal is refused, not a new exchange', async () => {
  const folder = join(scratch, 'lost');
  cpSync(closed, folder, { recursive: true });
  for (const name of filesOf(folder)) if (!isSnapshot(name)) rmSync(join(folder, name));
  const left = filesOf(folder);
  expect(left.length).toBeGreaterThan(0);
  await expect(openIn(folder, options)).rejects.toThrow(
    /has snapshot-\d{16}\.bin but no journal; restore the journal from a copy/,
  );
  expect(filesOf(folder)).toEqual(left);
});

test('a new exchange refuses to begin without a market that it was asked for', async () => {
  const folder = join(scratch, 'twice');
  const [list] = defaultOpening(life.config);
  const opening = list === undefined ? [] : [list, list];
  await expect(openIn(folder, { ...options, opening })).rejects.toThrow(
    'a new exchange refuses the market BTC-USD-PERP: symbol_already_listed',
  );
  // No journal has begun: the next start is that of a new exchange.
  const exchange = await openIn(folder, options);
  expect(exchange.recovery.isNew).toBe(true);
  await exchange.close();
});

describe('a wall clock that goes back (R-12.2)', () => {
  test('exchange time stays constant until the clock catches up, also across a restart', async () => {
    const folder = join(scratch, 'clock');
    const clock = vi.spyOn(Date, 'now');
    const begun = Math.floor(life.config.genesisTimeUs / 1000) + 1000;
    const seen: number[] = [];
    const at = async (ms: number, jumpsMs: readonly number[]): Promise<void> => {
      clock.mockReturnValue(ms);
      const exchange = await openIn(folder, { ...options, opening: life.commands.slice(0, 1) });
      const host = new Host({
        exchange,
        clock: 'wall',
        keccak,
        signatures: 'trust',
        requestsPerSecond: null,
      });
      for (const jump of jumpsMs) {
        clock.mockReturnValue(ms + jump);
        host.submit({
          kind: 'deposit',
          timeUs: host.nowUs(),
          account: address(`0x${'a1'.repeat(20)}`),
          subaccountIndex: 0,
          amount: 1n as never,
        });
        seen.push(exchange.engine.nowUs);
        await exchange.durable();
      }
      expect(exchange.engine.checkInvariants()).toEqual([]);
      await host.close();
    };
    try {
      await at(begun, [0, 5000, -3_600_000, 4999, 5001]);
      await at(begun - 86_400_000, [0, 1000, 86_400_000 + 9000]);
    } finally {
      clock.mockRestore();
    }
    const inMs = seen.map((us) => us / 1000 - begun);
    expect(inMs).toEqual([0, 5000, 5000, 5000, 5001, 5001, 5001, 9000]);
    expect(recover(folder).engine.nowUs).toBe(timeUs((begun + 9000) * 1000));
  });
});
