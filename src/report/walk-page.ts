/** Page of a walk-forward analysis: the chain of its tests, the method, then each window. */
import { countText } from '../base/count-text.ts';
import type { Note } from '../backtest/note.ts';
import { compounded } from '../metrics/curve.ts';
import { underwater } from '../metrics/drawdowns.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { PageLibraries } from './libraries.ts';
import { notes, pageOf } from './page.ts';
import { returnRows } from './sections/measures.ts';
import { isFraction, scoreText, titleOf } from './objective-text.ts';
import { figureRow } from './sections/figures.ts';
import { grouped, money, percent, probability, ratio, time } from '../design/number-text.ts';
import { escape, table } from './text.ts';

export interface WalkReportWindow {
  readonly trainFromUs: number;
  readonly trainToUs: number;
  readonly testFromUs: number;
  readonly testToUs: number;
  /** As text, `fast=5 slow=20`; null if no trial of the window has a score. */
  readonly parameters: string | null;
  readonly trials: number;
  /** File of the training trials beside the page. */
  readonly log: string;
  readonly trainScore: number | null;
  readonly testScore: number | null;
  readonly testReturn: number | null;
  readonly testPnl: string | null;
  readonly testTrades: number | null;
  /** Returns of the test's periods. */
  readonly returns: readonly number[];
  /** Why the window has no result; null if it has one. */
  readonly error: string | null;
}

export interface WalkReport {
  readonly title: string;
  readonly objective: string;
  readonly periodUs: number;
  readonly windows: readonly WalkReportWindow[];
  /** Metrics of the chain of tests. */
  readonly outOfSample: Metrics | null;
  readonly efficiency: number | null;
  readonly assumptions: readonly Note[];
}

const DEFLATED = 'Deflated Sharpe';
/** Shorter tests are shown with seconds. */
const SHORT_US = 600_000_000;
/** Length of a date and the space after it, and of a year and its dash. */
const DAY = 11;
const YEAR = 5;

export function renderWalk(walk: WalkReport, libraries: PageLibraries): string {
  const { title, outOfSample, assumptions } = walk;
  const chain = chainOf(walk);
  const drawn = (name: string, label: string): string =>
    `<div class="small" data-draws="${name}" role="img" aria-label="${label}"></div>`;
  const main = `${figures(walk)}
<h2 id="chain">Joined tests</h2>
${chain.time.length === 0 ? '<p>No window has a result out of sample.</p>' : drawn('chain', 'Growth of 1 and drawdown over the chain of tests')}
<p class="caption">Growth of 1 out of sample; each test starts flat with parameters fitted before it, and every second one is shaded. Below: drawdown from the running high.</p>
<h2 id="scores">In sample against out of sample</h2>
${walk.windows.some(({ trainScore }) => trainScore !== null) ? drawn('scores', 'Scores of each window in and out of sample') : '<p>No window has a score.</p>'}
<p class="caption">A search fits noise if its scores are high in sample and low out of sample.</p>
<h2 id="windows">Windows</h2>
${windowTable(walk)}
<p class="caption">The number of trials links to the training trials of its window: a line of JSON per trial with its parameters, score and returns.</p>
${failures(walk)}
<h2 id="metrics">Metrics out of sample</h2>
${outOfSample === null ? '<p>None.</p>' : metricsTables(outOfSample)}
<h2 id="method">Method</h2>
${notes(assumptions)}`;
  const sections = [
    ['chain', 'Joined tests'],
    ['scores', 'In and out'],
    ['windows', 'Windows'],
    ['metrics', 'Metrics'],
    ['method', 'Method'],
  ] as const;
  const verdict = verdictOf(walk);
  return pageOf(
    { title, lede: lede(walk), verdict, sections, main, data: dataOf(walk, chain) },
    libraries,
  );
}

/** The share of its score that the search kept, in a sentence. */
function verdictOf({ windows, efficiency, outOfSample, objective }: WalkReport): string {
  if (outOfSample === null) return 'No window has a result out of sample.';
  const failed = windows.filter(({ error }) => error !== null).length;
  const unscored = unscoredText(windows, titleOf(objective));
  const left = [failed === 0 ? '' : leftOutText(failed, windows.length), unscored]
    .filter((text) => text !== '')
    .map((text) => ` Attention: ${text}.`)
    .join('');
  const gaining = windows.filter(({ testReturn }) => (testReturn ?? 0) > 0).length;
  const gain = `${String(gaining)} of ${countText(windows.length, 'test')} gained`;
  const few = windows.length < 4 ? ' Fewer than four windows say little.' : '';
  if (efficiency === null) {
    const isKnown = windows.some(({ testScore }) => testScore !== null);
    const mean = isKnown ? `; the mean ${titleOf(objective)} is not positive` : '';
    return `${gain}${mean}.${few}${left}`;
  }
  const kept = `the search kept ${percent(efficiency, 0)} of its ${titleOf(objective)} out of sample`;
  return `${gain}; ${kept}.${few}${left}`;
}

export function leftOutText(failed: number, windows: number): string {
  return `${String(failed)} of ${String(windows)} windows failed and ${failed === 1 ? 'is' : 'are'} in no figure`;
}

/** Tests with a result but no score, such as the profit factor without a loss; empty if none. */
export function unscoredText(
  windows: readonly Pick<WalkReportWindow, 'testScore' | 'error'>[],
  objective: string,
): string {
  const count = windows.filter(
    ({ testScore, error }) => testScore === null && error === null,
  ).length;
  if (count === 0) return '';
  const which = `${String(count)} of ${countText(windows.length, 'test')}`;
  return `${which} ${count === 1 ? 'has' : 'have'} no ${objective} and no part in the efficiency`;
}

/** Messages of windows without a result. */
function failures({ windows }: WalkReport): string {
  const rows = windows.flatMap(({ error }, i) =>
    error === null ? [] : [`<li>Window ${String(i + 1)}: ${escape(error)}</li>`],
  );
  return rows.length === 0 ? '' : `<p>Failed:</p>\n<ul>${rows.join('')}</ul>`;
}

function lede({ windows }: WalkReport): string {
  const [first] = windows;
  const last = windows.at(-1);
  if (first === undefined || last === undefined) return 'no window';
  return `${countText(windows.length, 'test')} from ${minute(first.testFromUs)} to ${minute(last.testToUs)} UTC`;
}

function figures({ outOfSample, efficiency, windows, objective }: WalkReport): string {
  const gaining = windows.filter(({ testReturn }) => (testReturn ?? 0) > 0).length;
  const trials = windows.reduce((sum, window) => sum + window.trials, 0);
  const total = outOfSample?.totalReturn ?? null;
  return figureRow([
    { name: 'Return out of sample', value: percent(total), tone: total },
    {
      name: outOfSample?.periodsPerYear === 1 ? 'Sharpe, a period' : 'Sharpe, a year',
      value: ratio(outOfSample?.sharpe ?? null),
      note: `${grouped(String(outOfSample?.periods ?? 0))} returns`,
    },
    { name: 'Probabilistic Sharpe', value: probability(outOfSample?.probabilisticSharpe ?? null) },
    { name: 'Max drawdown', value: percent(outOfSample?.maxDrawdown ?? null) },
    {
      name: `Efficiency of ${titleOf(objective)}`,
      value: percent(efficiency),
      note: 'out ÷ in sample',
    },
    {
      name: 'Tests with a gain',
      value: `${String(gaining)} of ${String(windows.length)}`,
      note: countText(trials, 'trial'),
    },
  ]);
}

function windowTable({ windows, objective }: WalkReport): string {
  const isReturn = objective === 'totalReturn';
  const isShort = windows.some(({ testFromUs, testToUs }) => testToUs - testFromUs < SHORT_US);
  const stretch = (fromUs: number, toUs: number): string => {
    const [from, to] = isShort ? [second(fromUs), second(toUs)] : [minute(fromUs), minute(toUs)];
    const shared = [DAY, YEAR].find((length) => from.slice(0, length) === to.slice(0, length));
    return `${from} – ${to.slice(shared ?? 0)}`;
  };
  return table(
    windows,
    [
      // A narrow first column: it stays while the others scroll.
      { title: 'Window', cell: (window) => String(windows.indexOf(window) + 1) },
      {
        title: 'Trained',
        isText: true,
        cell: ({ trainFromUs, trainToUs }) => stretch(trainFromUs, trainToUs),
        exact: ({ trainFromUs, trainToUs }) => `${time(trainFromUs)} – ${time(trainToUs)}`,
      },
      {
        title: 'Tested',
        isText: true,
        cell: ({ testFromUs, testToUs }) => stretch(testFromUs, testToUs),
        exact: ({ testFromUs, testToUs }) => `${time(testFromUs)} – ${time(testToUs)}`,
      },
      { title: 'Parameters', isText: true, cell: ({ parameters }) => parameters ?? '–' },
      { title: 'Trials', cell: ({ trials }) => String(trials), link: ({ log }) => log },
      {
        title: `${titleOf(objective)} in`,
        cell: ({ trainScore }) => scoreText(objective, trainScore),
      },
      {
        title: 'out',
        cell: ({ testScore }) => scoreText(objective, testScore),
        ...(isReturn ? { tone: ({ testScore }: WalkReportWindow) => testScore } : {}),
      },
      ...(isReturn
        ? []
        : [
            {
              title: 'Return out',
              cell: ({ testReturn }: WalkReportWindow) => percent(testReturn),
              tone: ({ testReturn }: WalkReportWindow) => testReturn,
            },
          ]),
      {
        title: 'PnL out',
        cell: ({ testPnl }) => (testPnl === null ? '–' : money(Number(testPnl))),
      },
      { title: 'Trades', cell: ({ testTrades }) => String(testTrades ?? '–') },
    ],
    {
      id: 'windows-list',
      filter: windows.find(({ parameters }) => parameters !== null)?.parameters ?? 'parameters',
      caption: 'windows',
    },
  );
}

/** In two halves. The trials of a search have no part in these figures, so none is deflated. */
function metricsTables(metrics: Metrics): string {
  const rows = returnRows(metrics.periodsPerYear === 1).filter(([name]) => name !== DEFLATED);
  const half = Math.ceil(rows.length / 2);
  const tables = [rows.slice(0, half), rows.slice(half)].map((part, i) =>
    table(
      part,
      [
        { title: 'Figure', isText: true, cell: ([name]) => name },
        { title: 'Out of sample', cell: ([, figure]) => figure(metrics) },
      ],
      { caption: `metrics out of sample, part ${String(i + 1)} of 2` },
    ),
  );
  return `<div class="columns pairs">${tables.map((part) => `<div>${part}</div>`).join('\n')}</div>`;
}

interface Chain {
  /** Seconds since 1970. */
  readonly time: readonly number[];
  readonly growth: readonly number[];
  /** At or below 0, of 100. */
  readonly underwater: readonly number[];
}

function chainOf({ windows, periodUs }: WalkReport): Chain {
  const time = windows.flatMap(({ testFromUs, returns }) =>
    returns.map((_, k) => seconds(testFromUs + (k + 1) * periodUs)),
  );
  const first = windows.find(({ returns }) => returns.length > 0);
  if (first === undefined) return { time: [], growth: [], underwater: [] };
  const growth = compounded(windows.flatMap(({ returns }) => returns));
  return {
    time: [seconds(first.testFromUs), ...time],
    growth,
    underwater: underwater(growth).map((fall) => -100 * fall),
  };
}

/** Input of the page's script; see page-script.ts. */
function dataOf({ windows, objective }: WalkReport, chain: Chain): unknown {
  return {
    markets: [],
    strategies: [],
    walk: {
      chain,
      objective: titleOf(objective),
      isFraction: isFraction(objective),
      scores: windows.map(({ trainScore, testScore }) => [trainScore, testScore]),
      /** Tests in seconds since 1970. */
      tests: windows.map(({ testFromUs, testToUs }) => [seconds(testFromUs), seconds(testToUs)]),
    },
  };
}

/** Since 1970, rounded to milliseconds: data of bars end at the last microsecond of an interval. */
function seconds(us: number): number {
  return Math.round(us / 1e3) / 1e3;
}

function minute(us: number): string {
  // A bar ends at the last microsecond of its minute.
  return time(us + 1).slice(0, 16);
}

function second(us: number): string {
  return time(us + 1).slice(0, 19);
}
