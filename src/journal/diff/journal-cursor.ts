/** A cursor in a journal: its commands one by one, and the hashes between them. */
import type { Command } from '../../engine/commands.ts';
import type { Seq } from '../../num/units.ts';
import type { JournalFrame } from '../format/frame.ts';
import { JournalError, type JournalSource, type TornTail } from '../format/frames.ts';
import type { JournalHeader } from '../format/header.ts';

/** A journal that can be read repeatedly from its start; the name is for messages. */
export interface NamedJournal {
  readonly name: string;
  readonly open: () => JournalSource;
}

export interface SequencedCommand {
  readonly seq: Seq;
  readonly command: Command;
}

/** A hash that the journal holds after a command. */
export interface RecordedHash {
  readonly seq: Seq;
  readonly hash: string;
}

/** Frames per read. */
const BATCH = 4096;

export class JournalCursor {
  private readonly name: string;
  private readonly reader: JournalSource;
  private frames: JournalFrame[] = [];
  private at = 0;
  private exhausted = false;
  private passed = 0;
  private checkpoint: RecordedHash | null = null;
  private chain: RecordedHash | null = null;
  private endHash: string | null = null;

  /** Throws `JournalError` naming the journal, as does `fill`. */
  constructor({ name, open }: NamedJournal) {
    this.name = name;
    this.reader = this.named(open);
  }

  get header(): JournalHeader {
    return this.reader.header;
  }
  get offset(): number {
    return this.reader.offset;
  }
  get ended(): boolean {
    return this.reader.ended;
  }
  get torn(): TornTail | null {
    return this.reader.torn;
  }
  /** Chain hash of the end frame, once read. */
  get chainHash(): string | null {
    return this.endHash;
  }
  /** Number of commands passed. */
  get commands(): number {
    return this.passed;
  }
  /** True if `peek` needs no further read. */
  get hasNext(): boolean {
    return this.at < this.frames.length || this.exhausted;
  }

  /** The next command; null at the end of the journal. Requires `hasNext`. */
  peek(): SequencedCommand | null {
    const frame = this.frames[this.at];
    return frame?.kind === 'command' ? frame : null;
  }

  drop(): void {
    this.at += 1;
    this.passed += 1;
    this.passNotes();
  }

  /** Reads frames until `hasNext` holds. */
  fill(): void {
    while (!this.hasNext) {
      this.frames = [];
      this.at = 0;
      this.named(() => {
        for (let i = 0; i < BATCH; i++) {
          const frame = this.reader.next();
          if (frame === null) break;
          this.frames.push(frame);
        }
      });
      this.exhausted = this.frames.length === 0;
      this.passNotes();
    }
  }

  /** Returns the last checkpoint passed, once. */
  takeCheckpoint(): RecordedHash | null {
    const taken = this.checkpoint;
    this.checkpoint = null;
    return taken;
  }

  /** Returns the last chain hash passed before the end frame, once. */
  takeChain(): RecordedHash | null {
    const taken = this.chain;
    this.chain = null;
    return taken;
  }

  /** Counts the remaining commands without applying them. */
  skipToEnd(): void {
    for (;;) {
      this.fill();
      if (this.peek() === null) return;
      this.drop();
    }
  }

  private passNotes(): void {
    for (;;) {
      const frame = this.frames[this.at];
      if (frame === undefined || frame.kind === 'command') return;
      if (frame.kind === 'checkpoint') this.checkpoint = { seq: frame.seq, hash: frame.stateHash };
      else if (frame.kind === 'chain') this.chain = { seq: frame.seq, hash: frame.chainHash };
      else if (frame.kind === 'end') this.endHash = frame.chainHash;
      this.at += 1;
    }
  }

  private named<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      // The error of a folder's journal already names the file.
      if (!(error instanceof JournalError) || error.message.startsWith(this.name)) throw error;
      throw new JournalError(`${this.name}: ${error.message}`);
    }
  }
}
