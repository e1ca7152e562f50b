/**
 * Where two journals part (DESIGN §1: a run is its journal). Both are replayed side by side: while their commands are alike one
 * exchange stands for both, since the same commands make the same events; from the first command that differs each has its own,
 * and what happened is compared event by event, whatever commands it took. `seq` and `index` of an event are its place, and no
 * difference by themselves. What is held is one command's events a side.
 */
import { must } from '../../base/assert.ts';
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Seq } from '../../num/units.ts';
import { describeCommand } from '../format/codec.ts';
import type { TornTail } from '../format/frames.ts';
import { alike, fieldDifferences, type FieldDifference } from './field-differences.ts';
import { JournalCursor, type NamedJournal, type SequencedCommand } from './journal-cursor.ts';
import { allRows, type StateRow } from './state-rows.ts';

export interface DiffOptions {
  /** Called and waited for now and then, with the bytes read of both. */
  readonly onProgress?: (bytes: number) => Promise<void>;
  /** Polled with progress: true ends the comparison early. */
  readonly cancelled?: () => boolean;
}

/** Two that stand where the other has another, or none (null). */
export interface Pair<T> {
  readonly a: T | null;
  readonly b: T | null;
}

export interface JournalSummary {
  readonly commands: number;
  /** Whether the journal says it is complete. */
  readonly complete: boolean;
  readonly torn: TornTail | null;
  /** At the end of the journal; null when the comparison ended before it. */
  readonly chainHash: string | null;
  readonly stateHash: string | null;
}

/** A hash that a journal holds and the other, or this program, does not confirm: another engine recorded it. */
export interface RecordedDifference {
  readonly what: 'stateHash' | 'chainHash';
  readonly seq: Seq;
  /** null where that journal holds none there. */
  readonly a: string | null;
  readonly b: string | null;
  /** What this program makes of it; null when both journals were not replayed up to there. */
  readonly computed: string | null;
}

export interface JournalDiff {
  readonly a: JournalSummary;
  readonly b: JournalSummary;
  /** Nothing differs: the same configuration, commands, and recorded hashes. */
  readonly same: boolean;
  /** The journal whose commands the other one begins with. */
  readonly prefix: 'a' | 'b' | null;
  readonly config: readonly FieldDifference[];
  /** Commands from the beginning that are alike. */
  readonly commonCommands: number;
  readonly firstCommand:
    (Pair<SequencedCommand> & { readonly fields: readonly FieldDifference[] }) | null;
  readonly commonEvents: number;
  readonly firstEvent: (Pair<EngineEvent> & { readonly fields: readonly FieldDifference[] }) | null;
  /** The first fields of state that differ at the end although nothing that happened did. */
  readonly state: readonly (StateRow & Pair<string>)[];
  readonly recorded: RecordedDifference | null;
  readonly cancelled: boolean;
}

const PLACE = ['seq', 'index'];

/** Throws `JournalError` when one of them is no journal of this version, or is corrupt. */
export async function diffJournals(
  a: NamedJournal,
  b: NamedJournal,
  options: DiffOptions = {},
): Promise<JournalDiff> {
  return new Comparison(new JournalCursor(a), new JournalCursor(b), options).run();
}

/** One journal's exchange and the events that were not compared yet. */
class Side {
  readonly cursor: JournalCursor;
  engine: Exchange;
  private events: EngineEvent[] = [];
  private at = 0;

  constructor(cursor: JournalCursor, engine: Exchange) {
    this.cursor = cursor;
    this.engine = engine;
  }

  apply(command: Command): void {
    this.engine.apply(command, (event) => {
      this.events.push(event);
    });
  }

  peek(): EngineEvent | null {
    return this.events[this.at] ?? null;
  }

  drop(): void {
    this.at += 1;
    if (this.at < this.events.length) return;
    this.events = [];
    this.at = 0;
  }
}

class Comparison {
  private readonly a: Side;
  private readonly b: Side;
  private readonly options: DiffOptions;
  private readonly config: readonly FieldDifference[];
  private firstCommand: JournalDiff['firstCommand'] = null;
  private firstEvent: JournalDiff['firstEvent'] = null;
  private recorded: RecordedDifference | null = null;
  private commonCommands = 0;
  private commonEvents = 0;
  private cancelled = false;

  constructor(a: JournalCursor, b: JournalCursor, options: DiffOptions) {
    this.options = options;
    this.config = fieldDifferences(a.header.config, b.header.config);
    const engine = new Exchange(a.header.config);
    this.a = new Side(a, engine);
    this.b = new Side(b, this.config.length === 0 ? engine : new Exchange(b.header.config));
  }

  async run(): Promise<JournalDiff> {
    await this.alikeCommands();
    await this.eventsOfEach();
    return this.result();
  }

  /** Goes on while the commands are alike. */
  private async alikeCommands(): Promise<void> {
    const { a, b } = this;
    for (;;) {
      if (!a.cursor.hasNext) await this.refill(a.cursor);
      if (!b.cursor.hasNext) await this.refill(b.cursor);
      this.compareRecorded();
      const [x, y] = [a.cursor.peek(), b.cursor.peek()];
      if (this.cancelled || (x === null && y === null)) return;
      if (x === null || y === null || !alike(x.command, y.command)) {
        this.firstCommand = { a: x, b: y, fields: commandDifferences(x, y) };
        return;
      }
      a.cursor.drop();
      b.cursor.drop();
      this.commonCommands += 1;
      if (a.engine === b.engine) {
        a.engine.apply(x.command, this.count);
        continue;
      }
      a.apply(x.command);
      b.apply(y.command);
      this.compareEvents();
      const [rest, restB] = [a.peek(), b.peek()];
      if (this.firstEvent === null && (rest !== null || restB !== null)) this.part(rest, restB);
      if (this.firstEvent !== null) return;
    }
  }

  private readonly count = (): void => {
    this.commonEvents += 1;
  };

  /** Goes on until something else happens in one than in the other. */
  private async eventsOfEach(): Promise<void> {
    const { a, b } = this;
    if (this.firstCommand === null || this.isOver()) return;
    if (a.engine === b.engine) b.engine = a.engine.fork();
    for (;;) {
      await this.untilEvent(a);
      await this.untilEvent(b);
      const [x, y] = [a.peek(), b.peek()];
      if (this.isOver() || (x === null && y === null)) return;
      if (x === null || y === null) this.part(x, y);
      else this.compareEvents();
    }
  }

  private isOver(): boolean {
    return this.firstEvent !== null || this.cancelled;
  }

  private async untilEvent(side: Side): Promise<void> {
    while (side.peek() === null) {
      if (!side.cursor.hasNext) await this.refill(side.cursor);
      const next = side.cursor.peek();
      if (next === null || this.cancelled) return;
      side.cursor.drop();
      side.apply(next.command);
    }
  }

  private compareEvents(): void {
    for (;;) {
      const [x, y] = [this.a.peek(), this.b.peek()];
      if (x === null || y === null) return;
      if (!alike(x, y, PLACE)) {
        this.part(x, y);
        return;
      }
      this.commonEvents += 1;
      this.a.drop();
      this.b.drop();
    }
  }

  private part(a: EngineEvent | null, b: EngineEvent | null): void {
    if (a === null && b === null) return;
    const fields = a === null || b === null ? [] : fieldDifferences(a, b, PLACE);
    this.firstEvent = { a, b, fields };
  }

  private async refill(cursor: JournalCursor): Promise<void> {
    cursor.fill();
    await this.options.onProgress?.(this.a.cursor.offset + this.b.cursor.offset);
    if (this.options.cancelled?.() === true) this.cancelled = true;
  }

  /** Hashes that both journals hold at this command. */
  private compareRecorded(): void {
    const [x, y] = [this.a.cursor.takeCheckpoint(), this.b.cursor.takeCheckpoint()];
    if (this.recorded !== null || x === null || y === null) return;
    if (this.config.length > 0 || x.seq !== y.seq || x.hash === y.hash) return;
    const computed = this.a.engine.stateHash();
    this.recorded = { what: 'stateHash', seq: x.seq, a: x.hash, b: y.hash, computed };
  }

  private compareEnds(): void {
    if (this.recorded !== null) return;
    const seq = this.a.engine.seq;
    const [x, y] = [this.a.cursor.chainHash, this.b.cursor.chainHash];
    const computed = this.a.engine.chainHash();
    const isOther = (hash: string | null): boolean => hash !== null && hash !== computed;
    if (isOther(x) || isOther(y)) this.recorded = { what: 'chainHash', seq, a: x, b: y, computed };
  }

  private result(): JournalDiff {
    const { a, b, firstCommand, firstEvent } = this;
    const toEnd = firstEvent === null && !this.cancelled;
    if (toEnd && firstCommand === null && this.config.length === 0) this.compareEnds();
    const state = toEnd && a.engine !== b.engine ? stateDifferences(a.engine, b.engine) : [];
    const summary = (side: Side): JournalSummary => {
      if (!this.cancelled) side.cursor.skipToEnd();
      const { commands, ended, torn } = side.cursor;
      return {
        commands,
        complete: ended,
        torn,
        chainHash: toEnd ? side.engine.chainHash() : null,
        stateHash: toEnd ? side.engine.stateHash() : null,
      };
    };
    const shorter = firstCommand?.a === null ? 'a' : firstCommand?.b === null ? 'b' : null;
    return {
      a: summary(a),
      b: summary(b),
      same: toEnd && firstCommand === null && this.config.length === 0 && this.recorded === null,
      prefix: shorter,
      config: this.config,
      commonCommands: this.commonCommands,
      firstCommand,
      commonEvents: this.commonEvents,
      firstEvent,
      state,
      recorded: this.recorded,
      cancelled: this.cancelled,
    };
  }
}

function commandDifferences(
  a: SequencedCommand | null,
  b: SequencedCommand | null,
): readonly FieldDifference[] {
  if (a === null || b === null) return [];
  return fieldDifferences(describeCommand(a.command), describeCommand(b.command));
}

function stateDifferences(a: Exchange, b: Exchange): (StateRow & Pair<string>)[] {
  const key = ({ subject, field }: StateRow): string => `${subject} ${field}`;
  const left = new Map(allRows(a).map((row) => [key(row), row]));
  const right = new Map(allRows(b).map((row) => [key(row), row]));
  const found: (StateRow & Pair<string>)[] = [];
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const [x, y] = [left.get(name), right.get(name)];
    if (x?.value === y?.value) continue;
    const row = must(x ?? y, 'one of them has the row');
    found.push({ ...row, a: x?.value ?? null, b: y?.value ?? null });
  }
  return found;
}
