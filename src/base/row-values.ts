/**
 * Values of some rows of a table whose rows are reused. A row keeps its key when its value goes: V8
 * leaves a deleted entry of a `Map` in the chain of its bucket until the map is full, so deleting
 * and setting one key again and again would cost time in proportion to the size of the map.
 *
 * Memory: an entry for each row that ever had a value.
 */
export class RowValues<T> {
  private readonly byRow = new Map<number, T | undefined>();
  /** Rows that have a value. */
  size = 0;

  get(row: number): T | undefined {
    return this.byRow.get(row);
  }

  set(row: number, value: NonNullable<T>): void {
    if (this.byRow.get(row) === undefined) this.size += 1;
    this.byRow.set(row, value);
  }

  delete(row: number): void {
    if (this.byRow.get(row) === undefined) return;
    this.size -= 1;
    this.byRow.set(row, undefined);
  }

  has(row: number): boolean {
    return this.byRow.get(row) !== undefined;
  }
}
