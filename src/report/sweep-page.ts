/**
 * Page of a search: its best trial with measures of overfitting, all trials, and the effect of each
 * parameter on the score.
 */
import { countText } from '../base/count-text.ts';
import type { Note } from '../backtest/note.ts';
import type { BootstrapBands } from '../metrics/bootstrap.ts';
import type { Overfitting } from '../metrics/overfitting.ts';
import type { PageLibraries } from './libraries.ts';
import { notes, pageOf } from './page.ts';
import { isFraction, scoreText, titleOf } from './objective-text.ts';
import { figureRow } from './sections/figures.ts';
import { money, percent, probability, ratio } from '../design/number-text.ts';
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
  /** Trials that count in it, also those of other searches. */
  readonly counted: number;
  /** Trials with a Sharpe ratio. */
  readonly ratios: number;
  readonly overfitting: Overfitting | null;
  /** Variations of the best trial; empty without a robustness test. */
  readonly variations: readonly SweepReportVariation[];
  readonly bands: BootstrapBands | null;
  readonly assumptions: readonly Note[];
  /** Command that runs a trial on a share of the time, without its parameters. */
  readonly commandOf: (budget: number) => string;
}

export function renderSweep(sweep: SweepReport, libraries: PageLibraries): string {
  const { title, lede, assumptions } = sweep;
  const main = `${figures(sweep)}
${bestText(sweep)}
${surface(sweep)}
<h2 id="trials-list">Trials</h2>
<p>A trial’s number shows the command that repeats it.</p>
<div id="trial-detail" role="status" class="detail" hidden></div>
${trialTable(sweep)}
${failures(sweep)}
<h2 id="robustness">Robustness of the best trial</h2>
${movedText(sweep)}
<h2 id="parameters">Score by parameter</h2>
${parameterCharts(sweep)}
<h2 id="order">Trial by trial</h2>
<div class="small" data-draws="trials" role="img" aria-label="Score of each trial, and the best so far"></div>
<h2 id="method">Method</h2>
${notes(assumptions)}`;
  const sections = [
    ...(isSurface(sweep) ? ([['surface', 'Surface']] as const) : []),
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
  const { best, counted, deflatedSharpe, overfitting, ratios, trials } = sweep;
  if (best === null) return 'Not believable: no trial on all of the data has a score.';
  const failed = trials.filter(({ error }) => error !== null).length;
  const reasons = [
    ...(deflatedSharpe !== null && deflatedSharpe < CONVINCING
      ? [`deflated Sharpe ${probability(deflatedSharpe)}, below ${percent(CONVINCING, 0)}`]
      : []),
    ...(overfitting !== null && overfitting.probability > OVERFITTED
      ? [`overfitting ${probability(overfitting.probability)}`]
      : []),
    ...((best.trades ?? 0) < FEW_TRADES ? [countText(best.trades ?? 0, 'closed trade')] : []),
    ...(failed * 2 > trials.length
      ? [`${String(failed)} of ${String(trials.length)} trials failed`]
      : []),
  ];
  if (reasons.length > 0) return `Not believable: ${reasons.join(', ')}.`;
  if (deflatedSharpe === null) {
    return ratios < 2 && counted > 1
      ? `Not tested: ${String(ratios)} of ${countText(trials.length, 'trial')} ${ratios === 1 ? 'has' : 'have'} a Sharpe ratio, which is too few for a deflated one.`
      : 'Not tested: the trials have too few returns.';
  }
  return `Passes the tests: deflated Sharpe ${probability(deflatedSharpe)} over ${countText(counted, 'trial')}.`;
}

function figures({ best, objective, deflatedSharpe, overfitting, trials }: SweepReport): string {
  const failed = trials.filter(({ error }) => error !== null).length;
  const unscored = trials.filter(({ score }) => score === null).length - failed;
  const without = unscored === 0 ? '' : `, ${String(unscored)} without a score`;
  return figureRow([
    { name: `Best: ${titleOf(objective)}`, value: scoreText(objective, best?.score ?? null) },
    {
      name: 'Its PnL',
      value: best?.pnl == null ? '–' : exactMoney(best.pnl),
      tone: Number(best?.pnl ?? 0),
      note: `${String(best?.trades ?? 0)} closed trades`,
    },
    { name: 'Its max drawdown', value: percent(best?.maxDrawdown ?? null) },
    {
      name: 'Deflated Sharpe',
      value: probability(deflatedSharpe),
      note: `convincing above ${percent(CONVINCING, 0)}`,
    },
    {
      name: 'Probability of overfitting',
      value: probability(overfitting?.probability ?? null),
      note: `of a loss out of sample ${probability(overfitting?.lossProbability ?? null)}`,
    },
    { name: 'Trials', value: String(trials.length), note: `${String(failed)} failed${without}` },
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
${percent(bands.totalReturn.low)} to ${percent(bands.totalReturn.high)} in nine of ten curves, median ${percent(bands.totalReturn.median)}; ${probability(bands.lossProbability)} have a loss.</p>`;
  if (variations.length === 0) return drawn;
  return `${drawn}${table(
    variations,
    [
      { title: 'Moved', isText: true, cell: ({ name }) => name },
      {
        title: titleOf(objective),
        cell: ({ score }) => scoreText(objective, score),
        exact: ({ score }) => exact(score),
      },
      {
        title: 'PnL',
        cell: ({ pnl, error }) => (pnl === null ? (error ?? '–') : money(Number(pnl))),
      },
    ],
    { caption: 'variations of the best trial' },
  )}`;
}

const exact = (value: number | null): string => (value === null ? '' : String(value));

function parameterCharts({ dimensions, objective }: SweepReport): string {
  const charts = dimensions.map(
    ({ name }, i) =>
      `<div><div class="small" data-draws="parameter-${String(i)}" role="img" aria-label="${escape(`${titleOf(objective)} by ${name}`)}"></div>
<p class="caption">${escape(`${titleOf(objective)} of the trials on all of the data, by ${name}`)}</p></div>`,
  );
  return `<div class="columns">${charts.join('\n')}</div>`;
}

/** A surface needs two parameters that vary. */
const isSurface = ({ dimensions }: SweepReport): boolean => dimensions.length >= 2;

/** Best score of each pair of values of two parameters, drawn by the script. */
function surface(sweep: SweepReport): string {
  const { dimensions, objective, best } = sweep;
  if (!isSurface(sweep)) return '';
  const choice = (name: string, label: string, chosen: number): string => {
    const options = dimensions.map(
      (dimension, i) =>
        `<option value="${String(i)}"${i === chosen ? ' selected' : ''}>${escape(dimension.name)}</option>`,
    );
    return `<label>${label} <select data-axis="${name}">${options.join('')}</select></label>`;
  };
  const more = dimensions.length > 2 ? ', over all values of the other parameters' : '';
  const peak = best === null ? '' : ` The best trial is ringed.`;
  return `<h2 id="surface">Scores of pairs</h2>
<div class="toolbar choices">${choice('across', 'Across', 0)}${choice('down', 'Down', 1)}<button data-zooms="in">Zoom in</button><button data-zooms="out">Zoom out</button><button data-zooms="all">All</button></div>
<p class="readout" data-reads="surface"></p><p class="unseen" data-reads="surface-keys" role="status"></p>
<canvas class="surface" data-draws="surface" tabindex="0" role="img" aria-label="${escape(`Highest ${titleOf(objective)} of each pair of values; the table of trials has the same data. Arrow keys move, plus and minus zoom.`)}"></canvas>
<p class="caption">${escape(`Highest ${titleOf(objective)} of each pair${more}.${peak} The wheel zooms, dragging moves, a click shows the trial. An isolated maximum is more likely luck than a plateau.`)}</p>`;
}

/** Failed trials by their reason; empty without any. */
function failures({ trials }: SweepReport): string {
  const reasons = new Map<string, SweepReportTrial[]>();
  for (const trial of trials) {
    if (trial.error === null) continue;
    // Numbers differ from trial to trial.
    const reason = trial.error.replaceAll(/-?\d[\d.,]*/g, '…');
    reasons.set(reason, [...(reasons.get(reason) ?? []), trial]);
  }
  if (reasons.size === 0) return '';
  const rows = [...reasons.values()].sort((a, b) => b.length - a.length);
  return `<h3>Failed trials by reason</h3>
${table(
  rows,
  [
    { title: 'Trials', cell: (failed) => String(failed.length) },
    {
      title: 'First',
      cell: ([first]) => String(first?.number ?? ''),
      link: ([first]) => `#trial-${String(first?.number ?? '')}`,
    },
    {
      title: 'Reason, of the first',
      isText: true,
      isLong: true,
      cell: ([first]) => first?.error ?? '',
    },
  ],
  { caption: 'failed trials by reason' },
)}`;
}

/** Max rows of the table of trials. */
const MOST_TRIALS = 5000;

function trialTable({ trials, dimensions, objective }: SweepReport): string {
  const sorted = [...trials].sort(
    (a, b) =>
      b.budget - a.budget || (b.score ?? -Infinity) - (a.score ?? -Infinity) || a.number - b.number,
  );
  const isWhole = trials.every(({ budget }) => budget === 1);
  const columns: Column<SweepReportTrial>[] = [
    {
      title: 'Trial',
      cell: ({ number }) => String(number),
      link: ({ number }) => `#trial-${String(number)}`,
    },
    ...dimensions.map(({ name }, i) => ({
      title: name,
      isText: trials.some(({ values }) => Number.isNaN(Number(values[i] ?? ''))),
      cell: ({ values }: SweepReportTrial) => values[i] ?? '',
    })),
    ...(isWhole
      ? []
      : [{ title: 'Data', cell: ({ budget }: SweepReportTrial) => percent(budget, 0) }]),
    {
      title: titleOf(objective),
      cell: ({ score }) => scoreText(objective, score),
      exact: ({ score }) => exact(score),
    },
    {
      title: 'PnL',
      cell: ({ pnl }) => (pnl === null ? '–' : money(Number(pnl))),
      exact: ({ pnl }) => pnl ?? '',
      tone: ({ pnl }) => (pnl === null ? null : Number(pnl)),
    },
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
    maxRows: MOST_TRIALS,
    rowId: ({ number }: SweepReportTrial) => `trial-${String(number)}`,
  });
}

/** Input of the page's script; see page-script.ts. */
function dataOf({ trials, dimensions, objective, best, commandOf }: SweepReport): unknown {
  const whole = trials.filter(({ budget, score }) => budget === 1 && score !== null);
  const budgets = [...new Set(trials.map(({ budget }) => budget))];
  return {
    markets: [],
    strategies: [],
    sweep: {
      objective: titleOf(objective),
      isFraction: isFraction(objective),
      trials: trials.map(({ number, score, budget }) => [number, budget === 1 ? score : null]),
      /** Of each trial: its own score, and the index of its command. */
      own: trials.map(({ score, budget }) => [score, budgets.indexOf(budget)]),
      commands: budgets.map(commandOf),
      best: best?.number ?? null,
      names: dimensions.map(({ name }) => name),
      chosen: trials.map(({ values }) => values),
      /** Values that trials used, in order: a range may have a hundred thousand. */
      used: dimensions.map(({ values }, i) => {
        const tried = new Set(trials.map(({ values: own }) => own[i]));
        return values.filter((value) => tried.has(value));
      }),
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
