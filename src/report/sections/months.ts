/**
 * Returns of months and of days as heat maps, coloured by sign and size, and figures of whole days,
 * months and years. Full colour of a month is at least 2 %, of a day at least 0.5 %.
 */
import { duration, percent } from '../../design/number-text.ts';
import type { CalendarRow, DayReturn } from '../analysis/calendar.ts';
import type { MonthReturn } from '../analysis/distributions.ts';
import { escape, table } from '../text.ts';

const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const DAY_MS = 86_400_000;

/** Background by sign and size. The weakest is still seen on a dark page; 0 has none. */
export function heat(value: number, largest: number): string {
  const share = Math.abs(value) / Math.max(1e-12, largest);
  const strength = value === 0 ? 0 : Math.round(8 + share * 32);
  const colour = value < 0 ? '--loss' : '--gain';
  return `background:color-mix(in srgb, var(${colour}) ${String(strength)}%, transparent)`;
}

/** A row for each year, whose last column has the year of buy and hold. */
export function monthTable(
  months: readonly MonthReturn[],
  benchmark: readonly MonthReturn[],
): string {
  const largest = Math.max(0.02, ...months.map(({ value }) => Math.abs(value)));
  const cell = (value: number | null): string =>
    value === null ? '<td></td>' : `<td style="${heat(value, largest)}">${percent(value)}</td>`;
  const years = [...new Set(months.map(({ year }) => year))];
  const rows = years.map((year) => {
    const of = months.filter((entry) => entry.year === year);
    const cells = NAMES.map((_, i) => cell(of.find(({ month }) => month === i + 1)?.value ?? null));
    const market = benchmark.filter((entry) => entry.year === year);
    const ends = cell(whole(of)) + `<td>${market.length === 0 ? '' : percent(whole(market))}</td>`;
    return `<tr><th scope="row">${String(year)}</th>${cells.join('')}${ends}</tr>`;
  });
  const head = [...NAMES, 'Year', 'Buy and hold']
    .map((name) => `<th scope="col">${name}</th>`)
    .join('');
  return `<div class="table" tabindex="0" role="region" aria-label="returns by month"><table class="months"><thead><tr><th scope="col">Year</th>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}

const whole = (months: readonly MonthReturn[]): number =>
  months.reduce((growth, { value }) => growth * (1 + value), 1) - 1;

/** Weekdays down, weeks across, a block per year. */
export function dayMap(days: readonly DayReturn[]): string {
  const largest = Math.max(0.005, ...days.map(({ value }) => Math.abs(value)));
  const years = [...new Set(days.map(({ day }) => day.slice(0, 4)))];
  const blocks = years.map((year) => {
    const of = days.filter(({ day }) => day.startsWith(year));
    const first = mondayOf(of[0]?.day ?? '');
    const weeks = Math.floor((Date.parse(of.at(-1)?.day ?? '') - first) / (7 * DAY_MS)) + 1;
    const byDay = new Map(of.map(({ day, value }) => [day, value]));
    const rows = WEEKDAYS.map((name, weekday) => {
      const cells = Array.from({ length: weeks }, (_, week) => {
        const day = new Date(first + (week * 7 + weekday) * DAY_MS).toISOString().slice(0, 10);
        const value = byDay.get(day);
        if (value === undefined) return '<td></td>';
        const text = `${day}: ${percent(value)}`;
        return `<td title="${text}" style="${heat(value, largest)}"><span class="unseen">${text}</span></td>`;
      });
      return `<tr><th scope="row">${name}</th>${cells.join('')}</tr>`;
    });
    const named = namedWeeks(first, weeks);
    const heads = Array.from({ length: weeks }, (_, week) => {
      const name = named.has(week) ? (NAMES[mondayIn(first, week).getUTCMonth()] ?? '') : '';
      return `<th scope="col">${name === '' ? '<span class="unseen">week</span>' : name}</th>`;
    });
    return `<table class="days"><caption>${escape(year)}</caption><thead><tr><th scope="col"><span class="unseen">Weekday</span></th>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
  });
  return `<div class="table plain" tabindex="0" role="region" aria-label="returns by day">${blocks.join('')}</div>`;
}

const mondayIn = (first: number, week: number): Date => new Date(first + week * 7 * DAY_MS);

/** Columns that are as wide as the name of a month. */
const NAME_WEEKS = 2;

/** The first week of each month, and that of the map unless the next name would touch its own. */
function namedWeeks(first: number, weeks: number): ReadonlySet<number> {
  const begins = Array.from({ length: weeks }, (_, week) => week).filter(
    (week) => mondayIn(first, week).getUTCDate() <= 7,
  );
  return new Set((begins[0] ?? weeks) < NAME_WEEKS ? begins : [0, ...begins]);
}

function mondayOf(day: string): number {
  const ms = Date.parse(day);
  return ms - ((new Date(ms).getUTCDay() + 6) % 7) * DAY_MS;
}

/** Empty unless the run has two days. */
export function calendarTable(rows: readonly CalendarRow[]): string {
  if (rows.length === 0) return '';
  return table(
    rows,
    [
      { title: 'Returns by', isText: true, cell: ({ period }) => period },
      { title: 'Count', cell: ({ count }) => String(count) },
      { title: 'Mean', cell: ({ mean }) => percent(mean) },
      { title: 'Best', cell: ({ best }) => percent(best) },
      { title: 'Worst', cell: ({ worst }) => percent(worst) },
      { title: 'Mean gain', cell: ({ meanGain }) => percent(meanGain) },
      { title: 'Mean loss', cell: ({ meanLoss }) => percent(meanLoss) },
      { title: 'With a gain', cell: ({ gaining }) => percent(gaining) },
    ],
    { caption: 'returns by day, month and year' },
  );
}

/** Section of the calendar, with a reason where the run is too short. */
export function calendarSection(of: {
  readonly months: readonly MonthReturn[];
  readonly benchmarkMonths: readonly MonthReturn[];
  readonly days: readonly DayReturn[];
  readonly calendar: readonly CalendarRow[];
  readonly spanUs: number;
}): string {
  const { months, benchmarkMonths, days, calendar, spanUs } = of;
  if (calendar.length === 0 || spanUs < 2 * DAY_MS * 1000) {
    const missingUs = 2 * DAY_MS * 1000 - spanUs;
    const is =
      missingUs > 0 && missingUs < spanUs
        ? `is ${duration(missingUs)} shorter`
        : `has ${duration(spanUs)}`;
    return `<p class="caption">Returns by day need two days; the run ${is}.</p>`;
  }
  return `${calendarTable(calendar)}
${months.length < 2 ? '' : `<h3>Returns by month</h3>${monthTable(months, benchmarkMonths)}`}
<h3>Returns by day</h3>${dayMap(days)}`;
}
