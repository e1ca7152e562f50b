/**
 * Storage of all nonce rings of an exchange in one array. Each window owns one block of cells whose
 * length is a power of two; a ring that grows frees its block for reuse.
 */
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

  private grow(): void {
    // Large steps: untouched pages cost nothing, freed smaller buffers fragment the heap.
    const { length } = this.whole;
    const larger = new BigInt64Array(length * (length < LARGE ? 2 : 8));
    larger.set(this.whole);
    this.whole = larger;
    this.words = new Uint32Array(larger.buffer);
  }
}
