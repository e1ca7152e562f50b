/**
 * An exchange whose journal is on disk before anyone learns what a command did.
 *
 * A command is stamped, appended and applied at once; its answer, and every answer that could show its effect, waits for `durable`, which
 * is when the journal up to it is written and synced. Commands that arrive during a sync share the next one. If the disk
 * fails, nothing that was not synced has been seen: the exchange is rebuilt from what is on disk, and it only reads (`failure`), until a
 * disk that was full has room again. Any other failure lasts until a restart, which looks at what the disk has.
 */
import { open } from 'node:fs/promises';
import type { Command } from '../engine/commands.ts';
import { configHash } from '../engine/snapshot/config-archive.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/refusals.ts';
import { seq as seqOf, type OrderId } from '../num/units.ts';
import { JournalWriter } from '../journal/format/frames.ts';
import { BEGINNING, type JournalPosition } from '../journal/format/header.ts';
import type { DataFolder } from './data-folder.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { recover, type Recovered } from './recover.ts';
import {
  SEGMENT_BYTES,
  SegmentWriter,
  type OpenFile,
  type SegmentBytes,
} from './segment-writer.ts';
import { SnapshotMismatch, startSnapshotWorker, type WorkerSnapshot } from './snapshot-worker-client.ts';
import { writeSnapshot, type OrderDigest } from './snapshots.ts';
import { discardEmptyJournal } from './discard-empty-journal.ts';

/** A chain hash is written after so many commands, and when writes rest for a moment. */
const CHAIN_EVERY = 1000;
const REST_MS = 250;
/** A full disk is looked at again after this. */
const RETRY_MS = 1000;

/** Writes have stopped: the disk does not take them. */
export class StoreStopped extends Error {
  override readonly name = 'StoreStopped';
}

export interface DurableOptions {
  /** What a new exchange begins with; an old one must have been begun with the same. null takes what is there, or the default. */
  readonly config: ExchangeConfig | null;
  readonly fallback: ExchangeConfig;
  /** Draws the sampling seed of a new exchange; the seed of `config` then counts for nothing. */
  readonly drawSamplingSeed?: () => string;
  /** The first commands of a new exchange: its markets. */
  readonly opening: readonly Command[];
  /** `relaxed` answers before the disk has it: a crash may lose the last moments. */
  readonly durability: 'strict' | 'relaxed';
  /** A snapshot after every so many commands; 0 for none. */
  readonly snapshotEvery: number;
  /** What went wrong, or right again, in a line. */
  readonly onProblem: (what: string) => void;
  readonly segmentBytes?: SegmentBytes;
  readonly openFile?: OpenFile;
}

/** What was found and done at start. */
export interface Recovery {
  readonly isNew: boolean;
  readonly snapshotSeq: number;
  readonly replayed: number;
  /** Snapshots that were not used, and why. */
  readonly passedOver: readonly string[];
  /** Bytes of an incomplete last write that were wiped. */
  readonly cutBytes: number;
  readonly stateHash: string;
}

/** How snapshots fare. */
export interface SnapshotHealth {
  /** The last command of the last one. */
  seq: number;
  seconds: number;
  failures: number;
  mismatch: boolean;
}

/** Who waits for the same sync waits for the same promise. */
class Sync {
  resolve: () => void = () => undefined;
  reject: (error: Error) => void = () => undefined;
  waiting = 0;
  readonly done = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // It may fail when nobody waits.
    this.done.catch(() => undefined);
  }
}

interface Begun {
  readonly engine: Exchange;
  readonly position: JournalPosition;
  readonly recovery: Recovery;
  readonly orderIds: readonly OrderDigest[];
}

export class DurableExchange {
  readonly recovery: Recovery;
  readonly snapshots: SnapshotHealth;
  /** Digests that were recorded, for who maps them. */
  readonly recordedIds: readonly OrderDigest[];
  private current: Exchange;
  private readonly folder: DataFolder;
  private readonly options: DurableOptions;
  private readonly segments: SegmentWriter;
  private writer: JournalWriter;
  private durableAt: JournalPosition;
  /** Commands with the last chain hash in the journal. */
  private chainedSeq: number;
  private snapshotAskedSeq: number;
  private snapshotWorker: WorkerSnapshot | null = null;
  private snapshotting: Promise<unknown> = Promise.resolve();
  private isSnapshotting = false;
  /** The sync of the group that is being written, up to this command, and the one after it. */
  private writing = new Sync();
  private writingSeq = 0;
  private upcoming = new Sync();
  private flushing: Promise<void> | null = null;
  private stopped: Error | null = null;
  /** What the engine failed with: what it did since the last sync is not kept. */
  private fault: Error | null = null;
  private readonly resting: NodeJS.Timeout;
  private retrying: NodeJS.Timeout | undefined;
  private readonly sinks: EventSink[] = [];
  private readonly resets: ((engine: Exchange) => void)[] = [];
  private readonly emit = (event: EngineEvent): void => {
    for (const sink of this.sinks) sink(event);
  };
  /** Seconds that the last sync took. */
  lastSyncSeconds = 0;
  /** Orders' digests for snapshots; set by who maps them. */
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
    this.resting = setTimeout(() => {
      this.rest();
    }, REST_MS).unref();
  }

  /** Opens or begins. Throws `FileError` or `JournalError` when what is there cannot be trusted. */
  static async open(folder: DataFolder, options: DurableOptions): Promise<DurableExchange> {
    const { path } = folder;
    const { isEmpty, cutBytes } = await discardEmptyJournal(path);
    try {
      if (isEmpty) return await DurableExchange.begin(folder, options, cutBytes);
      const found = recover(path);
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
      throw fileError(path, error);
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
      engine.apply(command);
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

  /** Why writes have stopped; null while they go on. */
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

  /** The last command that is on disk. */
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

  /** Resolves when everything applied so far is on disk; null when it is, and when durability is relaxed. */
  durable(): Promise<void> | null {
    const { seq } = this.current;
    if (seq <= this.durableAt.seq || this.options.durability === 'relaxed') return null;
    return this.settledAt(seq);
  }

  private settledAt(seq: number): Promise<void> {
    // While the exchange is rebuilt, what it still shows is not on disk and never will be.
    if (this.stopped !== null) return Promise.reject(new StoreStopped(this.stopped.message));
    const sync = seq <= this.writingSeq ? this.writing : this.upcoming;
    sync.waiting += 1;
    return sync.done;
  }

  /** Everything on disk, whatever the durability. */
  private async settled(): Promise<void> {
    while (this.flushing !== null) await this.flushing;
    if (this.stopped !== null) throw this.stopped;
  }

  private flush(): void {
    this.flushing ??= this.flushAll();
  }

  private async flushAll(): Promise<void> {
    // One turn of the loop, so that what came together is written together.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    try {
      while (this.fault !== null || this.durableAt.seq < this.current.seq) await this.writeGroup();
    } catch (error) {
      await this.stop(error);
    }
    this.flushing = null;
    this.resting.refresh();
    const { snapshotEvery } = this.options;
    const { seq } = this.current;
    if (snapshotEvery > 0 && seq - this.snapshotAskedSeq >= snapshotEvery && !this.isSnapshotting) {
      this.snapshot().catch(() => undefined);
    }
  }

  /** What follows a quiet moment's chain hash proves that what was before was whole. */
  private rest(): void {
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
    // More than one only when it is too much for one.
    for (let group = this.writer.takeGroup(); group !== null; group = this.writer.takeGroup()) {
      await this.segments.write(group);
      this.durableAt = group.last;
      if (group.last.seq >= seq) break;
    }
    this.lastSyncSeconds = (performance.now() - started) / 1000;
    this.writing.waiting = 0;
    this.writing.resolve();
  }

  /** The disk or the engine failed: what is on disk counts, and nothing more is taken. */
  private async stop(error: unknown): Promise<void> {
    const cause = fileError(this.folder.path, error);
    this.stopped = cause;
    for (const sync of [this.writing, this.upcoming]) {
      sync.waiting = 0;
      sync.reject(new StoreStopped(cause.message));
    }
    this.writingSeq = 0;
    this.upcoming = new Sync();
    this.options.onProblem(`writes have stopped: ${cause.message}`);
    try {
      this.current = recover(this.folder.path, { untilSeq: this.durableAt.seq }).engine;
    } catch (unreadable) {
      // Reads are refused, too: what is in memory shows what is not on disk.
      this.options.onProblem(`reads have stopped: ${(unreadable as Error).message}`);
      return;
    }
    this.writer = new JournalWriter(this.durableAt);
    this.chainedSeq = this.current.seq;
    for (const reset of this.resets) reset(this.current);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') this.retryLater();
    // What cannot be wiped now is a torn tail for the next start.
    else await this.segments.repair().catch(() => undefined);
  }

  private retryLater(): void {
    const retry = async (): Promise<void> => {
      try {
        await this.segments.repair();
        this.stopped = null;
        this.options.onProblem('the disk has room again, writes go on');
      } catch {
        this.retryLater();
      }
    };
    this.retrying = setTimeout(() => void retry(), RETRY_MS).unref();
  }

  /** Shortens the next recovery, while the exchange goes on. Answers the file's name. */
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
      this.snapshotWorker = startSnapshotWorker({ folder: this.folder.path, seq, chainHash });
      const name = await this.snapshotWorker.done;
      this.snapshots.seq = seq;
      this.snapshots.seconds = (performance.now() - started) / 1000;
      return name;
    } catch (error) {
      this.snapshots.failures += 1;
      if (error instanceof SnapshotMismatch) {
        // What was answered cannot be answered for after a restart.
        this.snapshots.mismatch = true;
        this.stopped = error;
        this.options.onProblem(`writes have stopped: ${error.message}`);
      } else this.options.onProblem(`no snapshot: ${(error as Error).message}`);
      throw error;
    } finally {
      this.snapshotWorker = null;
      this.isSnapshotting = false;
    }
  }

  /** Writes what is left, a snapshot, and lets go of the folder. */
  async close(): Promise<void> {
    clearTimeout(this.resting);
    clearTimeout(this.retrying);
    await this.snapshotWorker?.cancel();
    await this.snapshotting;
    await this.settled().catch(() => undefined);
    if (this.stopped === null) await this.writeEnding();
    await this.segments.close();
    await this.folder.unlock();
  }

  /** Nobody is served any more: the exchange writes its state itself. */
  private async writeEnding(): Promise<void> {
    const { seq, nowUs } = this.current;
    const isSnapshotDue = this.snapshots.seq < seq;
    if (!isSnapshotDue && this.chainedSeq === seq) return;
    if (isSnapshotDue) this.writer.checkpoint(seq, nowUs, this.current.stateHash());
    await this.writeGroup(true);
    if (!isSnapshotDue) return;
    const engine = this.current.snapshot();
    await writeSnapshot(this.folder.path, { seq, engine, orderIds: [...this.orderIds()] });
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

/** It began when it began, whatever the clock says now. */
function checkConfig(
  path: string,
  found: ExchangeConfig,
  { config: asked, drawSamplingSeed }: DurableOptions,
): void {
  if (asked === null) return;
  const { genesisTimeUs } = found;
  const samplingSeed = drawSamplingSeed === undefined ? asked.samplingSeed : found.samplingSeed;
  if (configHash({ ...asked, genesisTimeUs, samplingSeed }) === configHash(found)) return;
  throw new FileError(
    `${path}: was begun with another configuration; start without one, or with another folder`,
  );
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
