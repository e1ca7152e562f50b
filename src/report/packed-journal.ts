import { once } from 'node:events';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import { startThread } from '../platform/start-thread.ts';
import { GZIP_LEVEL } from './gzip-level.ts';

/** Larger journals are opened by `orrery inspect`, or as a file that the page reads in ranges. */
export const MOST_BYTES = 32 << 20;
/** A shorter journal is compressed at the end, which takes less time than the start of a thread. */
export const THREAD_BYTES = 4 << 20;

/**
 * Compresses a journal for its page while the run goes on, in a thread. A page can be made of it
 * once. The run seldom leaves its turn of the event loop, which a stream of zlib needs for each
 * piece.
 */
export class PackedJournal {
  /** Until the thread is started. */
  private pieces: Uint8Array[] = [];
  private thread: Worker | null = null;
  private packed: Promise<unknown> | null = null;
  private readonly mostBytes: number;
  private readonly threadBytes: number;
  private bytes = 0;

  constructor(mostBytes = MOST_BYTES, threadBytes = THREAD_BYTES) {
    this.mostBytes = mostBytes;
    this.threadBytes = threadBytes;
  }

  /** The bytes must not change afterwards. */
  add(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    if (this.bytes > this.mostBytes) {
      this.pieces = [];
      void this.thread?.terminate();
      this.thread = null;
      return;
    }
    if (this.thread !== null) {
      this.thread.postMessage(bytes);
      return;
    }
    this.pieces.push(bytes);
    if (this.bytes >= this.threadBytes) this.start();
  }

  /** The compressed journal as base64; null if the journal is too large for a page. */
  async end(): Promise<string | null> {
    if (this.bytes > this.mostBytes) return null;
    if (this.thread === null) {
      const whole = Buffer.concat(this.pieces.splice(0));
      return (await promisify(gzip)(whole, { level: GZIP_LEVEL })).toString('base64');
    }
    this.thread.ref();
    this.thread.postMessage(null);
    const [text] = (await this.packed) as [string];
    await this.thread.terminate();
    return text;
  }

  private start(): void {
    this.thread = startThread('./packing-thread', import.meta.url);
    // It keeps the process only while the page waits for it.
    this.thread.unref();
    this.packed = once(this.thread, 'message');
    // `end` throws the error; a journal that is too large has none.
    this.packed.catch(() => undefined);
    for (const piece of this.pieces.splice(0)) this.thread.postMessage(piece);
  }
}
