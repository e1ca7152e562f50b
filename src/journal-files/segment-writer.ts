/**
 * Writes groups to the segments of a journal; each is durable when `write` resolves.
 *
 * A segment is preallocated with zeros before it is renamed to its final name. Writing a group then
 * changes no file length and allocates no blocks: a sync is one data write. The header and first
 * group are durable before the rename, so a named segment starts complete. The next segment is
 * preallocated in steps while this one fills, so that syncs of groups do not queue behind it. Where
 * the disk lacks the space for it, a smaller one is tried.
 */
import { constants } from 'node:fs';
import { access, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeConfig } from '../engine/config.ts';
import type { JournalGroup } from '../journal/format/frames.ts';
import { headerBytes, SEMANTICS_VERSION } from '../journal/format/header.ts';
import { FileError, isOutOfSpace } from '../platform/file-error.ts';
import type { JournalEnd } from './recover.ts';
import { segmentPath } from './segments.ts';
import { syncFolder } from './snapshots.ts';

const MIB = 1024 * 1024;
/** Size of the first segment; each next one is four times as large, up to the maximum. */
export const SEGMENT_BYTES: SegmentBytes = { first: MIB, max: 64 * MIB };
const GROWTH = 4;
const PREALLOCATION_CHUNK = MIB;
const ZEROS = new Uint8Array(PREALLOCATION_CHUNK);
/** Interval between checks that the segment in use still has a name. */
const NAME_CHECK_MS = 1000;
const PREALLOCATED_NAME = 'next-segment.partial';

export interface SegmentBytes {
  readonly first: number;
  readonly max: number;
}

/** Opens files; tests inject disk failures. */
export type OpenFile = (path: string, flags: string | number) => Promise<FileHandle>;

/** Synchronous writes (O_DSYNC) in one call; 0 where unavailable, then a sync follows. */
const DSYNC = process.platform === 'linux' ? constants.O_DSYNC : 0;

interface Preallocated {
  readonly file: FileHandle;
  readonly size: number;
}

interface Current extends Preallocated {
  readonly afterSeq: number;
}

export interface SegmentWriterOptions {
  readonly folder: string;
  readonly config: ExchangeConfig;
  readonly bytes: SegmentBytes;
  readonly openFile: OpenFile;
}

export class SegmentWriter {
  private readonly options: SegmentWriterOptions;
  private current: Current | null = null;
  /** Offset of the next group. */
  private at = 0;
  /** Commands by the present rules need a segment of their own, which earlier releases refuse. */
  private isOfEarlierRules = false;
  /** Bytes from here on are zeros, unless a write failed. */
  private dirtyTo = 0;
  private next: Promise<Preallocated> | null = null;
  /** False after a failed preallocation, until space is needed. */
  private mayPreallocate = true;
  private nameCheckedMs = -Infinity;
  /** Error after which the content on disk is unknown. */
  private durabilityUnknown: Error | null = null;
  /** Bytes of all segments with data. */
  bytes: number;

  constructor(options: SegmentWriterOptions, bytes: number) {
    this.options = options;
    this.bytes = bytes;
  }

  /** Continues a journal at its end; zeroes the torn tail of a crash. */
  async resume({ segment, offset, size, torn, ...end }: JournalEnd): Promise<void> {
    const file = await this.openForGroups(segment.path);
    if (segment.plain) {
      // A plain journal has no preallocated space: the first group starts a segment.
      if (torn !== null) {
        await file.truncate(offset);
        await file.sync();
      }
      await file.close();
      return;
    }
    this.current = { file, size, afterSeq: segment.afterSeq };
    this.at = offset;
    this.dirtyTo = torn === null ? offset : size;
    this.isOfEarlierRules = end.semanticsVersion !== SEMANTICS_VERSION;
    await this.wipe();
  }

  /** Resolves once the group is durable. After a failure, writes require `repair`. */
  async write(group: JournalGroup): Promise<void> {
    const { bytes, after } = group;
    const { current } = this;
    // The first command names a segment, so a segment without commands is never closed.
    const isFull =
      current === null || this.isOfEarlierRules || this.at + bytes.length > current.size;
    if (current === null || (isFull && after.seq > current.afterSeq)) {
      await this.begin(group);
      return;
    }
    await this.mustHaveName(current);
    this.dirtyTo = this.at + bytes.length;
    await writeDurably(current.file, bytes, this.at);
    this.at = this.dirtyTo;
    this.bytes += bytes.length;
    if (this.at > current.size / 2) this.preallocateNext();
  }

  /** Writes to a deleted file succeed, and the writes end with this process. */
  private async mustHaveName({ file, afterSeq }: Current): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.nameCheckedMs < NAME_CHECK_MS) return;
    this.nameCheckedMs = nowMs;
    if ((await file.stat()).nlink > 0) return;
    const path = segmentPath(this.options.folder, afterSeq);
    this.durabilityUnknown = new FileError(`${path}: was deleted while the server ran`);
    throw this.durabilityUnknown;
  }

  /**
   * Zeroes the tail of a failed write. Throws if the disk still fails or is in an unknown state.
   */
  async repair(): Promise<void> {
    if (this.durabilityUnknown !== null) throw this.durabilityUnknown;
    await this.wipe();
    this.mayPreallocate = true;
    this.preallocateNext();
    await this.next;
  }

  async close(): Promise<void> {
    const space = await this.next?.catch(() => null);
    await space?.file.close();
    await rm(join(this.options.folder, PREALLOCATED_NAME), { force: true });
    await this.current?.file.close();
  }

  private async begin({ bytes, after }: JournalGroup): Promise<void> {
    const { folder, config } = this.options;
    const first = Buffer.concat([headerBytes(config, after), bytes]);
    const space = await this.waitForSpace(first.length);
    const file = await this.openForGroups(join(folder, PREALLOCATED_NAME));
    try {
      await writeDurably(file, first, 0);
      await this.name(segmentPath(folder, after.seq));
    } catch (error) {
      await file.close();
      throw error;
    } finally {
      await space.file.close();
    }
    await this.current?.file.close();
    this.current = { file, size: space.size, afterSeq: after.seq };
    this.isOfEarlierRules = false;
    this.at = first.length;
    this.dirtyTo = this.at;
    this.bytes += first.length;
    this.mayPreallocate = true;
  }

  private openForGroups(path: string): Promise<FileHandle> {
    return this.options.openFile(path, constants.O_RDWR | DSYNC);
  }

  private async name(path: string): Promise<void> {
    const { folder } = this.options;
    if (await exists(path)) throw new FileError(`${path}: already exists`);
    await rename(join(folder, PREALLOCATED_NAME), path);
    try {
      await syncFolder(folder);
    } catch (error) {
      this.durabilityUnknown = error as Error;
      throw error;
    }
  }

  /** The preallocated segment, or a new one if it is missing or too small. */
  private async waitForSpace(length: number): Promise<Preallocated> {
    const ready = await this.next?.catch(() => null);
    this.next = null;
    if (ready !== undefined && ready !== null) {
      if (ready.size >= length) return ready;
      await ready.file.close();
    }
    return this.preallocate(this.nextSize(), length);
  }

  private nextSize(): number {
    const { first, max } = this.options.bytes;
    return this.current === null
      ? first
      : Math.min(max, Math.max(first, this.current.size * GROWTH));
  }

  private preallocateNext(): void {
    if (this.next !== null || !this.mayPreallocate) return;
    this.next = this.preallocate(this.nextSize(), 0);
    this.next.catch(() => {
      this.next = null;
      this.mayPreallocate = false;
    });
  }

  /** A segment of `size` bytes, or of fewer on a full disk; of at least `length`. */
  private async preallocate(size: number, length: number): Promise<Preallocated> {
    const smallest = Math.max(this.options.bytes.first, length);
    for (let bytes = Math.max(size, length); ; bytes = Math.floor(bytes / GROWTH)) {
      try {
        return await this.zeros(Math.max(bytes, smallest));
      } catch (error) {
        if (bytes <= smallest || !isOutOfSpace(error)) throw error;
      }
    }
  }

  /** If it fails, the disk has its space again. */
  private async zeros(size: number): Promise<Preallocated> {
    const path = join(this.options.folder, PREALLOCATED_NAME);
    const file = await this.options.openFile(path, 'w+');
    try {
      for (let at = 0; at < size; at += PREALLOCATION_CHUNK) {
        const started = performance.now();
        await writeAll(file, ZEROS.subarray(0, Math.min(PREALLOCATION_CHUNK, size - at)), at);
        await file.datasync();
        // Leaves half of the disk's time to other writes.
        if (at > 0) await sleep(performance.now() - started);
      }
      return { file, size };
    } catch (error) {
      await file.close();
      await rm(path, { force: true });
      throw error;
    }
  }

  /** Zeroes bytes that may not belong to the journal. */
  private async wipe(): Promise<void> {
    const { current } = this;
    if (current === null || this.dirtyTo <= this.at) return;
    for (let at = this.at; at < this.dirtyTo; at += PREALLOCATION_CHUNK) {
      const length = Math.min(PREALLOCATION_CHUNK, this.dirtyTo - at);
      await writeDurably(current.file, ZEROS.subarray(0, length), at);
    }
    this.dirtyTo = this.at;
  }
}

async function writeDurably(file: FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  await writeAll(file, bytes, from);
  if (DSYNC === 0) await file.datasync();
}

async function writeAll(file: FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, from + at);
    at += bytesWritten;
  }
}

function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
