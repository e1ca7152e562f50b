/**
 * Times in the rows of one file, and the first change of their unit. Each time is read in the unit
 * that its digits suggest, so a change loses nothing. It is reported, since it often shows two
 * files in one, or cut digits.
 */
import type { TimeUs } from '../../num/units.ts';
import { timeOf, unitWritten, type TimeUnit } from './numbers.ts';

export class RowTimes {
  private readonly units = new Map<string, TimeUnit>();
  private changes = 0;
  private first = '';

  /** As `timeOf`, of a field of a row. */
  read(
    { lineInFile }: { readonly lineInFile: number },
    text: string | undefined,
    field: string,
    unit: TimeUnit = 'auto',
  ): TimeUs {
    const us = timeOf(text, field, unit);
    if (unit !== 'auto') return us;
    const written = unitWritten(text ?? '');
    const before = this.units.get(field);
    if (before === written) return us;
    this.units.set(field, written);
    if (before === undefined) return us;
    this.changes += 1;
    if (this.changes === 1) {
      this.first = `line ${String(lineInFile)}: \`${field}\` is in ${written}, and in ${before} before it`;
    }
    return us;
  }

  /** A sentence about the changes of unit; null without any. */
  get note(): string | null {
    const { changes, first } = this;
    if (changes === 0) return null;
    const more = changes === 1 ? '' : `; ${String(changes)} such changes`;
    return `${first}${more}. Each time is read in its own unit`;
  }
}
