/**
 * Checks of what the name of a file states about its records: the length of its bars, and the month
 * or day. A file that is named as another one would be imported as that.
 */
import { basename } from 'node:path';
import { BarIntervals, intervalInName, type StatedInterval } from '../tape/formats/bar-interval.ts';
import { countText } from '../base/count-text.ts';
import { dateText } from '../base/date-text.ts';
import { RowTimes } from '../tape/formats/row-times.ts';
import { periodInName, type Period } from '../tape/formats/file-period.ts';
import type { Format } from '../tape/formats/formats.ts';
import { TapeError, type TapeRecord } from '../tape/record.ts';

/** Few rates of real markets are as high; percentages and rates of a year are. */
const HIGH_RATE_PPB = 2_000_000;
const HINT = '; --interval gives the length of a bar';

export class FileClaims {
  /**
   * Of files with too few bars to distinguish a gap from a wrong length, with times in several
   * units, or with what the decoder remarks; each names its file.
   */
  readonly notes: string[] = [];
  private readonly format: Format;
  private readonly givenUs: number | null;
  private readonly bars: BarIntervals;
  /** Times of the rows of the file. */
  times = new RowTimes();
  private name = '';
  private period: Period | null = null;
  private firstUs = Infinity;
  private lastUs = -Infinity;
  /** Funding rates of the file, and how many are of `HIGH_RATE_PPB` or more. */
  private rates = 0;
  private highRates = 0;

  /** `givenUs`: length of a bar that the user gives. `barUs`: that of the files before. */
  constructor(format: Format, givenUs: number | null, barUs: number | null) {
    this.format = format;
    this.givenUs = givenUs;
    const hint = format.options.includes('interval') ? HINT : '';
    this.bars = new BarIntervals(barUs, format.omitsEmptyBars === true, hint);
  }

  /** Length of the bars of the files so far; null without bars. */
  get barUs(): number | null {
    return this.bars.lengthUs;
  }

  /** Length of the bars of the next file, given or by its name; null if neither states it. */
  begin(path: string): number | null {
    const inName = this.inName(path, 'its name states');
    const stated =
      this.givenUs === null ? inName : { us: this.givenUs, source: 'the given interval is' };
    this.bars.beginFile(stated);
    this.name = basename(path);
    this.period = periodInName(this.format, this.name);
    this.firstUs = Infinity;
    this.lastUs = -Infinity;
    this.times = new RowTimes();
    this.rates = 0;
    this.highRates = 0;
    return stated?.us || null;
  }

  /** Next record. Throws `TapeError` for a bar that does not fit, which is left out. */
  take(record: TapeRecord): void {
    const { timeUs } = record;
    if (record.kind === 'bar') this.bars.take(record.startUs, timeUs);
    if (record.kind === 'funding') {
      this.rates += 1;
      if (Math.abs(record.ratePpb) >= HIGH_RATE_PPB) this.highRates += 1;
    }
    if (timeUs < this.firstUs) this.firstUs = timeUs;
    if (timeUs > this.lastUs) this.lastUs = timeUs;
  }

  /** A remark of the decoder about the file. */
  readonly note = (text: string): void => {
    this.notes.push(`${this.name}: ${text}`);
  };

  /** A bar of which only a price is read. */
  readonly takeBar = (startUs: number, lastUs: number): void => {
    this.bars.take(startUs, lastUs);
  };

  /**
   * `member`: name of the file in the archive. `isScan`: the file is read again, so that bars that
   * do not fit are named then, with their lines. Throws `TapeError`.
   */
  end(member: string | null, isScan: boolean): void {
    const uncertain = isScan ? null : this.bars.endFile();
    if (uncertain !== null) this.note(`bars are taken as missing, since ${uncertain}`);
    this.times.notes.forEach(this.note);
    if (2 * this.highRates > this.rates) {
      this.note(
        `${String(this.highRates)} of ${countText(this.rates, 'funding rate')} are 0.2 % or more; rates are read as fractions, such as 0.0001 for 0.01 %`,
      );
    }
    this.mustBeIn(this.period, 'its name states');
    if (member === null) return;
    const source = `the name of its file ${member} states`;
    const inMember = this.inName(member, source);
    if (inMember !== null && this.givenUs === null) this.bars.mustBe(inMember);
    this.mustBeIn(periodInName(this.format, basename(member)), source);
  }

  private inName(path: string, source: string): StatedInterval | null {
    const us = intervalInName(basename(path));
    return us === null ? null : { us, source };
  }

  private mustBeIn(period: Period | null, source: string): void {
    const { firstUs, lastUs } = this;
    if (period === null || firstUs > lastUs) return;
    if (firstUs < period.toUs && lastUs >= period.fromUs) return;
    const span = `${dateText(firstUs)} to ${dateText(lastUs)}`;
    throw new TapeError(`its records are of ${span}, and ${source} ${period.text}`);
  }
}
