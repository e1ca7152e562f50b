/**
 * Times in the rows of one file, and the first change of their unit. Each time is read in the unit
 * that its digits suggest, so a change loses nothing. It is reported, since it often shows two
 * files in one, or cut digits.
 */
import { dateText } from '../../base/date-text.ts';
import type { TimeUs } from '../../num/units.ts';
import { FIRST_AUTO_US, timeOf, unitWritten, type TimeUnit } from './numbers.ts';

export class RowTimes {
  private readonly units = new Map<string, TimeUnit>();
  private changes = 0;
  private first = '';
  private contradiction = '';

  /** As `timeOf`, of a field of a row. */
  read(
    { lineInFile }: { readonly lineInFile: number },
    text: string | undefined,
    field: string,
    unit: TimeUnit = 'auto',
  ): TimeUs {
    const us = timeOf(text, field, unit);
    if (unit !== 'auto') {
      if (us < FIRST_AUTO_US && this.contradiction === '')
        this.compare(lineInFile, text ?? '', field, unit);
      return us;
    }
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

  /** Sentences about changes of unit, and about a given unit that the digits contradict. */
  get notes(): readonly string[] {
    const { changes, first, contradiction } = this;
    const more = changes <= 1 ? '' : `; ${String(changes)} such changes`;
    return [
      ...(changes === 0 ? [] : [`${first}${more}. Each time is read in its own unit`]),
      ...(contradiction === '' ? [] : [contradiction]),
    ];
  }

  /** A time before 1980 in the given unit that is a later one in the unit of its digits. */
  private compare(line: number, text: string, field: string, unit: TimeUnit): void {
    const written = unitWritten(text);
    if (written === unit || written === 'iso') return;
    const year = (us: TimeUs): string => dateText(us).slice(0, 4);
    const [given, other] = [timeOf(text, field, unit), timeOf(text, field, written)];
    if (other < FIRST_AUTO_US) return;
    this.contradiction = `line ${String(line)}: \`${field}\` ${text} is of ${year(given)} in ${unit}, as given, and of ${year(other)} in ${written}`;
  }
}
