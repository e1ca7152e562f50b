/**
 * Finds the first difference of two journals (a run is its journal). Both are replayed
 * side by side. While their commands are equal, one exchange serves both, because equal commands
 * produce equal events. From the first differing command each journal has its own exchange, and
 * events are compared one by one, whichever commands produced them. `seq` and `index` of an event
 * are its position and are not compared. Memory: one command's events per side.
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
  /** Called and awaited periodically with the bytes read of both. */
  readonly onProgress?: (bytes: number) => Promise<void>;
  /** Polled with progress; true ends the comparison early. */
  readonly cancelled?: () => boolean;
}

/** Two differing items at the same position; null if one is absent. */
export interface Pair<T> {
  readonly a: T | null;
  readonly b: T | null;
}

export interface JournalSummary {
  readonly commands: number;
  /** True if the journal has an end frame. */
  readonly complete: boolean;
  readonly torn: TornTail | null;
  /** At the end of the journal; null if the comparison ended before it. */
  readonly chainHash: string | null;
  readonly stateHash: string | null;
}

/** A recorded hash that the other journal or this program does not confirm. */
export interface RecordedDifference {
  readonly what: 'stateHash' | 'chainHash';
  readonly seq: Seq;
  /** null if that journal has no hash there. */
  readonly a: string | null;
  readonly b: string | null;
  /** Hash computed by this program; null if the journals were not both replayed to that point. */
  readonly computed: string | null;
}

export interface JournalDiff {
  readonly a: JournalSummary;
  readonly b: JournalSummary;
  /** True if configuration, commands and recorded hashes are equal. */
  readonly same: boolean;
  /** The journal whose commands are a prefix of the other's. */
  readonly prefix: 'a' | 'b' | null;
  readonly config: readonly FieldDifference[];
  /** Number of equal commands from the start. */
  readonly commonCommands: number;
  readonly firstCommand:
    (Pair<SequencedCommand> & { readonly fields: readonly FieldDifference[] }) | null;
  readonly commonEvents: number;
  readonly firstEvent: (Pair<EngineEvent> & { readonly fields: readonly FieldDifference[] }) | null;
  /** First differing fields of the final state if all events are equal. */
  readonly state: readonly (StateRow & Pair<string>)[];
  readonly recorded: RecordedDifference | null;
  readonly cancelled: boolean;
}

const PLACE = ['seq', 'index'];

/** Throws `JournalError` if a journal is corrupt or of another version. */
export async function diffJournals(
  a: NamedJournal,
  b: NamedJournal,
  options: DiffOptions = {},
): Promise<JournalDiff> {
  return new Comparison(new JournalCursor(a), new JournalCursor(b), options).run();
}

/** One journal's exchange and its events not yet compared. */
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

  /** Advances while the commands are equal. */
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

  /** Advances until the events differ. */
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

  /**
   * Compares state hashes that both journals have at this command, and each chain hash, also of one
   * of them, with that of the replay: a served exchange that was killed has no other hash.
   */
  private compareRecorded(): void {
    const [x, y] = [this.a.cursor.takeCheckpoint(), this.b.cursor.takeCheckpoint()];
    const [chain, chainB] = [this.a.cursor.takeChain(), this.b.cursor.takeChain()];
    if (this.config.length > 0) return;
    if (chain !== null || chainB !== null) {
      this.compareChains(chain?.hash ?? null, chainB?.hash ?? null);
    }
    if (this.recorded !== null || x === null || y === null) return;
    if (x.seq !== y.seq || x.hash === y.hash) return;
    const computed = this.a.engine.stateHash();
    this.recorded = { what: 'stateHash', seq: x.seq, a: x.hash, b: y.hash, computed };
  }

  private compareEnds(): void {
    this.compareChains(this.a.cursor.chainHash, this.b.cursor.chainHash);
  }

  private compareChains(a: string | null, b: string | null): void {
    if (this.recorded !== null) return;
    const { seq } = this.a.engine;
    const computed = this.a.engine.chainHash();
    const isOther = (hash: string | null): boolean => hash !== null && hash !== computed;
    if (isOther(a) || isOther(b)) this.recorded = { what: 'chainHash', seq, a, b, computed };
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
