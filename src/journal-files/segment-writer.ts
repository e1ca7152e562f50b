/**
 * Writes groups to the segments of a journal, each on disk when `write` resolves.
 *
 * A segment's whole room is laid out with zeros before it gets its name, so that writing a group changes no length and allocates nothing:
 * a sync is one write of data. Its header and its first group are on disk before the name is, so a named segment begins whole. The next
 * one is laid out while this one fills, in steps, so that the syncs of groups do not queue behind it.
 */
import { constants } from 'node:fs';
import { access, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeConfig } from '../engine/config.ts';
import type { JournalGroup } from '../journal/format/frames.ts';
import { headerBytes } from '../journal/format/header.ts';
import { FileError } from '../platform/file-error.ts';
import type { JournalEnd } from './recover.ts';
import { segmentPath } from './segments.ts';
import { syncFolder } from './snapshots.ts';

const MIB = 1024 * 1024;
/** Room of the first segment; each next one has four times the room of the one before, up to the most. */
export const SEGMENT_BYTES: SegmentBytes = { first: MIB, most: 64 * MIB };
const GROWTH = 4;
const LAID_OUT_AT_ONCE = MIB;
const ZEROS = new Uint8Array(LAID_OUT_AT_ONCE);
const LAYING_OUT = 'next-segment.partial';

export interface SegmentBytes {
  readonly first: number;
  readonly most: number;
}

/** The disk, for who wants it to fail. */
export type OpenFile = (path: string, flags: string | number) => Promise<FileHandle>;

/** A write that is on disk when it is done, in one call; 0 where that is not to be had, and a sync follows. */
const DSYNC = process.platform === 'linux' ? constants.O_DSYNC : 0;

interface Room {
  readonly file: FileHandle;
  readonly size: number;
}

interface Current extends Room {
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
  /** Where the next group goes. */
  private at = 0;
  /** Beyond it there are zeros, unless a write failed. */
  private dirtyTo = 0;
  private next: Promise<Room> | null = null;
  /** Not again after it failed, until there is need. */
  private mayLayOut = true;
  /** Why it is not known what the disk has. */
  private durabilityUnknown: Error | null = null;
  /** Bytes of all segments that hold something. */
  bytes: number;

  constructor(options: SegmentWriterOptions, bytes: number) {
    this.options = options;
    this.bytes = bytes;
  }

  /** Goes on where a journal ends; what a crash left behind it is wiped. */
  async resume({ segment, offset, size, torn }: JournalEnd): Promise<void> {
    const file = await this.openForGroups(segment.path);
    if (segment.plain) {
      // Others wrote it, without room to go on in: the first group begins a segment.
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
    await this.wipe();
  }

  /** Resolves when the group is on disk. After a failure nothing is written until `repair`. */
  async write(group: JournalGroup): Promise<void> {
    const { bytes, after } = group;
    const { current } = this;
    // A segment is named by its first command, so that one without any is not left.
    const isFull = current === null || this.at + bytes.length > current.size;
    if (current === null || (isFull && after.seq > current.afterSeq)) {
      await this.begin(group);
      return;
    }
    this.dirtyTo = this.at + bytes.length;
    await writeDurably(current.file, bytes, this.at);
    this.at = this.dirtyTo;
    this.bytes += bytes.length;
    if (this.at > current.size / 2) this.layOutNext();
  }

  /** Puts the end right after a failed write. Throws while the disk still fails, and when what it has is not known. */
  async repair(): Promise<void> {
    if (this.durabilityUnknown !== null) throw this.durabilityUnknown;
    await this.wipe();
    this.mayLayOut = true;
    this.layOutNext();
    await this.next;
  }

  async close(): Promise<void> {
    const room = await this.next?.catch(() => null);
    await room?.file.close();
    await rm(join(this.options.folder, LAYING_OUT), { force: true });
    await this.current?.file.close();
  }

  private async begin({ bytes, after }: JournalGroup): Promise<void> {
    const { folder, config } = this.options;
    const first = Buffer.concat([headerBytes(config, after), bytes]);
    const room = await this.waitForSpace(first.length);
    const file = await this.openForGroups(join(folder, LAYING_OUT));
    try {
      await writeDurably(file, first, 0);
      await this.name(segmentPath(folder, after.seq));
    } catch (error) {
      await file.close();
      throw error;
    } finally {
      await room.file.close();
    }
    await this.current?.file.close();
    this.current = { file, size: room.size, afterSeq: after.seq };
    this.at = first.length;
    this.dirtyTo = this.at;
    this.bytes += first.length;
    this.mayLayOut = true;
  }

  private openForGroups(path: string): Promise<FileHandle> {
    return this.options.openFile(path, constants.O_RDWR | DSYNC);
  }

  private async name(path: string): Promise<void> {
    const { folder } = this.options;
    if (await exists(path)) throw new FileError(`${path}: is there already`);
    await rename(join(folder, LAYING_OUT), path);
    try {
      await syncFolder(folder);
    } catch (error) {
      this.durabilityUnknown = error as Error;
      throw error;
    }
  }

  /** The room laid out ahead, or other room when there is none, or too little. */
  private async waitForSpace(length: number): Promise<Room> {
    const ready = await this.next?.catch(() => null);
    this.next = null;
    if (ready !== undefined && ready !== null) {
      if (ready.size >= length) return ready;
      await ready.file.close();
    }
    return this.layOut(Math.max(this.nextSize(), length));
  }

  private nextSize(): number {
    const { first, most } = this.options.bytes;
    return this.current === null
      ? first
      : Math.min(most, Math.max(first, this.current.size * GROWTH));
  }

  private layOutNext(): void {
    if (this.next !== null || !this.mayLayOut) return;
    this.next = this.layOut(this.nextSize());
    this.next.catch(() => {
      this.next = null;
      this.mayLayOut = false;
    });
  }

  private async layOut(size: number): Promise<Room> {
    const file = await this.options.openFile(join(this.options.folder, LAYING_OUT), 'w+');
    try {
      for (let at = 0; at < size; at += LAID_OUT_AT_ONCE) {
        const started = performance.now();
        await writeAll(file, ZEROS.subarray(0, Math.min(LAID_OUT_AT_ONCE, size - at)), at);
        await file.datasync();
        // Half of the disk's time is left to others.
        if (at > 0) await sleep(performance.now() - started);
      }
      return { file, size };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Zeros where something may stand that is no part of the journal. */
  private async wipe(): Promise<void> {
    const { current } = this;
    if (current === null || this.dirtyTo <= this.at) return;
    for (let at = this.at; at < this.dirtyTo; at += LAID_OUT_AT_ONCE) {
      const length = Math.min(LAID_OUT_AT_ONCE, this.dirtyTo - at);
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
