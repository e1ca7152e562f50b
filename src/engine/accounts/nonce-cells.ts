/**
 * The rings of an exchange's nonce windows in one array: stretches of cells, of which each window has one, its length a power of
 * two. A window needs no array object of its own, and a ring that grows leaves its stretch to the next of that length.
 */
const FIRST_CELLS = 1 << 10;
const LARGE = 1 << 16;

export class NonceCells {
  /** The cells, each an int64. */
  whole = new BigInt64Array(FIRST_CELLS);
  private used = 0;
  /** Free stretches by their length. */
  private readonly free = new Map<number, number[]>();

  /** Place of a stretch of so many cells. */
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
    // Pages never touched cost nothing, while every freed smaller buffer is a hole in the heap: large arrays take big steps.
    const { length } = this.whole;
    const larger = new BigInt64Array(length * (length < LARGE ? 2 : 8));
    larger.set(this.whole);
    this.whole = larger;
  }
}
