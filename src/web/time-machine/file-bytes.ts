/**
 * A file that the reader chose, read in ranges: a worker may read synchronously. Blocks near the
 * last reads stay in memory, so a journal may be larger than memory.
 */
import type { JournalBytes } from '../../time-machine/source/journal-bytes.ts';

/** Synchronous reader of workers; types of the page do not have it. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

const BLOCK = 1 << 18;
const KEPT = 64;

export function bytesOfFile(file: Blob): JournalBytes {
  const reader = new FileReaderSync();
  /** Least recently used first. */
  const blocks = new Map<number, Uint8Array>();
  const block = (at: number): Uint8Array => {
    const found =
      blocks.get(at) ??
      new Uint8Array(reader.readAsArrayBuffer(file.slice(at * BLOCK, (at + 1) * BLOCK)));
    blocks.delete(at);
    const [oldest] = blocks.keys();
    if (blocks.size >= KEPT && oldest !== undefined) blocks.delete(oldest);
    blocks.set(at, found);
    return found;
  };
  return {
    size: file.size,
    read: (from, to) => {
      const first = Math.floor(from / BLOCK);
      const last = Math.floor((to - 1) / BLOCK);
      if (last <= first) return block(first).subarray(from - first * BLOCK, to - first * BLOCK);
      const bytes = new Uint8Array(to - from);
      for (let at = first; at <= last; at++) {
        const begin = at * BLOCK;
        const part = block(at).subarray(Math.max(0, from - begin), Math.min(BLOCK, to - begin));
        bytes.set(part, Math.max(0, begin - from));
      }
      return bytes;
    },
  };
}
