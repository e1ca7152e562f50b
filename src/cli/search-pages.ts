/** Input of the pages of `sweep` and `walkforward`: results as text, and assumptions. */
import { countText } from '../base/count-text.ts';
import type { Note } from '../backtest/note.ts';
import type { MetricsOptions } from '../metrics/options.ts';
import { formatDuration, formatTime } from '../num/time-text.ts';
import { durationUs, timeUs } from '../num/units.ts';
import { conventions } from '../report/conventions.ts';
import { pageLibraries } from '../report/libraries.ts';
import { renderSweep, type SweepReportTrial } from '../report/sweep-page.ts';
import { duration, time } from '../design/number-text.ts';
import { titleOf } from '../report/objective-text.ts';
import { renderWalk } from '../report/walk-page.ts';
import { assignmentOf, assignmentText, type Space } from '../search/samplers/space.ts';
import type { RunPlan } from '../run-plan/run-plan.ts';
import type { Robustness } from '../search/robustness.ts';
import {
  planOfShare,
  withoutRatioText,
  type Selection,
  type SweepPlan,
  type SweepResult,
} from '../search/sweep.ts';
import type { Trial } from '../search/trial-log.ts';
import { windowLogName, type WalkForward } from '../search/walk-forward.ts';
import type { WalkLengths } from './search/walk-lengths.ts';
import type { SearchArguments } from './search-options.ts';
import { shellWord } from '../platform/shell-word.ts';

export interface SweepVerdict {
  readonly selection: Selection;
  readonly deflatedSharpe: number | null;
  /** Null without a robustness test. */
  readonly robustness: Robustness | null;
}

/** Page of a search. */
export async function sweepPage(
  args: SearchArguments,
  search: SweepPlan,
  { trials, best }: SweepResult,
  { selection, deflatedSharpe, robustness }: SweepVerdict,
): Promise<string> {
  const { plan, space, objective, options, seed, fromUs, toUs } = search;
  const row = (trial: Trial): SweepReportTrial => ({
    number: trial.number,
    values: space.map(({ values }, i) => values[trial.point[i] ?? 0] ?? ''),
    budget: trial.budget,
    score: trial.score,
    pnl: trial.figures?.pnl ?? null,
    maxDrawdown: trial.figures?.maxDrawdown ?? null,
    trades: trial.figures?.trades ?? null,
    error: trial.error,
  });
  const isFree = plan.latency === 'none';
  const stress = (robustness?.stress ?? []).filter(
    ({ name }) => !isFree || !name.startsWith('latency'),
  );
  const [strategy] = plan.strategies;
  return renderSweep(
    {
      commandOf: (budget) => trialCommand(args, planOfShare(search, budget)),
      title: `Search of ${strategy?.id ?? ''}`,
      lede: `${time(fromUs).slice(0, 16)} to ${time(toUs).slice(0, 16)} UTC, ${countText(trials.length, 'trial')}`,
      objective,
      dimensions: space,
      trials: trials.map(row),
      best: best === null ? null : row(best),
      bestPage: best === null ? null : 'best/index.html',
      deflatedSharpe,
      counted: selection.trials.count,
      ratios: selection.ratios,
      overfitting: selection.overfitting,
      variations: [...(robustness?.sensitivity ?? []), ...stress],
      bands: robustness?.bands ?? null,
      assumptions: [
        searchNote(
          args,
          space,
          `the best trial has the highest ${titleOf(objective)} on all of the data. Seed ${seed}.`,
        ),
        marketNote(args, plan),
        {
          title: 'Deflated Sharpe',
          text: `The probability that the Sharpe ratio of the best exceeds the expected best of equally many trials without skill, from the population variance of their ratios. ${countedText(selection, trials.length)}`,
        },
        {
          title: 'Probability of overfitting',
          text: 'The fraction of all splits of the time in halves in which the best of one half is at or below the median of the other, by Sharpe ratios with the population variance. All trials trade in one span.',
        },
        ...(isFree ? [{ title: 'Latency', text: 'The runs have none, so it is not tested.' }] : []),
        ...selectedBy(options),
      ],
    },
    await pageLibraries(),
  );
}

/** Options of a run that its trials share with the command line. */
const SHARED = [
  ...([
    'data',
    'markets',
    'from',
    'balance',
    'seed',
    'param',
    'feed',
    'latency',
    'fidelity',
  ] as const),
  ...(['queue', 'impact', 'bars', 'fees', 'margin', 'faults'] as const),
];

/** Command that runs one trial. */
export function commandOf(args: SearchArguments, { plan, space }: SweepPlan, trial: Trial): string {
  const chosen = Object.entries(assignmentOf(space, trial.point));
  const flags = chosen.map(([name, value]) => `--param ${shellWord(`${name}=${value}`)}`);
  return [trialCommand(args, plan), ...flags].join(' ');
}

/** Command that runs a trial, to which its parameters are added. */
function trialCommand(args: SearchArguments, plan: RunPlan): string {
  const flags = SHARED.flatMap((name) => {
    const value = args[name];
    if (value === undefined) return [];
    const values: readonly string[] = typeof value === 'string' ? [value] : value;
    return values.map((one) => `--${name} ${shellWord(one)}`);
  });
  // The search sets these for all of its trials.
  const { toUs, warmUpUs, sampleUs } = plan;
  const planned = [
    ...(toUs === undefined ? [] : [`--to ${formatTime(timeUs(toUs))}`]),
    ...(warmUpUs === undefined ? [] : [`--warm-up ${formatDuration(durationUs(warmUpUs))}`]),
    ...(sampleUs === undefined ? [] : [`--sample ${formatDuration(durationUs(sampleUs))}`]),
  ];
  return ['npx orrery backtest', shellWord(args.strategy), ...flags, ...planned].join(' ');
}

/** Page of a walk-forward analysis. */
export async function walkPage(
  args: SearchArguments & { readonly mode: string },
  { windows, outOfSample, efficiency }: WalkForward,
  { plan, objective, options, space, seed }: SweepPlan,
  { trainUs, testUs, purgeUs }: WalkLengths,
): Promise<string> {
  const [strategy] = plan.strategies;
  const training = args.mode === 'anchored' ? 'at least' : 'always';
  const gap = purgeUs === 0 ? 'no gap' : `a gap of ${duration(purgeUs)}`;
  return renderWalk(
    {
      title: `Walk-forward of ${strategy?.id ?? ''}`,
      objective,
      periodUs: options.period === 'rows' ? 1 : options.period,
      windows: windows.map(
        (
          { window, parameters, trials, trainScore, testScore, test, testReturns, error },
          number,
        ) => ({
          ...window,
          log: windowLogName(number),
          parameters: parameters === null ? null : assignmentText(parameters),
          trials,
          trainScore,
          testScore,
          testReturn: test?.totalReturn ?? null,
          testPnl: test?.pnl ?? null,
          testTrades: test?.trades ?? null,
          returns: testReturns,
          error,
        }),
      ),
      outOfSample,
      efficiency,
      assumptions: [
        {
          title: `Windows: ${args.mode}`,
          text: `Training lasts ${training} ${duration(trainUs)}, the test after it ${duration(testUs)}, with ${gap} between the two. Every run starts flat with ${plan.balance}; a strategy's warm-up may use earlier data, as it could live. A position that is open at the end is valued at the last mark, neither closed nor carried over.`,
        },
        searchNote(
          args,
          space,
          `the trial with the highest ${titleOf(objective)} in training is tested. Seed ${seed}.`,
        ),
        marketNote(args, plan),
        {
          title: 'Efficiency',
          text: `The mean score out of sample over the mean score in sample${objective === 'totalReturn' ? ', by time' : objective === 'sqn' ? ', by the root of the time' : ''}: 100 % if nothing is lost. A failed test scores 0; a test without a score is left out. Undefined unless both means are positive.`,
        },
        ...selectedBy(options),
      ],
    },
    await pageLibraries(),
  );
}

/** Trials that the deflated Sharpe ratio counts, besides those of the search. */
export function countedText({ trials: { count }, ratios }: Selection, trials: number): string {
  const others = count - trials;
  const without = withoutRatioText(ratios, trials);
  return [
    'Failed trials count.',
    ...(others > 0
      ? [
          `So ${others === 1 ? 'does' : 'do'} ${countText(others, 'trial')} of other searches and strategies on these data.`,
        ]
      : []),
    ...(without === '' ? [] : [`${without}.`]),
  ].join(' ');
}

function searchNote({ method }: SearchArguments, space: Space, picked: string): Note {
  const varied = space.map(({ name, values }) => `${name} (${countText(values.length, 'value')})`);
  return { title: 'Search', text: `${method} over ${varied.join(', ')}; ${picked}` };
}

function marketNote(args: SearchArguments, { data, markets }: RunPlan): Note {
  const { queue, impact } = args;
  // Lists of options have no spaces, where a line could end.
  const spaced = (list: string | undefined): string => String(list).replaceAll(',', ', ');
  const [latency, fees, margin] = [args.latency, args.fees, args.margin].map(spaced);
  const read = [data ?? '', ...(markets ?? [])].join(' ');
  const path = args.bars === undefined ? '' : `; bars ${spaced(args.bars)}`;
  return {
    title: 'Market',
    text: `Data ${read}; latency ${latency}; fees ${fees}; margin ${margin}; queue ${queue}; impact ${impact}${path}.`,
  };
}

function selectedBy(options: MetricsOptions): Note[] {
  return conventions(options).filter(({ title }) => title === 'Returns' || title === 'Ratios');
}
