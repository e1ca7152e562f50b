/**
 * The length of bars that the name of a file states, or an option, compared with the times of its
 * rows. A bar begins a whole number of lengths after the one before it; bars may be missing. Bars
 * of one recording are equally long. Months have no fixed length: only rows that state their end
 * are compared with them.
 */
import { dateText } from '../../base/date-text.ts';
import { TapeError } from '../record.ts';

const SECOND_US = 1_000_000;
const HOUR_US = 3600 * SECOND_US;
const DAY_US = 24 * HOUR_US;
const UNITS = [
  ['w', 7 * DAY_US],
  ['d', DAY_US],
  ['h', HOUR_US],
  ['m', 60 * SECOND_US],
  ['s', SECOND_US],
] as const;

/** Length of a bar that lasts a month. */
const MONTH = 0;

/** Lengths of bars by unit. Others, such as `30d`, are lengths of the recording. */
const USUAL: Readonly<Record<string, readonly number[]>> = {
  s: [1, 5, 10, 15, 20, 30],
  m: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 45, 60, 90, 120, 240],
  h: [1, 2, 3, 4, 6, 8, 12],
  d: [1, 3],
  w: [1],
  mo: [1],
};

/** Distances between bars from which a length that none of them has is known to be wrong. */
const ENOUGH = 2;
const ENOUGH_IF_OMITTED = 8;

/** A length of bars and its source. */
export interface StatedInterval {
  /** 0 for a month. */
  readonly us: number;
  /** Source and verb, such as `its name states`. */
  readonly source: string;
}

/** The only length of bars among the words of a file name; null without one. */
export function intervalInName(name: string): number | null {
  const found = new Set<number>();
  for (const word of name.split(/[^0-9A-Za-z]+/)) {
    const [, count, unit = ''] = /^([1-9][0-9]{0,2})(s|m|min|[hH]|[dD]|[wW]|mo)$/.exec(word) ?? [];
    const short = unit === 'min' ? 'm' : unit.toLowerCase();
    if (count === undefined || USUAL[short]?.includes(Number(count)) !== true) continue;
    const [, us = MONTH] = UNITS.find(([known]) => known === short) ?? [];
    found.add(Number(count) * us);
  }
  const [us] = found;
  return us !== undefined && found.size === 1 ? us : null;
}

/** `5m`, `1h`, `90s`; fractions of a second in seconds. */
export function intervalText(us: number): string {
  if (us === MONTH) return 'a month';
  for (const [unit, length] of UNITS) {
    if (us % length === 0) return `${String(us / length)}${unit}`;
  }
  return `${String(us / SECOND_US)}s`;
}

/** Compares the bars of a recording with the length that each file states. */
export class BarIntervals {
  /** Length of the first bar of the recording; null without bars, and for months. */
  lengthUs: number | null;
  private stated: StatedInterval | null = null;
  private readonly enough: number;
  private readonly hint: string;
  /** Start of the last bar of the file. */
  private lastUs: number | null = null;
  private endUs = 0;
  /** Distances between the bars of a file: their number, the least, and how many equal it. */
  private distances = 0;
  private leastUs = Infinity;
  private leasts = 0;
  /** Whether all distances are multiples of the least. */
  private isEven = true;
  private fits = 0;
  private misfits = 0;
  private firstFault = '';

  /**
   * `lengthUs`: that of earlier files. `omitsEmpty`: bars without trades are not in the files.
   * `hint`: ends an error where no length is stated.
   */
  constructor(lengthUs: number | null, omitsEmpty: boolean, hint: string) {
    this.lengthUs = lengthUs;
    this.enough = omitsEmpty ? ENOUGH_IF_OMITTED : ENOUGH;
    this.hint = hint;
  }

  beginFile(stated: StatedInterval | null): void {
    this.stated = stated;
    this.lastUs = null;
    this.distances = 0;
    this.leastUs = Infinity;
    this.leasts = 0;
    this.isEven = true;
    this.fits = 0;
    this.misfits = 0;
  }

  /**
   * Next bar of the file, from its first to its last microsecond. Throws `TapeError` if it does not
   * fit; it is then left out.
   */
  take(startUs: number, lastUs: number): void {
    const lengthUs = lastUs + 1 - startUs;
    const fault = this.faultOf(startUs, lengthUs);
    if (fault !== null) {
      if (this.misfits === 0) this.firstFault = fault;
      this.misfits += 1;
      throw new TapeError(fault);
    }
    this.fits += 1;
    if (this.stated?.us !== MONTH) this.lengthUs ??= lengthUs;
    if (this.lastUs !== null) {
      // Repeated bars, and those that are not sorted, are faults of another kind.
      if (startUs <= this.lastUs) return;
      this.note(startUs - this.lastUs);
    }
    this.lastUs = startUs;
    this.endUs = startUs + lengthUs;
  }

  /**
   * Throws `TapeError` if most bars were left out, also where bad rows are skipped; or if no two
   * bars are one length apart, and most are a multiple of it. Returns that as a note where the file
   * has too few bars to distinguish a gap from a wrong length, else null.
   */
  endFile(): string | null {
    const { lengthUs, leastUs, distances, leasts, isEven, fits, misfits } = this;
    if (misfits > fits) {
      const count = `${String(misfits)} of ${String(misfits + fits)} bars do not fit`;
      throw new TapeError(`${count}, the first one: ${this.firstFault}`);
    }
    if (lengthUs === null || distances === 0 || leastUs <= lengthUs) return null;
    if (!isEven || 2 * leasts <= distances) return null;
    const fault = `its bars are ${intervalText(leastUs)} apart, and ${this.wanted()}`;
    if (distances < this.enough) return fault;
    throw new TapeError(fault);
  }

  /** Throws `TapeError` if the bars of the file are of another length. */
  mustBe({ us, source }: StatedInterval): void {
    const { lengthUs, lastUs } = this;
    if (lengthUs === null || lastUs === null || us === lengthUs) return;
    throw new TapeError(
      `its bars last ${intervalText(lengthUs)}, and ${source} ${intervalText(us)}`,
    );
  }

  /** Null for a bar that fits. */
  private faultOf(startUs: number, us: number): string | null {
    const { stated, lengthUs, lastUs } = this;
    const isMonth = stated?.us === MONTH;
    const isStated = isMonth
      ? us >= 28 * DAY_US && us <= 31 * DAY_US
      : stated === null || us === stated.us;
    if (!isStated || (!isMonth && lengthUs !== null && us !== lengthUs)) {
      return `the bar of ${dateText(startUs)} lasts ${intervalText(us)}, and ${this.wanted(isStated)}`;
    }
    if (lastUs === null || startUs <= lastUs) return null;
    const distanceUs = startUs - lastUs;
    const follows = isMonth ? startUs >= this.endUs : isMultiple(distanceUs, us);
    if (follows) return null;
    return `the bar of ${dateText(startUs)} begins ${intervalText(distanceUs)} after the one before it, and ${this.wanted()}`;
  }

  private note(distanceUs: number): void {
    this.distances += 1;
    if (distanceUs < this.leastUs) {
      this.isEven &&= this.leastUs === Infinity || this.leastUs % distanceUs === 0;
      this.leastUs = distanceUs;
      this.leasts = 0;
    }
    if (distanceUs === this.leastUs) this.leasts += 1;
    this.isEven &&= distanceUs % this.leastUs === 0;
  }

  /** Length that the bars should have, with its source. */
  private wanted(asBefore = this.stated === null): string {
    const { stated, lengthUs } = this;
    if (stated !== null && !asBefore) return `${stated.source} ${intervalText(stated.us)}`;
    return `those before it last ${intervalText(lengthUs ?? 0)}${this.hint}`;
  }
}

/**
 * Whether a distance is a whole number of lengths. Days of local time are an hour shorter or longer
 * where summer time begins or ends.
 */
function isMultiple(distanceUs: number, lengthUs: number): boolean {
  const restUs = distanceUs % lengthUs;
  if (distanceUs >= lengthUs && restUs === 0) return true;
  if (lengthUs < DAY_US || distanceUs < lengthUs - HOUR_US) return false;
  return restUs === HOUR_US || restUs === lengthUs - HOUR_US;
}
