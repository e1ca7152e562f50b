/**
 * Rows of the user's files of data, in the order in which they become available. Rows of before the
 * run are not delivered.
 */
import type { DataUpdate } from '../strategy/strategy.ts';

export class DataRows {
  private readonly rows: readonly DataUpdate[];
  /** Index of the next row. */
  private at = 0;

  /** `rows`: of all files, sorted by `timeUs`. */
  constructor(rows: readonly DataUpdate[], startUs: number) {
    this.rows = rows;
    this.skipBefore(startUs);
  }

  /** Time from which the next row is available; Infinity after the last. */
  get dueUs(): number {
    return this.rows[this.at]?.timeUs ?? Infinity;
  }

  /** The next row, if it is available by this time. */
  take(atUs: number): DataUpdate | null {
    const row = this.rows[this.at];
    if (row === undefined || row.timeUs > atUs) return null;
    this.at += 1;
    return row;
  }

  private skipBefore(startUs: number): void {
    while (this.dueUs < startUs) this.at += 1;
  }

  save(): number {
    return this.at;
  }

  load(at: number): void {
    this.at = at;
  }
}
