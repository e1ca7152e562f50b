/**
 * An exchange whose replies wait for the journal.
 *
 * A command is stamped, appended and applied at once. Its reply, and every reply that could show
 * its effect, waits for `durable`: the journal up to the command is written and synced. Commands
 * that arrive during a sync share the next one (group commit).
 *
 * After a disk failure no unsynced state has been published. The exchange is rebuilt from disk and
 * is read-only (`failure`) until a full disk has space again; other failures last until a restart.
 */
import { open } from 'node:fs/promises';
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/refusals.ts';
import { seq as seqOf, type OrderId } from '../num/units.ts';
import { JournalWriter } from '../journal/format/frames.ts';
import { BEGINNING, type JournalPosition } from '../journal/format/header.ts';
import { checkConfig } from './check-config.ts';
import type { DataFolder } from './data-folder.ts';
import { fileError, isOutOfSpace } from '../platform/file-error.ts';
import { ownLastSegment } from './own-last-segment.ts';
import { recover, recoverPatiently, type Recovered } from './recover.ts';
import {
  SEGMENT_BYTES,
  SegmentWriter,
  type OpenFile,
  type SegmentBytes,
} from './segment-writer.ts';
import {
  SnapshotMismatch,
  startSnapshotWorker,
  type WorkerSnapshot,
} from './snapshot-worker-client.ts';
import { mustOpen } from '../journal/opening.ts';
import type { OrderDigest, ServedExchange, SnapshotHealth } from '../journal/served-exchange.ts';
import { writeSnapshot } from './snapshots.ts';
import { StoreStopped, type StoreProblem } from '../journal/store-stopped.ts';
import { Sync } from './sync.ts';
import { discardEmptyJournal } from './discard-empty-journal.ts';

/** A chain hash is written after this many commands, and after a short pause in writes. */
const CHAIN_EVERY = 1000;
const IDLE_MS = 250;
/** Interval between checks of a full disk. */
const RETRY_MS = 1000;

export interface DurableOptions {
  /** Configuration; must match that of an existing exchange. null: existing, or the default. */
  readonly config: ExchangeConfig | null;
  readonly fallback: ExchangeConfig;
  /** Draws the sampling seed of a new exchange, which replaces the seed of `config`. */
  readonly drawSamplingSeed?: () => string;
  /** First commands of a new exchange: its markets. */
  readonly opening: readonly Command[];
  /** `relaxed` replies before the sync; a crash may lose the last commands. */
  readonly durability: 'strict' | 'relaxed';
  /** Commands between snapshots; 0: no snapshots. */
  readonly snapshotEvery: number;
  /** Reports a problem, or its end, in one line. */
  readonly onProblem: (what: string, problem: StoreProblem) => void;
  readonly segmentBytes?: SegmentBytes;
  readonly openFile?: OpenFile;
}

/** Result of the recovery at start. */
export interface Recovery {
  readonly isNew: boolean;
  readonly snapshotSeq: number;
  readonly replayed: number;
  /** Rejected snapshots with reasons. */
  readonly passedOver: readonly string[];
  /** Bytes of an incomplete last write that were overwritten with zeros. */
  readonly cutBytes: number;
  readonly stateHash: string;
}

interface Begun {
  readonly engine: Exchange;
  readonly position: JournalPosition;
  readonly recovery: Recovery;
  readonly orderIds: readonly OrderDigest[];
}

export class DurableExchange implements ServedExchange {
  /** The journal belongs to this server alone. */
  readonly replica = null;
  readonly recovery: Recovery;
  readonly snapshots: SnapshotHealth;
  /** Recorded digests, for the order id map. */
  readonly recordedIds: readonly OrderDigest[];
  private current: Exchange;
  private readonly folder: DataFolder;
  private readonly options: DurableOptions;
  private readonly segments: SegmentWriter;
  private writer: JournalWriter;
  private durableAt: JournalPosition;
  /** Commands at the last chain hash in the journal. */
  private chainedSeq: number;
  private snapshotAskedSeq: number;
  private snapshotWorker: WorkerSnapshot | null = null;
  private snapshotting: Promise<unknown> = Promise.resolve();
  private isSnapshotting = false;
  private isClosing = false;
  /** Sync of the group in flight, up to `writingSeq`, and the sync after it. */
  private writing = new Sync();
  private writingSeq = 0;
  private upcoming = new Sync();
  private flushing: Promise<void> | null = null;
  private stopped: Error | null = null;
  /** Error thrown by the engine; its unsynced commands are rolled back. */
  private fault: Error | null = null;
  private readonly idleTimer: NodeJS.Timeout;
  private retrying: NodeJS.Timeout | undefined;
  private readonly sinks: EventSink[] = [];
  private readonly resets: ((engine: Exchange) => void)[] = [];
  private readonly emit = (event: EngineEvent): void => {
    for (const sink of this.sinks) sink(event);
  };
  /** Duration of the last sync in seconds. */
  lastSyncSeconds = 0;
  /** Order digests for snapshots; set by the order id map. */
  orderIds: () => Iterable<OrderDigest> = () => [];

  private constructor(
    folder: DataFolder,
    options: DurableOptions,
    segments: SegmentWriter,
    { engine, position, recovery, orderIds }: Begun,
  ) {
    this.folder = folder;
    this.options = options;
    this.segments = segments;
    this.current = engine;
    this.writer = new JournalWriter(position);
    this.durableAt = position;
    this.chainedSeq = engine.seq;
    this.snapshotAskedSeq = recovery.snapshotSeq;
    this.recovery = recovery;
    this.recordedIds = orderIds;
    this.snapshots = { seq: recovery.snapshotSeq, seconds: 0, failures: 0, mismatch: false };
    this.idleTimer = setTimeout(() => {
      this.onIdle();
    }, IDLE_MS).unref();
  }

  /**
   * Opens or creates an exchange. Throws `FileError` or `JournalError` if the files are unusable.
   */
  static async open(folder: DataFolder, options: DurableOptions): Promise<DurableExchange> {
    const { path } = folder;
    const { isEmpty, cutBytes } = await discardEmptyJournal(path);
    try {
      if (isEmpty) return await DurableExchange.begin(folder, options, cutBytes);
      await ownLastSegment(path);
      const found = await recoverPatiently(path);
      checkConfig(path, found.engine.config, options);
      const segments = openSegments(folder, options, found.engine.config, found.journalBytes);
      await segments.resume(found.end);
      const { engine, position, orderIds } = found;
      return new DurableExchange(folder, options, segments, {
        engine,
        position,
        orderIds,
        recovery: recoveryOf(found),
      });
    } catch (error) {
      const { path: file = path } = error as NodeJS.ErrnoException;
      throw fileError(file, error);
    }
  }

  private static async begin(
    folder: DataFolder,
    options: DurableOptions,
    cutBytes: number,
  ): Promise<DurableExchange> {
    const asked = options.config ?? options.fallback;
    const samplingSeed = options.drawSamplingSeed?.() ?? asked.samplingSeed;
    const config = { ...asked, samplingSeed };
    const engine = new Exchange(config);
    const writer = new JournalWriter(BEGINNING);
    for (const command of options.opening) {
      writer.append(seqOf(engine.seq + 1), command);
      mustOpen(command, engine.apply(command));
    }
    writer.chain(engine.seq, engine.nowUs, engine.chainHash());
    const segments = openSegments(folder, options, config, 0);
    for (let group = writer.takeGroup(); group !== null; group = writer.takeGroup()) {
      await segments.write(group);
    }
    return new DurableExchange(folder, options, segments, {
      engine,
      position: { seq: engine.seq, timeUs: engine.nowUs },
      orderIds: [],
      recovery: {
        isNew: true,
        snapshotSeq: 0,
        replayed: 0,
        passedOver: [],
        cutBytes,
        stateHash: engine.stateHash(),
      },
    });
  }

  get engine(): Exchange {
    return this.current;
  }

  /** Reason for which writes are stopped; null while they are accepted. */
  get failure(): Error | null {
    return this.stopped;
  }

  get waiting(): number {
    return this.writing.waiting + this.upcoming.waiting;
  }

  get path(): string {
    return this.folder.path;
  }

  get journalBytes(): number {
    return this.segments.bytes;
  }

  /** Last durable command. */
  get durableSeq(): number {
    return this.durableAt.seq;
  }

  onEvent(sink: EventSink): void {
    this.sinks.push(sink);
  }

  /** Called with the exchange that replaces this one after a failure. */
  onReset(listener: (engine: Exchange) => void): void {
    this.resets.push(listener);
  }

  /** Only this server records digests. */
  onOrderIds(): void {
    // No listener is ever called.
  }

  /** Throws `StoreStopped`. */
  submit(command: Command): Outcome {
    if (this.stopped !== null) throw new StoreStopped(this.stopped.message);
    this.writer.append(seqOf(this.current.seq + 1), command);
    try {
      return this.current.apply(command, this.sinks.length > 0 ? this.emit : undefined);
    } catch (error) {
      this.fault = error as Error;
      this.stopped = this.fault;
      throw error;
    } finally {
      this.flush();
    }
  }

  recordOrderIds(first: OrderId, digests: readonly string[]): void {
    this.writer.orderIds(this.current.seq, this.current.nowUs, first, digests);
  }

  /** Resolves once all applied commands are durable; null if they are, or if relaxed. */
  durable(): Promise<void> | null {
    const { seq } = this.current;
    if (seq <= this.durableAt.seq || this.options.durability === 'relaxed') return null;
    return this.settledAt(seq);
  }

  committed(): Promise<void> | null {
    return this.durable();
  }

  private settledAt(seq: number): Promise<void> {
    // During a rebuild, in-memory state is not durable and will be discarded.
    if (this.stopped !== null) return Promise.reject(new StoreStopped(this.stopped.message));
    const sync = seq <= this.writingSeq ? this.writing : this.upcoming;
    sync.waiting += 1;
    return sync.done;
  }

  /** Waits until everything is on disk, whatever the durability option. */
  private async settled(): Promise<void> {
    while (this.flushing !== null) await this.flushing;
    if (this.stopped !== null) throw this.stopped;
  }

  private flush(): void {
    this.flushing ??= this.flushAll();
  }

  private async flushAll(): Promise<void> {
    // One event-loop turn collects the commands that arrive together.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    try {
      while (this.fault !== null || this.durableAt.seq < this.current.seq) await this.writeGroup();
    } catch (error) {
      await this.stop(error);
    }
    this.flushing = null;
    this.idleTimer.refresh();
    const { snapshotEvery } = this.options;
    const { seq } = this.current;
    if (snapshotEvery > 0 && seq - this.snapshotAskedSeq >= snapshotEvery && !this.isSnapshotting) {
      this.snapshot().catch(() => undefined);
    }
  }

  /** After a pause, a chain hash and later frames prove that the frames before were complete. */
  private onIdle(): void {
    const { seq } = this.current;
    if (this.flushing !== null || this.stopped !== null || this.chainedSeq === seq) return;
    this.flushing = this.writeGroup(true)
      .catch((error: unknown) => this.stop(error))
      .then(() => {
        this.flushing = null;
        if (this.durableAt.seq < this.current.seq) this.flush();
      });
  }

  private async writeGroup(withChain = false): Promise<void> {
    if (this.fault !== null) {
      const { fault } = this;
      this.fault = null;
      throw fault;
    }
    const { seq, nowUs } = this.current;
    if (withChain || seq - this.chainedSeq >= CHAIN_EVERY) {
      this.writer.chain(seq, nowUs, this.current.chainHash());
      this.chainedSeq = seq;
    }
    const started = performance.now();
    this.writing = this.upcoming;
    this.writingSeq = seq;
    this.upcoming = new Sync();
    // Several groups only if one would be too large.
    for (let group = this.writer.takeGroup(); group !== null; group = this.writer.takeGroup()) {
      await this.segments.write(group);
      this.durableAt = group.last;
      if (group.last.seq >= seq) break;
    }
    this.lastSyncSeconds = (performance.now() - started) / 1000;
    this.writing.waiting = 0;
    this.writing.resolve();
  }

  /** Disk or engine failure: the state on disk counts and writes are rejected. */
  private async stop(error: unknown): Promise<void> {
    const cause = fileError(this.folder.path, error);
    this.stopped = cause;
    for (const sync of [this.writing, this.upcoming]) {
      sync.waiting = 0;
      sync.reject(new StoreStopped(cause.message));
    }
    this.writingSeq = 0;
    this.upcoming = new Sync();
    this.options.onProblem(`writes have stopped: ${cause.message}`, 'writes_stopped');
    try {
      this.current = recover(this.folder.path, { untilSeq: this.durableAt.seq }).engine;
    } catch (unreadable) {
      // Reads are rejected too: in-memory state is not durable.
      this.options.onProblem(
        `reads have stopped: ${(unreadable as Error).message}`,
        'reads_stopped',
      );
      return;
    }
    this.writer = new JournalWriter(this.durableAt);
    this.chainedSeq = this.current.seq;
    for (const reset of this.resets) reset(this.current);
    if (isOutOfSpace(error)) this.retryLater();
    // A failed wipe leaves a torn tail for the next start.
    else await this.segments.repair().catch(() => undefined);
  }

  private retryLater(): void {
    const retry = async (): Promise<void> => {
      try {
        await this.segments.repair();
        this.stopped = null;
        this.options.onProblem('the disk has space again; writes have resumed', 'writes_resumed');
      } catch {
        this.retryLater();
      }
    };
    this.retrying = setTimeout(() => void retry(), RETRY_MS).unref();
  }

  /** Writes a snapshot in the background; resolves with the file name. */
  snapshot(): Promise<string> {
    const one = this.isSnapshotting
      ? this.snapshotting.then(() => this.takeSnapshot())
      : this.takeSnapshot();
    this.snapshotting = one.catch(() => undefined);
    return one;
  }

  private async takeSnapshot(): Promise<string> {
    const { seq } = this.current;
    const chainHash = this.current.chainHash();
    this.snapshotAskedSeq = seq;
    this.isSnapshotting = true;
    const started = performance.now();
    try {
      if (this.durableAt.seq < seq) await this.settledAt(seq);
      // The end writes a snapshot of its own.
      if (this.isClosing) throw new StoreStopped('the exchange closes');
      this.snapshotWorker = startSnapshotWorker({ folder: this.folder.path, seq, chainHash });
      const name = await this.snapshotWorker.done;
      this.snapshots.seq = seq;
      this.snapshots.seconds = (performance.now() - started) / 1000;
      return name;
    } catch (error) {
      if (error instanceof SnapshotMismatch) {
        // A restart would not reproduce the replies already sent.
        this.snapshots.failures += 1;
        this.snapshots.mismatch = true;
        this.stopped = error;
        this.options.onProblem(`writes have stopped: ${error.message}`, 'writes_stopped');
      } else if (!this.isClosing) {
        this.snapshots.failures += 1;
        this.options.onProblem(`no snapshot: ${(error as Error).message}`, 'snapshot_failed');
      }
      throw error;
    } finally {
      this.snapshotWorker = null;
      this.isSnapshotting = false;
    }
  }

  /** Writes pending commands and a snapshot, and releases the folder. */
  async close(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.idleTimer);
    clearTimeout(this.retrying);
    await this.snapshotWorker?.cancel();
    await this.snapshotting;
    await this.settled().catch(() => undefined);
    if (this.stopped === null) await this.writeEnding();
    await this.segments.close();
    await this.folder.unlock();
  }

  /** After the last request the exchange writes its state synchronously. */
  private async writeEnding(): Promise<void> {
    const { seq, nowUs } = this.current;
    const isSnapshotDue = this.snapshots.seq < seq;
    if (!isSnapshotDue && this.chainedSeq === seq) return;
    if (isSnapshotDue) this.writer.checkpoint(seq, nowUs, this.current.stateHash());
    await this.writeGroup(true);
    if (!isSnapshotDue) return;
    const engine = this.current.snapshot();
    const { path } = this.folder;
    // The journal is whole without it.
    await writeSnapshot(path, { seq, engine, orderIds: [...this.orderIds()] }).catch(
      (error: unknown) => {
        this.options.onProblem(`no snapshot: ${fileError(path, error).message}`, 'snapshot_failed');
      },
    );
  }
}

function openSegments(
  { path }: DataFolder,
  options: DurableOptions,
  config: ExchangeConfig,
  bytes: number,
): SegmentWriter {
  const { segmentBytes = SEGMENT_BYTES, openFile = open } = options;
  return new SegmentWriter({ folder: path, config, bytes: segmentBytes, openFile }, bytes);
}

function recoveryOf({ engine, snapshotSeq, replayed, passedOver, end }: Recovered): Recovery {
  return {
    isNew: false,
    snapshotSeq,
    replayed,
    passedOver,
    cutBytes: end.torn?.bytes ?? 0,
    stateHash: engine.stateHash(),
  };
}
