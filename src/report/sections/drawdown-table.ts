/** The worst drawdowns with their dates. */
import type { Drawdown } from '../../metrics/drawdowns.ts';
import { duration, percent, time } from '../../design/number-text.ts';
import type { StrategyReport } from '../report.ts';
import { escape, table } from '../text.ts';

const SHOWN = 10;

export function drawdownTable(
  { metrics }: Pick<StrategyReport, 'metrics'>,
  allRows: string,
): string {
  const falls = metrics?.drawdowns ?? [];
  if (metrics === null || falls.length === 0)
    return '<p>Equity never fell below an earlier high.</p>';
  const worst = [...falls].sort((a, b) => b.depth - a.depth).slice(0, SHOWN);
  const endUs = metrics.endUs;
  const rows = table<Drawdown>(
    worst,
    [
      { title: 'Depth', cell: ({ depth }) => percent(-depth) },
      { title: 'Peak', isText: true, cell: ({ peakUs }) => second(peakUs) },
      { title: 'Trough', isText: true, cell: ({ troughUs }) => second(troughUs) },
      {
        title: 'Recovered',
        isText: true,
        cell: ({ recoveredUs }) => (recoveredUs === null ? 'not yet' : second(recoveredUs)),
      },
      { title: 'To trough', cell: ({ peakUs, troughUs }) => duration(troughUs - peakUs) },
      {
        title: 'To recovery',
        cell: ({ troughUs, recoveredUs }) =>
          recoveredUs === null ? '–' : duration(recoveredUs - troughUs),
      },
      {
        title: 'In all',
        cell: ({ peakUs, recoveredUs }) => duration((recoveredUs ?? endUs) - peakUs),
      },
    ],
    { caption: 'worst drawdowns' },
  );
  const more =
    falls.length > SHOWN
      ? `<p class="caption">The ${String(SHOWN)} deepest of ${String(falls.length)}; all are in ${escape(allRows)}.</p>`
      : '';
  return `${rows}${more}`;
}

const second = (us: number): string => time(us).slice(0, 19);
