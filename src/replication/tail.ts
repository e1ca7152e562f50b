/**
 * Applies rows of a shared journal to an exchange and verifies each: its place, its epoch, its
 * checksum, and the chain hash after its last command. The rows of one poll are decoded as one
 * segment (`journal/format/header.ts`).
 */
import type { EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import { JournalReader } from '../journal/format/frames.ts';
import { headerBytes, readHeader, type JournalPosition } from '../journal/format/header.ts';
import { EMPTY, type JournalBase, type JournalEnd, type JournalRow } from './ports.ts';
import { ReplicationError } from './replication-error.ts';

export interface TailSinks {
  readonly onEvent: EventSink | undefined;
  readonly onOrderIds: (first: number, digests: readonly string[]) => void;
}

/** CRC-32 in the frame of a group, as an unsigned number. */
export function checksumOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(4, true);
}

export class Tail {
  readonly engine: Exchange;
  private at: JournalEnd;
  private epoch = 0;
  private applied = 0;

  constructor(engine: Exchange, at: JournalEnd) {
    this.engine = engine;
    this.at = at;
  }

  /** Starts at a snapshot or at the genesis state. Throws `JournalError` for another version. */
  static from({ header, snapshot }: JournalBase): Tail {
    const { config } = readHeader(header).header;
    if (snapshot === null) return new Tail(new Exchange(config), EMPTY);
    const engine = Exchange.restore(snapshot.engine);
    if (engine.seq === snapshot.seq && engine.chainHash() === snapshot.chainHash) {
      return new Tail(engine, { seq: snapshot.seq, chainHash: snapshot.chainHash });
    }
    throw new ReplicationError(
      `the snapshot of command ${String(snapshot.seq)} has another state than the journal`,
    );
  }

  get end(): JournalEnd {
    return this.at;
  }

  /** Commands applied from rows. */
  get replayed(): number {
    return this.applied;
  }

  get position(): JournalPosition {
    return { seq: this.engine.seq, timeUs: this.engine.nowUs };
  }

  /** Throws `ReplicationError` if a row is damaged, misplaced or replays to another state. */
  apply(rows: readonly JournalRow[], sinks: TailSinks): void {
    if (rows.length === 0) return;
    try {
      this.applySegment(rows, sinks);
    } catch (error) {
      if (error instanceof ReplicationError) throw error;
      // The engine may have applied a part of a row, so no error here can be retried.
      throw new ReplicationError(
        `the journal after command ${String(this.at.seq)}: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  private applySegment(rows: readonly JournalRow[], sinks: TailSinks): void {
    const { engine } = this;
    const reader = new JournalReader(
      concat([headerBytes(engine.config, this.position), ...rows.map(({ bytes }) => bytes)]),
    );
    for (const row of rows) {
      this.mustFollow(row);
      while (engine.seq < row.lastSeq) {
        const frame = reader.next();
        if (frame === null) this.fail(row, 'has fewer commands than it names');
        if (frame.kind === 'command') {
          engine.apply(frame.command, sinks.onEvent);
          this.applied += 1;
        } else if (frame.kind === 'orderIds') sinks.onOrderIds(frame.firstId, frame.digests);
      }
      // Digests of the last command.
      while (!reader.betweenGroups) {
        const frame = reader.next();
        if (frame?.kind !== 'orderIds') this.fail(row, 'has more commands than it names');
        sinks.onOrderIds(frame.firstId, frame.digests);
      }
      if (engine.chainHash() !== row.chainHash) {
        this.fail(row, `has chain hash ${row.chainHash}, but replays to ${engine.chainHash()}`);
      }
      this.at = { seq: row.lastSeq, chainHash: row.chainHash };
      this.epoch = row.epoch;
    }
  }

  private mustFollow(row: JournalRow): void {
    if (row.firstSeq !== this.at.seq + 1 || row.lastSeq < row.firstSeq) {
      this.fail(row, `follows command ${String(this.at.seq)}`);
    }
    if (row.epoch < this.epoch) this.fail(row, `has epoch ${String(row.epoch)} after a later one`);
    if (row.bytes.length < 8 || checksumOf(row.bytes) !== row.checksum) {
      this.fail(row, 'has another checksum than its bytes');
    }
  }

  private fail({ firstSeq, lastSeq }: JournalRow, what: string): never {
    throw new ReplicationError(
      `the journal's row of commands ${String(firstSeq)} to ${String(lastSeq)} ${what}`,
    );
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
