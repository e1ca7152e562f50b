/**
 * Ports of a replicated exchange: the shared journal and the clock of this process. The journal is
 * PostgreSQL (`src/postgres`) or a simulation with seeded faults (`test/replication`).
 *
 * A call that rejects has an unknown outcome: the store may have done it, or may still do it.
 */
import type { OrderDigest } from '../journal/served-exchange.ts';

/** One group of commands. `firstSeq` is its place: two rows never have the same one. */
export interface JournalRow {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Epoch of the leader that appended the row. */
  readonly epoch: number;
  /** CRC-32 of the group, as in its frame. */
  readonly checksum: number;
  /** Chain hash of the exchange after the last command. */
  readonly chainHash: string;
  /** A group of frames (`journal/format/frames.ts`). */
  readonly bytes: Uint8Array;
  /** Header of the journal with the configuration; in the first row only. */
  readonly header: Uint8Array | null;
}

/** Last command of a journal and the chain hash after it. */
export interface JournalEnd {
  readonly seq: number;
  readonly chainHash: string;
}

export const EMPTY: JournalEnd = { seq: 0, chainHash: '' };

/** The leader in force. Each take-over has the next epoch; `beat` counts its renewals. */
export interface Leadership {
  readonly epoch: number;
  readonly beat: number;
  /** Name of the leading process; empty if it has resigned, or before the first leader. */
  readonly holder: string;
  /** Address that the leader advertises. */
  readonly address: string;
}

/** State of the store at one instant. */
export interface Poll {
  readonly lead: Leadership;
  readonly end: JournalEnd;
  /** The first rows after the command asked for; fewer than all if there are many. */
  readonly rows: readonly JournalRow[];
}

/** State before the rows that a new server replays. */
export interface JournalBase {
  readonly header: Uint8Array;
  readonly snapshot: StoredSnapshot | null;
}

export interface StoredSnapshot extends JournalEnd {
  readonly engine: Uint8Array;
  readonly orderIds: readonly OrderDigest[];
}

export interface Candidate {
  readonly holder: string;
  readonly address: string;
}

export interface JournalStore {
  /** Newest usable snapshot and the header; null before the first row. */
  base(): Promise<JournalBase | null>;
  poll(afterSeq: number): Promise<Poll>;
  /** Starts the next epoch if `seen` is still in force, beat included; null if it is not. */
  takeLead(seen: Leadership, by: Candidate): Promise<number | null>;
  /** Renews the lease. False if another epoch is in force, or no row ends at `end`. */
  beat(epoch: number, end: JournalEnd): Promise<boolean>;
  /** Gives up an epoch; the next leader need not wait for the lease. */
  resign(epoch: number): Promise<void>;
  /**
   * Appends the row if its epoch is in force and the journal ends at `after`. True once the row is
   * committed; false if it was not appended by this call.
   */
  append(row: JournalRow, after: JournalEnd): Promise<boolean>;
  saveSnapshot(snapshot: StoredSnapshot): Promise<void>;
  close(): Promise<void>;
}

/** Clock and timers of this process. The clock never goes back and has no date. */
export interface Ticker {
  nowMs(): number;
  /** Runs a function after the current turn of the event loop. */
  soon(run: () => void): void;
  /** Runs a function after a time; returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}
