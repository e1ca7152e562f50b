/**
 * Checker of what clients saw of a replicated exchange. Every answer has its place, so the checker
 * sorts by place, replays the journal through the oracle, and checks the order in real time. A
 * request without an answer may be in the journal once or not at all.
 */
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { outcomeCode, type Outcome } from '../../src/engine/refusals.ts';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { readHeader } from '../../src/journal/format/header.ts';
import { Lockstep } from '../../src/oracle/lockstep.ts';
import type { JournalRow } from '../../src/replication/ports.ts';

export interface Write {
  /** Amount of the command; no two writes have the same one. */
  readonly amount: bigint;
  readonly invokedMs: number;
  /** null: no answer. */
  answer: {
    readonly atMs: number;
    readonly place: number;
    readonly outcome: Outcome;
  } | null;
  /** The server refused before it did anything. */
  refused: boolean;
}

export interface Read {
  readonly invokedMs: number;
  readonly answeredMs: number;
  readonly role: string;
  readonly place: number;
  readonly chainHash: string;
  /** The state has all that was committed this long before the read was made. */
  readonly lagMs: number;
  readonly madeMs: number;
}

export interface History {
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
  readonly rows: readonly JournalRow[];
}

/** Clocks of servers run at other rates than that of the clients, by at most this share. */
const RATE = 0.03;

interface Applied {
  readonly command: Command | null;
  readonly outcome: Outcome;
  readonly chainHash: string;
}

/** The first contradiction, or null. */
export function contradictionOf({ writes, reads, rows }: History): string | null {
  const applied = replayed(rows);
  if (typeof applied === 'string') return applied;
  const seen = new Map<bigint, number>();
  for (const [seq, { command }] of applied.entries()) {
    if (command === null || !('amount' in command)) continue;
    if (seen.has(command.amount)) return `command ${seq} is done twice`;
    seen.set(command.amount, seq);
  }
  for (const { amount, answer, refused } of writes) {
    if (refused && seen.has(amount)) return `a refused command is in the journal`;
    if (answer === null) continue;
    const { place, outcome } = answer;
    if (seen.get(amount) !== place) return `the answered command ${place} is lost`;
    const expected = outcomeCode(applied[place]!.outcome);
    if (outcomeCode(outcome) !== expected)
      return `command ${place} was answered with another outcome`;
  }
  for (const { place, chainHash } of reads) {
    if (applied[place]?.chainHash !== chainHash) return `a read shows a state that never was`;
  }
  return orderOf(writes, reads);
}

/** Real-time order: what was answered before a request began is in its answer. */
function orderOf(writes: readonly Write[], reads: readonly Read[]): string | null {
  const answered = writes
    .flatMap(({ answer }) => (answer === null ? [] : [answer]))
    .map(({ atMs, place }) => ({ atMs, place }));
  for (const { role, answeredMs, place } of reads) {
    if (role === 'leader') answered.push({ atMs: answeredMs, place });
  }
  answered.sort((a, b) => a.atMs - b.atMs);
  let newest = 0;
  const newestAt = answered.map(({ atMs, place }) => {
    newest = Math.max(newest, place);
    return { atMs, newest };
  });
  const before = (atMs: number): number => {
    let [low, high] = [0, newestAt.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (newestAt[middle]!.atMs < atMs) low = middle + 1;
      else high = middle;
    }
    return newestAt[low - 1]?.newest ?? 0;
  };
  for (const { invokedMs, answer } of writes) {
    if (answer !== null && answer.place <= before(invokedMs)) {
      return `command ${answer.place} precedes one that was answered before it began`;
    }
  }
  for (const { role, invokedMs, place, lagMs, madeMs } of reads) {
    const knownMs = role === 'leader' ? invokedMs : madeMs - (1 + RATE) * lagMs - 1;
    if (place < before(Math.min(invokedMs, knownMs))) {
      return `a read of a ${role} at command ${place} misses one that was answered before`;
    }
  }
  return null;
}

/** Outcomes and chain hashes by place; place 0 is the beginning. */
function replayed(rows: readonly JournalRow[]): Applied[] | string {
  const header = rows[0]?.header;
  if (header === undefined || header === null) return [];
  const engine = new Exchange(readHeader(header).header.config);
  const lockstep = new Lockstep(engine);
  const applied: Applied[] = [{ command: null, outcome: 'ok', chainHash: engine.chainHash() }];
  const reader = new JournalReader(Buffer.concat([header, ...rows.map(({ bytes }) => bytes)]));
  for (const row of rows) {
    while (engine.seq < row.lastSeq) {
      const frame = reader.next();
      if (frame === null) return `the journal ends early, after command ${engine.seq}`;
      if (frame.kind !== 'command') continue;
      const { outcome, divergence } = lockstep.apply(frame.command);
      if (divergence !== null) return `the oracle disagrees with command ${frame.seq}`;
      applied.push({ command: frame.command, outcome, chainHash: engine.chainHash() });
    }
    if (engine.chainHash() !== row.chainHash)
      return `the chain hash of command ${engine.seq} differs`;
  }
  return applied;
}
