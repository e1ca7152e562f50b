/**
 * A file that the reader chose, read in ranges: a worker may read synchronously. Blocks near the
 * last reads stay in memory, so a journal may be larger than memory.
 */
import type { JournalBytes } from '../../time-machine/source/journal-bytes.ts';

/** Synchronous reader of workers; types of the page do not have it. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

const BLOCK = 4 << 20;
const KEPT = 4;

export function bytesOfFile(file: Blob): JournalBytes {
  const reader = new FileReaderSync();
  const blocks = new Map<number, Uint8Array>();
  const block = (at: number): Uint8Array => {
    const found = blocks.get(at);
    if (found !== undefined) return found;
    const read = new Uint8Array(reader.readAsArrayBuffer(file.slice(at * BLOCK, (at + 1) * BLOCK)));
    const [oldest] = blocks.keys();
    if (blocks.size >= KEPT && oldest !== undefined) blocks.delete(oldest);
    blocks.set(at, read);
    return read;
  };
  return {
    size: file.size,
    read: (from, to) => {
      const first = Math.floor(from / BLOCK);
      if (to <= (first + 1) * BLOCK) {
        return block(first).subarray(from - first * BLOCK, to - first * BLOCK);
      }
      return new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to)));
    },
  };
}
