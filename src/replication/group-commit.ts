/**
 * Group commit of a leader: commands that arrive while a row is being committed share the next
 * one. Rows are appended one after the other, each once the row before is committed.
 *
 * An append with an unknown outcome is repeated until the journal proves it: the row of that place
 * is either this one, or another epoch is in force. A row is at most once in the journal, since a
 * place is unique and a row names the chain hash that it follows.
 */
import type { Command } from '../engine/commands.ts';
import type { Exchange } from '../engine/exchange.ts';
import { JournalWriter, type JournalGroup } from '../journal/format/frames.ts';
import { headerBytes, type JournalPosition } from '../journal/format/header.ts';
import { StoreStopped, type StoreProblem } from '../journal/store-stopped.ts';
import { seq as seqOf, type OrderId } from '../num/units.ts';
import type { JournalEnd, JournalRow, JournalStore, Ticker } from './ports.ts';
import { checksumOf } from './tail.ts';

/** Size from which a row takes no further command. */
const ROW_BYTES = 1 << 20;
const RETRY_MS = 50;

/** Commands of the same row share one promise. */
class Sync {
  resolve: () => void = () => undefined;
  reject: (error: Error) => void = () => undefined;
  waiting = 0;
  readonly done = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // Prevents an unhandled rejection if no reply waits.
    this.done.catch(() => undefined);
  }
}

interface PendingRow {
  readonly row: JournalRow;
  readonly sync: Sync;
}

export interface GroupCommitOptions {
  readonly engine: Exchange;
  readonly store: JournalStore;
  readonly ticker: Ticker;
  readonly epoch: number;
  /** Time of failed appends after which no commands are taken. */
  readonly leaseMs: number;
  readonly end: JournalEnd;
  readonly position: JournalPosition;
  /** The journal proves that this leader is deposed, or that it lacks rows that it had. */
  readonly onLost: (reason: string) => void;
  readonly onProblem: (what: string, problem: StoreProblem) => void;
}

export class GroupCommit {
  private readonly options: GroupCommitOptions;
  private readonly writer: JournalWriter;
  private committed: JournalEnd;
  private pending: PendingRow[] = [];
  private upcoming = new Sync();
  private pumping = false;
  private stopped: string | null = null;
  private bytes = 0;
  private failingSinceMs: number | null = null;
  private stopIsReported = false;
  /** Duration of the last commit. */
  lastSyncMs = 0;

  constructor(options: GroupCommitOptions) {
    this.options = options;
    this.committed = options.end;
    this.writer = new JournalWriter(options.position);
  }

  /** Last committed command. */
  get end(): JournalEnd {
    return this.committed;
  }
  get bytesWritten(): number {
    return this.bytes;
  }
  get waiting(): number {
    return this.pending.reduce((sum, { sync }) => sum + sync.waiting, this.upcoming.waiting);
  }
  /** Whether appends have failed for so long that no further commands are taken. */
  get takesNone(): boolean {
    const { failingSinceMs, options } = this;
    return failingSinceMs !== null && options.ticker.nowMs() - failingSinceMs > options.leaseMs;
  }

  /** Adds a command before it is applied. */
  add(command: Command): void {
    const { engine } = this.options;
    if (this.writer.size >= ROW_BYTES) this.seal();
    this.writer.append(seqOf(engine.seq + 1), command);
    this.pump();
  }

  addOrderIds(first: OrderId, digests: readonly string[]): void {
    const { engine } = this.options;
    this.writer.orderIds(engine.seq, engine.nowUs, first, digests);
  }

  /** Resolves once the applied commands are committed; null if they are. */
  settled(): Promise<void> | null {
    const { engine } = this.options;
    if (engine.seq <= this.committed.seq) return null;
    if (this.stopped !== null) return Promise.reject(new StoreStopped(this.stopped));
    const last = this.pending.find(({ row }) => row.lastSeq >= engine.seq);
    const sync = last?.sync ?? this.upcoming;
    sync.waiting += 1;
    return sync.done;
  }

  /** Rejects all waiting replies: their commands may or may not be in the journal. */
  stop(reason: string): void {
    if (this.stopped !== null) return;
    this.stopped = reason;
    const error = new StoreStopped(reason);
    for (const { sync } of this.pending) sync.reject(error);
    this.pending = [];
    this.upcoming.reject(error);
    this.upcoming.waiting = 0;
  }

  private pump(): void {
    if (this.pumping) return;
    this.pumping = true;
    // One turn of the event loop collects the commands that arrive together.
    this.options.ticker.soon(() => void this.commitAll());
  }

  private async commitAll(): Promise<void> {
    const { engine, ticker } = this.options;
    while (this.stopped === null && this.committed.seq < engine.seq) {
      if (this.pending.length === 0) this.seal();
      const [next] = this.pending;
      if (next === undefined) break;
      const startedMs = ticker.nowMs();
      if (!(await this.commit(next.row))) break;
      this.lastSyncMs = ticker.nowMs() - startedMs;
      this.bytes += next.row.bytes.length;
      this.committed = { seq: next.row.lastSeq, chainHash: next.row.chainHash };
      this.pending.shift();
      next.sync.waiting = 0;
      next.sync.resolve();
    }
    this.pumping = false;
  }

  /** Makes a row of the commands since the last one. All of them are applied. */
  private seal(): void {
    const { engine, epoch } = this.options;
    const chainHash = engine.chainHash();
    for (let group = this.writer.takeGroup(); group !== null; group = this.writer.takeGroup()) {
      this.pending.push({ row: this.rowOf(group, epoch, chainHash), sync: this.upcoming });
      this.upcoming = new Sync();
    }
  }

  private rowOf({ bytes, after, last }: JournalGroup, epoch: number, chainHash: string) {
    return {
      firstSeq: after.seq + 1,
      lastSeq: last.seq,
      epoch,
      checksum: checksumOf(bytes),
      chainHash,
      bytes,
      header: after.seq === 0 ? headerBytes(this.options.engine.config, after) : null,
    };
  }

  /** False once this leader is stopped. */
  private async commit(row: JournalRow): Promise<boolean> {
    const { ticker, onProblem } = this.options;
    while (this.stopped === null) {
      try {
        const isDone = await this.tryCommit(row);
        if (this.failingSinceMs !== null)
          onProblem('the database takes commands again', 'writes_resumed');
        this.failingSinceMs = null;
        this.stopIsReported = false;
        return isDone && !this.isStopped();
      } catch (error) {
        const { message } = error as Error;
        if (this.failingSinceMs === null) {
          this.failingSinceMs = ticker.nowMs();
          onProblem(`a group of commands is not committed yet: ${message}`, 'writes_delayed');
        } else if (this.takesNone && !this.stopIsReported) {
          this.stopIsReported = true;
          onProblem(`writes have stopped: ${message}`, 'writes_stopped');
        }
        await new Promise<void>((resolve) => void ticker.after(RETRY_MS, resolve));
      }
    }
    return false;
  }

  private isStopped(): boolean {
    return this.stopped !== null;
  }

  private async tryCommit(row: JournalRow): Promise<boolean> {
    const { store, epoch } = this.options;
    if (await store.append(row, this.committed)) return true;
    const { lead, rows, end } = await store.poll(this.committed.seq);
    if (lead.epoch !== epoch) {
      this.options.onLost(`epoch ${String(lead.epoch)} is in force, not ${String(epoch)}`);
      return false;
    }
    const [found] = rows;
    if (
      found === undefined &&
      end.seq === this.committed.seq &&
      end.chainHash === this.committed.chainHash
    ) {
      throw new Error('the row was not appended');
    }
    if (found !== undefined && isSame(found, row)) {
      // A commit after the row: with a synchronous standby, the row is there as well.
      const { lastSeq: seq, chainHash } = row;
      if (await store.beat(epoch, { seq, chainHash })) return true;
      this.options.onLost(`epoch ${String(epoch)} is no longer in force`);
      return false;
    }
    this.options.onLost(
      `the journal ends with command ${String(end.seq)} and is not the one that this server ` +
        `wrote up to command ${String(this.committed.seq)}: the database has lost committed rows`,
    );
    return false;
  }
}

function isSame(a: JournalRow, b: JournalRow): boolean {
  return (
    a.firstSeq === b.firstSeq &&
    a.lastSeq === b.lastSeq &&
    a.epoch === b.epoch &&
    a.checksum === b.checksum &&
    a.chainHash === b.chainHash
  );
}
