/**
 * Credits of one side of a market: lots by which levels decreased, for trades that explain them
 * later. A credit ends after a second, so few are alive at a time, however long the tape is.
 *
 * A hash table with linear probing. A row has the price, lots from ahead of the first user order,
 * lots from elsewhere, and the last time of the credit: 32 bytes, so that an update of a level
 * touches one line of the cache. Rows of ended credits are used again. When half of the rows are in
 * use, those that are alive move to a new table.
 */
import { timeUs, type TimeUs } from '../../num/units.ts';

const FRONT = 1;
const BACK = 2;
const UNTIL = 3;
const FIELDS = 4;
/** Rows of the smallest table, and rows for each live credit of a new one. */
const LEAST_ROWS = 64;
const ROWS_PER_CREDIT = 4;
/** 2^32 divided by the golden ratio. */
const SPREAD = 0x9e3779b1;

export interface Credit {
  readonly price: number;
  readonly front: number;
  readonly back: number;
  readonly untilUs: TimeUs;
}

export class Credits {
  private fields = new Float64Array(FIELDS * LEAST_ROWS);
  private shift = shiftOf(LEAST_ROWS);
  /** Rows that have a price. */
  private used = 0;

  /** Rows in use, alive or not: the bound of memory. */
  get rowCount(): number {
    return this.used;
  }

  /** Adds to the credit of a price, and prolongs it. */
  add(price: number, front: number, back: number, nowUs: TimeUs, untilUs: TimeUs): void {
    const { fields } = this;
    let free = -1;
    let at = this.home(price);
    for (; fields[at] !== 0; at = this.after(at)) {
      const isAlive = nowUs <= (fields[at + UNTIL] ?? 0);
      if (fields[at] === price) {
        fields[at + FRONT] = front + (isAlive ? (fields[at + FRONT] ?? 0) : 0);
        fields[at + BACK] = back + (isAlive ? (fields[at + BACK] ?? 0) : 0);
        fields[at + UNTIL] = untilUs;
        return;
      }
      if (!isAlive && free < 0) free = at;
    }
    if (free < 0) {
      if (2 * (this.used + 1) > fields.length / FIELDS) {
        this.rebuild(nowUs);
        this.add(price, front, back, nowUs, untilUs);
        return;
      }
      this.used += 1;
      free = at;
    }
    fields[free] = price;
    fields[free + FRONT] = front;
    fields[free + BACK] = back;
    fields[free + UNTIL] = untilUs;
  }

  /** The row of a credit that is alive, or −1. Valid until the next `add`. */
  find(price: number, nowUs: TimeUs): number {
    const { fields } = this;
    let at = this.home(price);
    for (; fields[at] !== price; at = this.after(at)) if (fields[at] === 0) return -1;
    return nowUs <= (fields[at + UNTIL] ?? 0) ? at : -1;
  }

  front(row: number): number {
    return this.fields[row + FRONT] ?? 0;
  }

  back(row: number): number {
    return this.fields[row + BACK] ?? 0;
  }

  /** Subtracts lots that a trade has claimed. */
  claim(row: number, front: number, back: number): void {
    const { fields } = this;
    fields[row + FRONT] = (fields[row + FRONT] ?? 0) - front;
    fields[row + BACK] = (fields[row + BACK] ?? 0) - back;
  }

  /** Credits that are alive and have lots, by ascending price. */
  alive(nowUs: TimeUs): Credit[] {
    const { fields } = this;
    const credits: Credit[] = [];
    if (this.used === 0) return credits;
    for (let at = 0; at < fields.length; at += FIELDS) {
      const price = fields[at] ?? 0;
      if (price === 0 || nowUs > (fields[at + UNTIL] ?? 0)) continue;
      const [front, back] = [this.front(at), this.back(at)];
      if (front + back === 0) continue;
      credits.push({ price, front, back, untilUs: timeUs(fields[at + UNTIL] ?? 0) });
    }
    return credits.sort((a, b) => a.price - b.price);
  }

  clear(): void {
    if (this.used === 0) return;
    this.fields.fill(0);
    this.used = 0;
  }

  /** Index of the first field of the row at which the search for a price begins. */
  private home(price: number): number {
    return FIELDS * (Math.imul(price, SPREAD) >>> this.shift);
  }

  private after(at: number): number {
    const next = at + FIELDS;
    return next === this.fields.length ? 0 : next;
  }

  private rebuild(nowUs: TimeUs): void {
    const alive = this.alive(nowUs);
    let rows = LEAST_ROWS;
    while (rows < ROWS_PER_CREDIT * alive.length) rows *= 2;
    this.fields = new Float64Array(FIELDS * rows);
    this.shift = shiftOf(rows);
    this.used = 0;
    for (const { price, front, back, untilUs } of alive) {
      this.add(price, front, back, nowUs, untilUs);
    }
  }
}

/** Right shift of a 32-bit hash that leaves the number of a row. */
function shiftOf(rows: number): number {
  return Math.clz32(rows) + 1;
}
