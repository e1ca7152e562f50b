/**
 * A journal holds what it was given: each command reads back as it was written, by both codecs, and
 * a journal that is cut within a write is recovered up to its last whole command.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Engine } from '../../engine/read/views.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import { ByteReader, ByteWriter } from '../../journal/format/bytes.ts';
import {
  decodeBySchema,
  decodeCommand,
  describeCommand,
  encodeBySchema,
  encodeCommand,
} from '../../journal/format/codec.ts';
import { JournalWriter } from '../../journal/format/frames.ts';
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
  let isWhole = true;
  const recover = (engine: Engine): Violation | null => {
    if (!isWhole || ends.length === 0) return null;
    const bytes = writer.bytes();
    // Spreads the cuts over the last writes.
    const back = (Math.imul(ends.length, 0x9e3779b1) >>> 8) % Math.min(bytes.length, 200);
    const cut = bytes.subarray(0, Math.max(ends[0] ?? 0, bytes.length - back));
    const expected = ends.filter((end) => end <= cut.length).length;
    const recovered = replay(cut, { verify: true, recover: true }).engine;
    if (recovered.seq !== expected) {
      const found = `${String(recovered.seq)} commands, not ${String(expected)}`;
      return broken(engine, `a journal cut at byte ${String(cut.length)} recovers ${found}`);
    }
    if (expected > 0 && recovered.chainHash() !== chains[expected - 1]) {
      return broken(
        engine,
        `a journal cut at byte ${String(cut.length)} recovers another exchange`,
      );
    }
    return null;
  };
  return {
    after: (engine, command) => {
      const fault = codecFault(command) ?? alteredFault(command, engine.seq, every === 1);
      if (fault !== null) return broken(engine, fault);
      if (isWhole) {
        writer.append(seqOf(engine.seq), command);
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

/** Alterations of one field that are tried in a short run. */
const TURNS = 6;

/** The same for the command with one field changed; with `all`, for each field in turn. */
function alteredFault(command: Command, seq: number, all: boolean): string | null {
  const { body } = COMMANDS[command.kind];
  const { length } = body.fields;
  if (length === 0 || command.kind === 'listMarket') return null;
  for (let turn = 0; turn < (all ? TURNS * length : 1); turn += 1) {
    const at = all ? turn : seq;
    const { record } = alterField(body, command, at, Math.floor(at / length));
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
