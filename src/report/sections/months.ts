/** Table of monthly returns, coloured by sign and size; full colour is at least 2 %. */
import type { MonthReturn } from '../analysis/distributions.ts';
import { percent } from '../../design/number-text.ts';

const NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export function monthTable(months: readonly MonthReturn[]): string {
  const largest = Math.max(0.02, ...months.map(({ value }) => Math.abs(value)));
  const cell = (value: number | null): string => {
    if (value === null) return '<td></td>';
    const strength = Math.round((Math.abs(value) / largest) * 40);
    const colour = value < 0 ? '--loss' : '--gain';
    const paint = `background:color-mix(in srgb, var(${colour}) ${String(strength)}%, transparent)`;
    return `<td style="${paint}">${percent(value)}</td>`;
  };
  const years = [...new Set(months.map(({ year }) => year))];
  const rows = years.map((year) => {
    const of = months.filter((entry) => entry.year === year);
    const cells = NAMES.map((_, i) => cell(of.find(({ month }) => month === i + 1)?.value ?? null));
    const whole = of.reduce((growth, { value }) => growth * (1 + value), 1) - 1;
    return `<tr><th scope="row">${String(year)}</th>${cells.join('')}${cell(whole)}</tr>`;
  });
  const head = [...NAMES, 'All'].map((name) => `<th scope="col">${name}</th>`).join('');
  return `<div class="table"><table class="months"><thead><tr><th scope="col">Year</th>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
}
