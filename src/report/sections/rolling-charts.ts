/** Charts of rolling figures: Sharpe and volatility, Sortino, beta. Each says why it is missing. */
import { duration, prose, ratio } from '../../design/number-text.ts';
import type { MetricsOptions } from '../../metrics/options.ts';
import type { RollingPoint } from '../analysis/distributions.ts';
import { LEAST_ROLLING, rollingWindow, type Report, type StrategyReport } from '../report.ts';
import { escape } from '../text.ts';
import { returnsText } from './figures.ts';

/** A small chart with its title; the text that says why it is missing, or null. */
export function smallChart(
  title: string,
  name: string,
  missing: string | null,
  summary: string = title,
): string {
  const body =
    missing === null
      ? `<div class="small" data-draws="${name}" role="img" aria-label="${escape(summary)}"></div>`
      : `<p class="caption">${escape(missing)}</p>`;
  return `<div><h3>${escape(title)}</h3>${body}</div>`;
}

interface Chart {
  readonly title: string;
  readonly name: string;
  readonly of: (point: RollingPoint) => number | null;
  /** Why no window has the figure. */
  readonly undefinedIf: string;
}

const CHARTS: readonly Chart[] = [
  {
    title: 'Rolling Sharpe and volatility',
    name: 'rolling',
    of: ({ sharpe }) => sharpe,
    undefinedIf: 'in no window do the returns vary',
  },
  {
    title: 'Rolling Sortino',
    name: 'rolling-sortino',
    of: ({ sortino }) => sortino,
    undefinedIf: 'no window has a return below the target',
  },
  {
    title: 'Rolling beta',
    name: 'rolling-beta',
    of: ({ beta }) => beta,
    undefinedIf: 'in no window does buy and hold vary and have all periods',
  },
];

export function rollingCharts(
  strategy: StrategyReport,
  { options, firstUs, lastUs }: Pick<Report, 'options' | 'firstUs' | 'lastUs'>,
): string {
  const { rolling } = strategy;
  const returns = strategy.metrics?.periods ?? 0;
  const length = prose(`${String(rollingWindow(returns))} ${periodNoun(options.period)}`);
  return CHARTS.map(({ title, name, of, undefinedIf }) => {
    const values = rolling.flatMap((point) => of(point) ?? []);
    if (rolling.length === 0) {
      const needs = `Not drawn: it needs a run of a day or more with ${String(LEAST_ROLLING)} returns`;
      return smallChart(
        title,
        name,
        `${needs}, and has ${duration(lastUs - firstUs)} with ${returnsText(returns)}.`,
      );
    }
    const named = `${title}, ${length}`;
    if (values.length === 0) return smallChart(named, name, `Not drawn: ${undefinedIf}.`);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const last = of(rolling.at(-1) as RollingPoint);
    const summary = `${named}: from ${ratio(low)} to ${ratio(high)}, last ${ratio(last)}`;
    return smallChart(named, name, null, summary);
  }).join('\n');
}

const NOUNS = new Map<MetricsOptions['period'], string>([
  [86_400_000_000, 'days'],
  [3_600_000_000, 'hours'],
  [60_000_000, 'minutes'],
]);

function periodNoun(period: MetricsOptions['period']): string {
  return NOUNS.get(period) ?? (period === 'rows' ? 'samples' : `× ${duration(period)}`);
}
