/**
 * Storage of all nonce rings of an exchange in one array. Each window owns one block of cells whose
 * length is a power of two; a ring that grows frees its block for reuse.
 *
 * Windows of a restored exchange stay as the bytes of their snapshot until they are first used:
 * most accounts of a fork are never used, and a million nonces take 30 ms to decode.
 */
import { ArchiveReader } from '../../base/archive.ts';

const FIRST_CELLS = 1 << 10;
const LARGE = 1 << 16;

export class NonceCells {
  /** The cells, each an int64. */
  whole = new BigInt64Array(FIRST_CELLS);
  /** The same cells as pairs of a low and a high word. */
  words = new Uint32Array(this.whole.buffer);
  private used = 0;
  /** Free blocks by length. */
  private readonly free = new Map<number, number[]>();
  /** Bytes of windows that are not decoded yet, and the number of these windows. */
  private encoded = new Uint8Array(0);
  private encodedLength = 0;
  private encodedWindows = 0;

  /** Index of a block of this many cells. */
  take(length: number): number {
    const freed = this.free.get(length)?.pop();
    if (freed !== undefined) return freed;
    const place = this.used;
    this.used += length;
    if (this.used > this.whole.length) this.grow();
    return place;
  }

  give(place: number, length: number): void {
    const freed = this.free.get(length);
    if (freed === undefined) this.free.set(length, [place]);
    else freed.push(place);
  }

  /** Keeps a copy of a window's bytes; returns its place. */
  keep(bytes: Uint8Array): number {
    const place = this.encodedLength;
    const end = place + bytes.length;
    if (end > this.encoded.length) {
      const larger = new Uint8Array(Math.max(FIRST_CELLS, 2 * end));
      larger.set(this.encoded);
      this.encoded = larger;
    }
    this.encoded.set(bytes, place);
    this.encodedLength = end;
    this.encodedWindows += 1;
    return place;
  }

  /** The bytes of a kept window of this many nonces. */
  kept(place: number, count: number): Uint8Array {
    return this.readerAt(place).pairBytes(this.encoded, count);
  }

  /** Decodes a kept window into cells from `to` on; its place is invalid afterwards. */
  decode(place: number, count: number, to: number): void {
    this.readerAt(place).pairs(this.words, to, count);
    this.encodedWindows -= 1;
    if (this.encodedWindows > 0) return;
    this.encoded = new Uint8Array(0);
    this.encodedLength = 0;
  }

  private readerAt(place: number): ArchiveReader {
    return new ArchiveReader(this.encoded.subarray(place, this.encodedLength));
  }

  private grow(): void {
    // Large steps: untouched pages cost nothing, freed smaller buffers fragment the heap.
    const { length } = this.whole;
    const larger = new BigInt64Array(length * (length < LARGE ? 2 : 8));
    larger.set(this.whole);
    this.whole = larger;
    this.words = new Uint32Array(larger.buffer);
  }
}
