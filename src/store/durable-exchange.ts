/**
 * An exchange whose journal is on disk before anyone learns what a command did.
 *
 * A command is stamped, appended and applied at once; its answer, and every answer that could show its effect, waits for `durable`, which
 * is when the journal up to it is written and synced. Commands that arrive during a sync share the next one. If the disk
 * fails, nothing that was not synced has been seen: the file is cut back, the exchange is rebuilt from what is on disk, and it only
 * reads from then on (`failure`).
 */
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from '../engine/commands.ts';
import { configHash } from '../engine/config-archive.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/rejections.ts';
import { seq as seqOf, type OrderId } from '../num/units.ts';
import { JournalError, JournalReader, JournalWriter } from '../sim/journal/frames.ts';
import { syncFolder, type DataFolder, type StoredSnapshot } from './data-folder.ts';
import { FileError, fileError } from './file-error.ts';

/** Writes have stopped: the disk does not take them. */
export class StoreStopped extends Error {
  override readonly name = 'StoreStopped';
}

export interface DurableOptions {
  /** What a new exchange begins with; an old one must have been begun with the same. null takes what is there, or the default. */
  readonly config: ExchangeConfig | null;
  readonly fallback: ExchangeConfig;
  /** The first commands of a new exchange: its markets. */
  readonly opening: readonly Command[];
  /** `relaxed` answers before the disk has it: a crash may lose the last moments. */
  readonly durability: 'strict' | 'relaxed';
  /** A snapshot after every so many commands; 0 for none. */
  readonly snapshotEvery: number;
  /** What went wrong without stopping anything, in a line. */
  readonly onProblem: (what: string) => void;
}

/** What was found and done at start. */
export interface Recovery {
  readonly isNew: boolean;
  readonly snapshotSeq: number;
  readonly replayed: number;
  readonly damagedSnapshots: readonly string[];
  /** Bytes of an incomplete last write that were cut off. */
  readonly cutBytes: number;
  readonly stateHash: string;
}

interface Waiter {
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Loaded {
  readonly engine: Exchange;
  readonly length: number;
  readonly recovery: Recovery;
  readonly orderIds: readonly (readonly [number, string])[];
}

export class DurableExchange {
  readonly recovery: Recovery;
  /** Digests that were recorded, for who maps them. */
  readonly recordedIds: readonly (readonly [number, string])[];
  private current: Exchange;
  private readonly folder: DataFolder;
  private readonly options: DurableOptions;
  private readonly file: FileHandle;
  private writer = new JournalWriter(null);
  /** Bytes on disk, and bytes on disk or on their way there. */
  private length: number;
  private drained: number;
  private durableSeq: number;
  private snapshotSeq: number;
  private waiters: Waiter[] = [];
  private flushing: Promise<void> | null = null;
  private stopped: Error | null = null;
  private readonly sinks: EventSink[] = [];
  private readonly resets: ((engine: Exchange) => void)[] = [];
  private readonly emit = (event: EngineEvent): void => {
    for (const sink of this.sinks) sink(event);
  };
  /** Seconds that the last sync took. */
  lastSyncSeconds = 0;
  /** Orders' digests for snapshots; set by who maps them. */
  orderIds: () => Iterable<readonly [number, string]> = () => [];

  private constructor(
    folder: DataFolder,
    options: DurableOptions,
    file: FileHandle,
    found: Loaded,
  ) {
    this.folder = folder;
    this.options = options;
    this.file = file;
    this.current = found.engine;
    this.length = found.length;
    this.drained = found.length;
    this.durableSeq = found.engine.seq;
    this.snapshotSeq = found.recovery.snapshotSeq;
    this.recovery = found.recovery;
    this.recordedIds = found.orderIds;
  }

  /** Opens or begins. Throws `FileError` or `JournalError` when what is there cannot be trusted. */
  static async open(folder: DataFolder, options: DurableOptions): Promise<DurableExchange> {
    const { journalPath } = folder;
    const existing = await readIfThere(journalPath);
    if (existing === null || existing.length === 0) {
      const file = await open(journalPath, 'w+');
      const exchange = await DurableExchange.begin(folder, options, file);
      await syncFolder(dirname(journalPath));
      return exchange;
    }
    const found = await load(folder, existing, options);
    const file = await open(journalPath, 'r+');
    if (found.recovery.cutBytes > 0) {
      await file.truncate(found.length);
      await file.sync();
    }
    return new DurableExchange(folder, options, file, found);
  }

  private static async begin(
    folder: DataFolder,
    options: DurableOptions,
    file: FileHandle,
  ): Promise<DurableExchange> {
    const config = options.config ?? options.fallback;
    const engine = new Exchange(config);
    const recovery = {
      isNew: true,
      snapshotSeq: 0,
      replayed: 0,
      damagedSnapshots: [],
      cutBytes: 0,
      stateHash: engine.stateHash(),
    };
    const exchange = new DurableExchange(folder, options, file, {
      engine,
      length: 0,
      recovery,
      orderIds: [],
    });
    exchange.writer = new JournalWriter(config);
    for (const command of options.opening) exchange.submit(command);
    // The header reaches the disk with the opening, or by itself.
    if (options.opening.length === 0) await exchange.writeGroup();
    await exchange.settled();
    return exchange;
  }

  get engine(): Exchange {
    return this.current;
  }

  /** Why writes have stopped; null while they go on. */
  get failure(): Error | null {
    return this.stopped;
  }

  get waiting(): number {
    return this.waiters.length;
  }

  get journalPath(): string {
    return this.folder.journalPath;
  }

  get journalBytes(): number {
    return this.length;
  }

  onEvent(sink: EventSink): void {
    this.sinks.push(sink);
  }

  /** Called with the exchange that replaces this one after a disk failure. */
  onReset(listener: (engine: Exchange) => void): void {
    this.resets.push(listener);
  }

  /** Throws `StoreStopped`. */
  submit(command: Command): Outcome {
    if (this.stopped !== null) throw new StoreStopped(this.stopped.message);
    this.writer.append(seqOf(this.current.seq + 1), command);
    const outcome = this.current.apply(command, this.sinks.length > 0 ? this.emit : undefined);
    this.flush();
    return outcome;
  }

  recordOrderIds(first: OrderId, digests: readonly string[]): void {
    this.writer.orderIds(this.current.seq, this.current.nowUs, first, digests);
  }

  /** Resolves when everything applied so far is on disk; at once when it is, and when durability is relaxed. */
  durable(): Promise<void> | null {
    const { seq } = this.current;
    if (seq <= this.durableSeq || this.options.durability === 'relaxed') return null;
    return this.settledAt(seq);
  }

  private settledAt(seq: number): Promise<void> {
    // While the exchange is rebuilt, what it still shows is not on disk and never will be.
    if (this.stopped !== null) return Promise.reject(new StoreStopped(this.stopped.message));
    return new Promise((resolve, reject) => {
      this.waiters.push({ seq, resolve, reject });
    });
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
      while (this.durableSeq < this.current.seq) await this.writeGroup();
    } catch (error) {
      await this.stop(fileError(this.folder.journalPath, error));
    }
    this.flushing = null;
    const { snapshotEvery } = this.options;
    if (snapshotEvery > 0 && this.current.seq - this.snapshotSeq >= snapshotEvery) {
      await this.snapshot().catch((error: unknown) => {
        this.options.onProblem(`no snapshot: ${(error as Error).message}`);
      });
    }
  }

  private async writeGroup(): Promise<void> {
    const { seq } = this.current;
    const bytes = this.writer.drain();
    this.drained += bytes.length;
    const started = performance.now();
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await this.file.write(
        bytes,
        at,
        bytes.length - at,
        this.length + at,
      );
      at += bytesWritten;
    }
    await this.file.datasync();
    this.lastSyncSeconds = (performance.now() - started) / 1000;
    this.length += bytes.length;
    this.durableSeq = seq;
    const waiting = this.waiters;
    this.waiters = waiting.filter((waiter) => waiter.seq > seq);
    for (const waiter of waiting) if (waiter.seq <= seq) waiter.resolve();
  }

  /** The disk failed: what it has counts, and nothing more is taken. */
  private async stop(cause: Error): Promise<void> {
    this.stopped = cause;
    const waiting = this.waiters;
    this.waiters = [];
    for (const waiter of waiting) waiter.reject(new StoreStopped(cause.message));
    // What it cannot cut off now is a torn tail, which the next start cuts off.
    await this.file.truncate(this.length).catch(() => undefined);
    const bytes = await readFile(this.folder.journalPath);
    const found = await load(this.folder, bytes.subarray(0, this.length), this.options);
    this.current = found.engine;
    this.durableSeq = found.engine.seq;
    this.writer = new JournalWriter(null);
    this.drained = this.length;
    for (const reset of this.resets) reset(this.current);
  }

  /** Shortens the next recovery. Answers the file's name. */
  async snapshot(): Promise<string> {
    const { seq, nowUs } = this.current;
    this.snapshotSeq = seq;
    const engine = this.current.snapshot();
    const orderIds = [...this.orderIds()];
    const offset = this.drained + this.writer.size;
    if (this.durableSeq < seq) await this.settledAt(seq);
    return this.folder.writeSnapshot({
      position: { offset, seq, timeUs: nowUs },
      engine,
      orderIds,
    });
  }

  /** Writes what is left, a snapshot, and lets go of the folder. */
  async close(): Promise<void> {
    await this.settled().catch(() => undefined);
    if (this.stopped === null && this.snapshotSeq < this.current.seq) await this.snapshot();
    await this.file.close();
    await this.folder.unlock();
  }
}

async function readIfThere(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fileError(path, error);
  }
}

/** The exchange at the end of the journal: from the newest whole snapshot that fits it, else from the beginning. */
async function load(
  folder: DataFolder,
  bytes: Uint8Array,
  options: DurableOptions,
): Promise<Loaded> {
  const { header } = new JournalReader(bytes);
  // It began when it began, whatever the clock says now.
  const { genesisTimeUs } = header.config;
  const asked = options.config === null ? header.config : { ...options.config, genesisTimeUs };
  if (configHash(asked) !== header.configHash) {
    throw new FileError(
      `${folder.journalPath}: was begun with another configuration; start without one, or with another folder`,
    );
  }
  const { whole, damaged } = await folder.snapshots();
  const problems = [...damaged];
  for (const snapshot of [...whole, null]) {
    try {
      return loadFrom(bytes, snapshot, problems);
    } catch (error) {
      if (snapshot === null || !(error instanceof JournalError)) throw error;
      problems.push(`snapshot-${String(snapshot.position.seq)}: ${error.message}`);
    }
  }
  throw new FileError(`${folder.journalPath}: cannot be read`);
}

function loadFrom(
  bytes: Uint8Array,
  snapshot: StoredSnapshot | null,
  damagedSnapshots: readonly string[],
): Loaded {
  const reader = new JournalReader(bytes, snapshot?.position ?? null);
  const engine =
    snapshot === null ? new Exchange(reader.header.config) : Exchange.restore(snapshot.engine);
  const orderIds: (readonly [number, string])[] = [...(snapshot?.orderIds ?? [])];
  let replayed = 0;
  for (;;) {
    const frame = reader.next();
    if (frame === null) break;
    if (frame.kind === 'command') {
      engine.apply(frame.command);
      replayed += 1;
    } else if (frame.kind === 'orderIds') {
      frame.digests.forEach((digest, i) => orderIds.push([frame.firstId + i, digest]));
    } else if (frame.kind === 'checkpoint' && frame.stateHash !== engine.stateHash()) {
      throw new JournalError(`journal: state at command ${String(frame.seq)} has another hash`);
    }
  }
  return {
    engine,
    length: reader.offset,
    orderIds,
    recovery: {
      isNew: false,
      snapshotSeq: snapshot?.position.seq ?? 0,
      replayed,
      damagedSnapshots,
      cutBytes: bytes.length - reader.offset,
      stateHash: engine.stateHash(),
    },
  };
}
