/**
 * Page of a search: its best trial with measures of overfitting, all trials, and the effect of each
 * parameter on the score.
 */
import type { Note } from '../backtest/note.ts';
import type { BootstrapBands } from '../metrics/bootstrap.ts';
import type { Overfitting } from '../metrics/overfitting.ts';
import type { PageLibraries } from './libraries.ts';
import { notes, pageOf } from './page.ts';
import { figureRow } from './sections/figures.ts';
import { money, percent, ratio } from '../design/number-text.ts';
import { escape, exactMoney, table, type Column } from './text.ts';

export interface SweepReportTrial {
  readonly number: number;
  /** As text, one per dimension. */
  readonly values: readonly string[];
  /** Fraction of the data used, 0 … 1. */
  readonly budget: number;
  readonly score: number | null;
  readonly pnl: string | null;
  readonly maxDrawdown: number | null;
  readonly trades: number | null;
  /** Error message; null if the run succeeded. */
  readonly error: string | null;
}

export interface SweepReportVariation {
  readonly name: string;
  readonly score: number | null;
  readonly pnl: string | null;
  readonly error: string | null;
}

export interface SweepReportDimension {
  readonly name: string;
  /** Whether its values are ordered numbers. */
  readonly ordered: boolean;
  /** All possible values, in order. */
  readonly values: readonly string[];
}

export interface SweepReport {
  readonly title: string;
  readonly lede: string;
  readonly objective: string;
  readonly dimensions: readonly SweepReportDimension[];
  /** In the order of their numbers. */
  readonly trials: readonly SweepReportTrial[];
  readonly best: SweepReportTrial | null;
  /** Path of the best trial's report relative to this page; null without a best. */
  readonly bestPage: string | null;
  readonly deflatedSharpe: number | null;
  readonly overfitting: Overfitting | null;
  /** Variations of the best trial; empty without a robustness test. */
  readonly variations: readonly SweepReportVariation[];
  readonly bands: BootstrapBands | null;
  readonly assumptions: readonly Note[];
}

/** Max values per dimension for the map of pairs. */
const MOST_CELLS = 40;

export function renderSweep(sweep: SweepReport, libraries: PageLibraries): string {
  const { title, lede, assumptions } = sweep;
  const main = `${figures(sweep)}
${bestText(sweep)}
${pairMap(sweep)}
<h2 id="trials-list">Trials</h2>
${trialTable(sweep)}
<h2 id="robustness">Robustness of the best trial</h2>
${movedText(sweep)}
<h2 id="parameters">Score by parameter</h2>
${parameterCharts(sweep)}
<h2 id="order">Trial by trial</h2>
<div class="small" data-draws="trials" role="img" aria-label="Score of each trial, and the best so far"></div>
<h2 id="method">Method</h2>
${notes(assumptions)}`;
  const sections = [
    ['trials-list', 'Trials'],
    ['robustness', 'Robustness'],
    ['parameters', 'Parameters'],
    ['order', 'Trial by trial'],
    ['method', 'Method'],
  ] as const;
  const page = { title, lede, verdict: verdictOf(sweep), sections, main, data: dataOf(sweep) };
  return pageOf(page, libraries);
}

/** Deflated Sharpe ratio above which the best trial is more than luck. */
const CONVINCING = 0.95;
/** Probability of overfitting above which the selection says nothing. */
const OVERFITTED = 0.5;
/** Closed trades below which a score is not significant. */
const FEW_TRADES = 30;

/** Whether the best trial can be believed, and the reasons, in a sentence. */
function verdictOf(sweep: SweepReport): string {
  const { best, deflatedSharpe, overfitting, trials } = sweep;
  if (best === null) return 'Not believable: no trial on all of the data has a score.';
  const failed = trials.filter(({ error }) => error !== null).length;
  const reasons = [
    ...(deflatedSharpe !== null && deflatedSharpe < CONVINCING
      ? [`deflated Sharpe ${percent(deflatedSharpe, 1)}, below ${percent(CONVINCING, 0)}`]
      : []),
    ...(overfitting !== null && overfitting.probability > OVERFITTED
      ? [`overfitting ${percent(overfitting.probability, 1)}`]
      : []),
    ...((best.trades ?? 0) < FEW_TRADES ? [`${String(best.trades ?? 0)} closed trades`] : []),
    ...(failed * 2 > trials.length
      ? [`${String(failed)} of ${String(trials.length)} trials failed`]
      : []),
  ];
  if (reasons.length > 0) return `Not believable: ${reasons.join(', ')}.`;
  if (deflatedSharpe === null) return 'Not tested: the trials have too few returns.';
  return `Passes the tests: deflated Sharpe ${percent(deflatedSharpe, 1)} over ${String(trials.length)} trials.`;
}

function figures({ best, objective, deflatedSharpe, overfitting, trials }: SweepReport): string {
  const failed = trials.filter(({ error }) => error !== null).length;
  return figureRow([
    { name: `Best ${objective}`, value: ratio(best?.score ?? null) },
    {
      name: 'Its PnL',
      value: best?.pnl == null ? '–' : exactMoney(best.pnl),
      tone: Number(best?.pnl ?? 0),
      note: `${String(best?.trades ?? 0)} closed trades`,
    },
    { name: 'Its max drawdown', value: percent(best?.maxDrawdown ?? null) },
    {
      name: 'Deflated Sharpe',
      value: percent(deflatedSharpe, 1),
      note: `convincing above ${percent(CONVINCING, 0)}`,
    },
    {
      name: 'Probability of overfitting',
      value: percent(overfitting?.probability ?? null, 1),
      note: `of a loss out of sample ${percent(overfitting?.lossProbability ?? null, 1)}`,
    },
    { name: 'Trials', value: String(trials.length), note: `${String(failed)} failed` },
  ]);
}

function bestText({ best, bestPage, dimensions }: SweepReport): string {
  if (best === null) return '<p class="warning">No trial on all of the data has a score.</p>';
  const chosen = dimensions.map(({ name }, i) => `${name}=${best.values[i] ?? ''}`).join(' ');
  const link = bestPage === null ? '' : ` – <a href="${escape(bestPage)}">its report</a>`;
  return `<p>The best is trial ${String(best.number)}: <code>${escape(chosen)}</code>${link}</p>`;
}

function movedText({ variations, bands, objective }: SweepReport): string {
  if (variations.length === 0 && bands === null) return '<p>No robustness test was run.</p>';
  const drawn =
    bands === null
      ? ''
      : `<p>Its returns in blocks of ${ratio(bands.meanBlock, 1)} periods on average, resampled ${String(bands.samples)} times: a return of
${percent(bands.totalReturn.low)} to ${percent(bands.totalReturn.high)} in nine of ten curves, median ${percent(bands.totalReturn.median)}; ${percent(bands.lossProbability, 1)} have a loss.</p>`;
  if (variations.length === 0) return drawn;
  return `${drawn}${table(variations, [
    { title: 'Moved', isText: true, cell: ({ name }) => name },
    { title: objective, cell: ({ score }) => ratio(score), tone: ({ score }) => score },
    {
      title: 'PnL',
      cell: ({ pnl, error }) => (pnl === null ? (error ?? '–') : money(Number(pnl))),
    },
  ])}`;
}

function parameterCharts({ dimensions, objective }: SweepReport): string {
  const charts = dimensions.map(
    ({ name }, i) =>
      `<div><div class="small" data-draws="parameter-${String(i)}" role="img" aria-label="${escape(`${objective} by ${name}`)}"></div>
<p class="caption">${escape(`${objective} of the trials on all of the data, by ${name}`)}</p></div>`,
  );
  return `<div class="columns">${charts.join('\n')}</div>`;
}

/** Best score of each pair of values, if two parameters were varied. */
function pairMap({ dimensions, trials, objective }: SweepReport): string {
  const [down, across] = dimensions;
  if (down === undefined || across === undefined || dimensions.length !== 2) return '';
  const scores = new Map<string, number>();
  for (const { values, score, budget } of trials) {
    if (score === null || budget < 1) continue;
    const key = JSON.stringify(values);
    scores.set(key, Math.max(score, scores.get(key) ?? -Infinity));
  }
  // A range may have a hundred thousand values; only those used by trials are shown.
  const used = (dimension: SweepReportDimension, at: number): string[] => {
    const chosen = new Set(trials.map(({ values }) => values[at]));
    return dimension.values.filter((value) => chosen.has(value));
  };
  const rows = used(down, 0);
  const columns = used(across, 1);
  const isDense = scores.size * 3 >= rows.length * columns.length;
  if (!isDense || Math.max(rows.length, columns.length) > MOST_CELLS) return '';
  const largest = Math.max(1e-12, ...[...scores.values()].map(Math.abs));
  // Three digits of the largest score, so that neighbours differ.
  const decimals = Math.max(2, Math.min(14, 2 - Math.floor(Math.log10(largest))));
  const cell = (score: number | undefined): string => {
    if (score === undefined) return '<td></td>';
    const share = String(Math.round((Math.abs(score) / largest) * 40));
    const colour = score < 0 ? '--loss' : '--gain';
    return `<td style="background:color-mix(in srgb, var(${colour}) ${share}%, transparent)">${ratio(score, decimals)}</td>`;
  };
  const body = rows.map(
    (row) =>
      `<tr><th scope="row">${escape(row)}</th>${columns.map((column) => cell(scores.get(JSON.stringify([row, column])))).join('')}</tr>`,
  );
  const head = columns.map((value) => `<th scope="col">${escape(value)}</th>`).join('');
  return `<h3>Scores of pairs</h3>
<div class="table" tabindex="0" role="region" aria-label="Scores of pairs"><table class="months"><thead><tr><th scope="col">${escape(`${down.name} \\ ${across.name}`)}</th>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>
<p class="caption">${escape(`${objective} of each pair. An isolated maximum is more likely luck than a plateau.`)}</p>`;
}

function trialTable({ trials, dimensions, objective }: SweepReport): string {
  const sorted = [...trials].sort(
    (a, b) =>
      b.budget - a.budget || (b.score ?? -Infinity) - (a.score ?? -Infinity) || a.number - b.number,
  );
  const isWhole = trials.every(({ budget }) => budget === 1);
  const columns: Column<SweepReportTrial>[] = [
    { title: 'Trial', cell: ({ number }) => String(number) },
    ...dimensions.map(({ name }, i) => ({
      title: name,
      cell: ({ values }: SweepReportTrial) => values[i] ?? '',
    })),
    ...(isWhole
      ? []
      : [{ title: 'Data', cell: ({ budget }: SweepReportTrial) => percent(budget, 0) }]),
    { title: objective, cell: ({ score }) => ratio(score), tone: ({ score }) => score },
    { title: 'PnL', cell: ({ pnl }) => (pnl === null ? '–' : money(Number(pnl))) },
    { title: 'Drawdown', cell: ({ maxDrawdown }) => percent(maxDrawdown) },
    { title: 'Trades', cell: ({ trades }) => String(trades ?? '–') },
    { title: 'Failed', isText: true, isLong: true, cell: ({ error }) => error ?? '' },
  ];
  const failed = trials.some(({ error }) => error !== null);
  return table(sorted, failed ? columns : columns.slice(0, -1), {
    id: 'trials',
    all: 'sweep.json',
    filter: 'values, or part of an error',
    caption: 'trials',
  });
}

/** Input of the page's script; see page-script.ts. */
function dataOf({ trials, dimensions, objective }: SweepReport): unknown {
  const whole = trials.filter(({ budget, score }) => budget === 1 && score !== null);
  return {
    markets: [],
    strategies: [],
    sweep: {
      objective,
      trials: trials.map(({ number, score, budget }) => [number, budget === 1 ? score : null]),
      parameters: dimensions.map(({ name, ordered, values }, i) => ({
        name,
        // Values that are not numbers are placed by their index.
        labels: ordered ? null : values,
        points: whole
          .map(({ values: chosen, score }): [number, number | null] => {
            const value = chosen[i] ?? '';
            return [ordered ? Number(value) : values.indexOf(value), score];
          })
          .sort(([a], [b]) => a - b),
      })),
    },
  };
}
