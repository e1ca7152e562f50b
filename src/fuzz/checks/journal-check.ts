/**
 * A journal holds what it was given: each command reads back as it was written, by both codecs, and
 * a journal that is cut within a write is recovered up to its last whole command.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Engine } from '../../engine/read/views.ts';
import { schemaOf } from '../../engine/schema/command-schema.ts';
import { ByteReader, ByteWriter } from '../../journal/format/bytes.ts';
import {
  decodeBySchema,
  decodeCommand,
  describeCommand,
  encodeBySchema,
  encodeCommand,
} from '../../journal/format/codec.ts';
import { JournalError, JournalReader, JournalWriter } from '../../journal/format/frames.ts';
import { BEGINNING, headerBytes } from '../../journal/format/header.ts';
import { replay } from '../../journal/replay/replay.ts';
import { seq as seqOf } from '../../num/units.ts';
import type { Checker, Violation } from '../checker.ts';
import { alterField } from './altered.ts';

/** Commands of the journal that is cut and recovered; later ones are only encoded. */
const MAX_COMMANDS = 2000;

export function journalCheck(config: ExchangeConfig, every: number): Checker {
  const writer = new JournalWriter(config);
  const ends: number[] = [];
  const chains: string[] = [];
  const entries: Entry[] = [];
  let isWhole = true;
  const recover = (engine: Engine): Violation | null => {
    if (!isWhole || ends.length === 0) return null;
    const bytes = writer.bytes();
    const found = tornFault(bytes, ends, chains) ?? corruptFault(bytes, ends);
    const fault = found ?? groupFault(config, entries);
    return fault === null ? null : broken(engine, fault);
  };
  return {
    after: (engine, command) => {
      const fault = codecFault(command) ?? alteredFault(command, engine.seq, every === 1);
      if (fault !== null) return broken(engine, fault);
      if (isWhole) {
        writer.append(seqOf(engine.seq), command);
        entries.push({ seq: engine.seq, command });
        ends.push(writer.size);
        chains.push(engine.chainHash());
      }
      const found = engine.seq % every === 0 ? recover(engine) : null;
      if (ends.length >= MAX_COMMANDS) isWhole = false;
      return found;
    },
    end: recover,
  };
}

interface Entry {
  readonly seq: number;
  readonly command: Command;
}

/** Spreads places over a number of them, differently for each length of a journal. */
const placeOf = (ends: readonly number[], nth: number, count: number): number =>
  (Math.imul(ends.length + 31 * nth, 0x9e3779b1) >>> 8) % Math.max(1, count);

/** A cut within or beside one of the last writes leaves the commands before it. */
function tornFault(
  bytes: Uint8Array,
  ends: readonly number[],
  chains: readonly string[],
): string | null {
  const back = placeOf(ends, 0, Math.min(bytes.length, 200));
  const near = ends[Math.max(0, ends.length - 1 - placeOf(ends, 1, 8))] ?? bytes.length;
  // A byte less or more than a whole frame, or than the head of the next one.
  const cuts = [-1, 0, 1, 7, 8, 9, 24, 25, 26].map((by) => near + by);
  const turn = placeOf(ends, 2, cuts.length);
  for (const at of [bytes.length - back, cuts[turn] ?? near, near - 1, bytes.length - 1]) {
    if (at < (ends[0] ?? 0) || at > bytes.length) continue;
    const cut = bytes.subarray(0, at);
    const expected = ends.filter((end) => end <= at).length;
    const found = commandsIn(cut);
    const where = `a journal cut at byte ${String(at)}`;
    if (found.fault !== null) return `${where} is not read: ${found.fault}`;
    if (found.count !== expected) {
      return `${where} recovers ${String(found.count)} commands, not ${String(expected)}`;
    }
    if (found.isTorn === ends.includes(at)) return `${where} is taken for another kind`;
  }
  const cut = bytes.subarray(0, Math.max(ends[0] ?? 0, bytes.length - back));
  const expected = ends.filter((end) => end <= cut.length).length;
  const recovered = replay(cut, { verify: true, recover: true }).engine;
  const isSame = expected === 0 || recovered.chainHash() === chains[expected - 1];
  if (recovered.seq === expected && isSame) return null;
  return `a journal cut at byte ${String(cut.length)} recovers another exchange`;
}

/** A wrong byte is refused if a later frame is whole; in the last frame it is a torn write. */
function corruptFault(bytes: Uint8Array, ends: readonly number[]): string | null {
  const frames = [placeOf(ends, 2, ends.length), ends.length - 1];
  for (const [i, frame] of frames.entries()) {
    const from = ends[frame - 1];
    const to = ends[frame];
    if (from === undefined || to === undefined) continue;
    const wrong = bytes.slice();
    const at = from + placeOf(ends, 3 + i, to - from);
    wrong[at] = (wrong[at] ?? 0) ^ (1 << (placeOf(ends, 6 + i, 8) & 7));
    const { count, fault } = commandsIn(wrong);
    const isLast = frame === ends.length - 1;
    if (isLast ? fault === null && count === frame : fault !== null) continue;
    const found = fault ?? `read up to command ${String(count)}`;
    return `a journal with a wrong byte ${String(at)} in frame ${String(frame + 1)} is ${found}`;
  }
  return null;
}

/** The same commands as a segment with groups, and after a torn last group. */
function groupFault(config: ExchangeConfig, entries: readonly Entry[]): string | null {
  const some = entries.slice(-GROUPED_COMMANDS);
  const first = some[0];
  if (first === undefined) return null;
  const before = entries[entries.length - some.length - 1];
  const after =
    before === undefined ? BEGINNING : { seq: seqOf(before.seq), timeUs: before.command.timeUs };
  const writer = new JournalWriter(after);
  const parts: Uint8Array[] = [headerBytes(config, after)];
  for (const [i, { seq, command }] of some.entries()) {
    writer.append(seqOf(seq), command);
    if (i % 3 !== 2 && i < some.length - 1) continue;
    const group = writer.takeGroup();
    if (group !== null) parts.push(group.bytes);
  }
  const whole = joined([...parts, new Uint8Array(GROUPED_COMMANDS)]);
  const last = parts.at(-1) ?? whole;
  const firstOfLast = some.length - ((some.length - 1) % 3) - 1;
  const { count, fault } = commandsIn(whole);
  if (fault !== null || count !== some.length) {
    return `a segment of ${String(some.length)} commands has ${fault ?? String(count)}`;
  }
  const torn = joined([...parts.slice(0, -1), last.subarray(0, last.length - 1)]);
  const left = commandsIn(torn);
  if (left.fault === null && left.count === firstOfLast && left.isTorn) return null;
  return `a segment with a torn group has ${left.fault ?? String(left.count)} commands`;
}

const GROUPED_COMMANDS = 20;

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Number of commands in these bytes, and the error of their reader. */
function commandsIn(bytes: Uint8Array): {
  readonly count: number;
  readonly isTorn: boolean;
  readonly fault: string | null;
} {
  let count = 0;
  try {
    const reader = new JournalReader(bytes);
    for (let frame = reader.next(); frame !== null; frame = reader.next()) count += 1;
    return { count, isTorn: reader.torn !== null, fault: null };
  } catch (error) {
    if (error instanceof JournalError) return { count, isTorn: false, fault: error.message };
    throw error;
  }
}

/** Alterations of one field that are tried in a short run. */
const TURNS = 24;
/** The same for each command of a long run. */
const ALTERED = 2;

/** The same for the command with one field changed; with `all`, for each field in turn. */
function alteredFault(command: Command, seq: number, all: boolean): string | null {
  const { body } = schemaOf(command);
  const { length } = body.fields;
  if (length === 0 || command.kind === 'listMarket') return null;
  for (let turn = 0; turn < (all ? TURNS * length : ALTERED); turn += 1) {
    const at = all ? turn : ALTERED * seq + turn;
    const { record } = alterField(body, command, at, Math.floor(at / length), true);
    const found = codecFault(record as Command);
    if (found !== null) return found;
  }
  return null;
}

/** A command that does not read back as written; null if it does. */
function codecFault(command: Command): string | null {
  const usual = new ByteWriter(64);
  const plain = new ByteWriter(64);
  try {
    encodeCommand(usual, command);
    encodeBySchema(plain, command);
  } catch {
    // An altered value may be outside of the range of its field.
    return null;
  }
  const wanted = textOf(command);
  const readers = [decodeCommand, decodeBySchema];
  for (const written of [usual, plain]) {
    for (const read of readers) {
      const found = textOf(read(new ByteReader(written.bytes()), command.timeUs));
      if (found !== wanted) return `${wanted} reads back as ${found}`;
    }
  }
  return null;
}

const textOf = (command: Command): string => JSON.stringify(describeCommand(command));

function broken({ seq }: Engine, what: string): Violation {
  return {
    invariant: 'journal',
    rule: 'docs/DETERMINISM.md',
    says: 'a journal reads back as it was written, and recovers after a torn write',
    detail: `command ${String(seq)}: ${what}`,
  };
}
