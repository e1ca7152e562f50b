/**
 * Runs a sweep from its command line to its page: search, report of the best trial, measures of
 * overfitting.
 */
import { countText } from '../../base/count-text.ts';
import { join } from 'node:path';
import Table from 'cli-table3';
import type { ParameterSpecs } from '../../strategy/definition.ts';
import type { Trials } from '../../metrics/metrics.ts';
import { assignmentOf, assignmentText, sizeOf } from '../../search/samplers/space.ts';
import { byScore } from '../../search/samplers/samplers.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { bestTask, type BestReport } from '../../search/best-report.ts';
import {
  robustness,
  variationsOf,
  type Robustness,
  type Variation,
} from '../../search/robustness.ts';
import { RunsAhead } from '../../search/runs-ahead.ts';
import {
  selectionOf,
  sweep,
  withoutRatioText,
  type Selection,
  type SweepPlan,
  type SweepResult,
} from '../../search/sweep.ts';
import { hashOf, TrialLog, type Trial } from '../../search/trial-log.ts';
import type { TrialResult, TrialTask } from '../../search/trial.ts';
import {
  Interrupted,
  isInterrupted,
  print,
  printError,
  printJson,
  setExitCode,
  EXIT,
  startProgress,
} from '../cli-support.ts';
import { handlerLimitMs } from '../handler-limit.ts';
import type { SearchArguments } from '../search-options.ts';
import { commandOf, sweepPage } from '../search-pages.ts';
import { searchIdentity } from '../../search/plan-search.ts';
import { ledgerOf, ledgerText, LOCAL, type Place, type SearchInput } from './plan-search.ts';
import { claimSearchFolder } from './search-folder.ts';
import { ratio } from '../../design/number-text.ts';
import { countedLog } from '../../search/trial-ledger.ts';
import type { SearchPool } from '../../search/search-pool.ts';
import { orderedLog } from '../../search/ordered-log.ts';

export interface SweepArguments extends SearchArguments {
  readonly out: string | undefined;
  readonly robustness: boolean;
}

const SHOWN = 10;
const LOG = 'trials.jsonl';
/** Folder of the best run in that of the search. */
const BEST = 'best';

export async function searchAndReport(
  args: SweepArguments,
  { search, definition, perYear }: SearchInput,
  pool: SearchPool,
  place: Place = LOCAL,
): Promise<void> {
  const { parameters } = definition;
  const [planned] = search.plan.strategies;
  const out = args.out ?? join('reports', `sweep-${planned?.id ?? ''}`);
  const claim = await claimSearchFolder(out, LOG, ['index.html', 'sweep.json', BEST]);
  let log: TrialLog | null = null;
  try {
    const ledger = await ledgerOf(args, search, definition);
    const identity = searchIdentity(search, handlerLimitMs(args['handler-limit']));
    log = TrialLog.open(join(out, LOG), identity);
    const ahead = new RunsAhead(pool);
    const sorted = place.isRemote ? orderedLog(log) : log;
    const kept = ledger === null ? sorted : countedLog(sorted, ledger.entryOf(search));
    const result = await runSearch(search, pool, kept, args.json, (best) => {
      if (!args.robustness) return;
      const { sensitivity, stress } = variationsOf(search, parameters, best);
      ahead.want([...sensitivity, ...stress].map(({ task }) => task));
    });
    if (result.cancelled) {
      printError(`stopped after ${countText(result.trials.length, 'trial')}; ${place.continuing}`);
      throw new Interrupted('interrupted');
    }
    const selection = selectionOf(result.trials, perYear, await place.known(ledger?.count));
    const { best } = result;
    const { tested, report } =
      best === null
        ? { tested: null, report: null }
        : await checker(search, best, pool, ahead, {
            folder: join(out, BEST),
            command: commandOf(args, search, best),
            trials: selection.trials,
            robustness: args.robustness ? { parameters, perYear } : null,
            quiet: args.json,
          });
    const deflatedSharpe = report?.deflatedSharpe ?? null;
    const page = join(out, 'index.html');
    const verdict = { selection, deflatedSharpe, robustness: tested };
    await writeWholeFile(page, Buffer.from(await sweepPage(args, search, result, verdict)));
    const summary = {
      ...{ orrery: 'sweep', version: 1, search: hashOf(identity) },
      ...summaryOf(search, result, selection),
      deflatedSharpe,
      robustness: tested,
      page,
      report: report?.page ?? null,
    };
    await writeWholeFile(
      join(out, 'sweep.json'),
      Buffer.from(`${JSON.stringify(summary, null, 1)}\n`),
    );
    if (args.json) printJson(summary);
    else printSummary(search, result, selection, tested, { out, page, deflatedSharpe });
    if (best === null) setExitCode(EXIT.failed);
  } finally {
    log?.close();
    claim.release();
  }
}

async function runSearch(
  search: SweepPlan,
  pool: SearchPool,
  log: Pick<TrialLog, 'get' | 'add'>,
  quiet: boolean,
  /** Called with the best trial so far when the last trials have started. */
  onAllBegun: (best: Trial) => void,
): Promise<SweepResult> {
  const planned = search.method === 'grid' ? sizeOf(search.space) : search.trials;
  const progress = startProgress('sweep', quiet);
  try {
    return await sweep(search, {
      run: pool.run,
      log,
      cancelled: isInterrupted,
      onTrial: (done, known, best) => {
        progress.update(Math.min(1, done / Math.max(known, planned)));
        if (known >= planned && best !== null && pool.idle > 0) onAllBegun(best);
      },
    });
  } finally {
    progress.stop();
  }
}

interface Judging {
  /** Folder of the best run. */
  readonly folder: string;
  readonly command: string;
  readonly trials: Trials;
  /** Null omits variations. */
  readonly robustness: { readonly parameters: ParameterSpecs; readonly perYear: number } | null;
  readonly quiet: boolean;
}

/** Writes the best trial's report and runs its variations in parallel. */
async function checker(
  search: SweepPlan,
  best: Trial,
  pool: SearchPool,
  ahead: RunsAhead,
  { folder, command, trials, robustness: wanted, quiet }: Judging,
): Promise<{ report: BestReport; tested: Robustness | null }> {
  const progress = startProgress('best one', quiet);
  let begun = 0;
  let done = 0;
  const counted = async <T>(run: Promise<T>): Promise<T> => {
    begun += 1;
    const result = await run;
    done += 1;
    progress.update(done / begun);
    return result;
  };
  const vary = (task: TrialTask): Promise<TrialResult | null> => counted(ahead.take(task));
  ahead.want([]);
  try {
    const [report, tested] = await Promise.all([
      counted(pool.report(bestTask(search, best, trials, { folder, command }))),
      wanted === null ? null : robustness(search, wanted.parameters, best, wanted.perYear, vary),
    ]);
    if (report === null || (wanted !== null && tested === null)) {
      throw new Interrupted('interrupted');
    }
    return { report, tested };
  } finally {
    progress.stop();
  }
}

function summaryOf(search: SweepPlan, { trials, best }: SweepResult, selection: Selection): object {
  const row = (trial: Trial): object => {
    const { number, budget, score, error, figures } = trial;
    return {
      number,
      parameters: assignmentOf(search.space, trial.point),
      budget,
      score,
      error,
      figures,
    };
  };
  return {
    method: search.method,
    objective: search.objective,
    seed: search.seed,
    trials: trials.length,
    failed: trials.filter(({ error }) => error !== null).length,
    best: best === null ? null : row(best),
    selection,
    all: trials.map(row),
  };
}

function printSummary(
  { plan, space, objective }: SweepPlan,
  { trials, best }: SweepResult,
  { overfitting, trials: counted, ratios }: Selection,
  tested: Robustness | null,
  {
    out,
    page,
    deflatedSharpe,
  }: {
    readonly out: string;
    readonly page: string;
    readonly deflatedSharpe: number | null;
  },
): void {
  const whole = trials.filter(({ budget }) => budget === 1);
  const table = new Table({
    head: ['', ...space.map(({ name }) => name), objective, 'PnL', 'drawdown', 'trades'],
    colAligns: ['right', ...space.map(() => 'right' as const), 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const trial of [...whole].sort(byScore).slice(0, SHOWN)) {
    const { figures } = trial;
    const chosen = Object.values(assignmentOf(space, trial.point));
    table.push([
      String(trial.number),
      ...chosen,
      numberText(trial.score),
      figures?.pnl ?? trial.error ?? '',
      figures === null ? '' : `${(figures.maxDrawdown * 100).toFixed(2)} %`,
      String(figures?.trades ?? ''),
    ]);
  }
  print(table.toString());
  const failed = trials.filter(({ error }) => error !== null);
  print(
    `trials       ${String(trials.length)}${failed.length > 0 ? `, ${String(failed.length)} failed: ${failed[0]?.error ?? ''}` : ''}`,
  );
  const unscored = trials.filter(({ score }) => score === null).length - failed.length;
  if (unscored > 0) print(`             ${String(unscored)} without a score: ${objective} unknown`);
  if (counted.count > trials.length) {
    print(`ledger       ${ledgerText(counted.count)}`);
  }
  if (best !== null)
    print(
      `best         ${assignmentText(assignmentOf(space, best.point))}: ${objective} ${numberText(best.score)}`,
    );
  if (deflatedSharpe === null && best !== null) print('deflated     –: unknown');
  if (deflatedSharpe !== null) {
    print(
      `deflated     ${(deflatedSharpe * 100).toFixed(1)} %: probability that the Sharpe ratio of the best of ${countText(counted.count, 'trial')} is not explained by their number`,
    );
  }
  const without = withoutRatioText(ratios, trials.length);
  if (without !== '') print(`             ${without}`);
  if (overfitting === null && best !== null) print('overfitting  –: unknown');
  if (overfitting !== null) {
    print(
      `overfitting  probability ${(overfitting.probability * 100).toFixed(1)} %, of a loss out of sample ${(overfitting.lossProbability * 100).toFixed(1)} % (${String(overfitting.splits)} splits)`,
    );
  }
  if (tested !== null) printRobustness(tested, objective, plan.latency === 'none');
  print(`log          ${join(out, LOG)}`);
  if (best !== null) {
    print(`best run     ${join(out, BEST)}, for orrery replay, explain, report and export`);
  }
  print(`report       ${page}`);
}

function printRobustness(
  { sensitivity, stress, bands }: Robustness,
  objective: string,
  isFree: boolean,
): void {
  const table = new Table({
    head: ['moved', objective, 'PnL'],
    style: { head: [], border: [], compact: true },
    colAligns: ['left', 'right', 'right'],
  });
  const row = ({ name, score, error, pnl }: Variation): void => {
    table.push([name, numberText(score), pnl ?? error ?? '']);
  };
  sensitivity.forEach(row);
  stress.filter(({ name }) => !isFree || !name.startsWith('latency')).forEach(row);
  print(table.toString());
  if (isFree) print('latency      not tested: the run has none');
  if (bands === null) return;
  const {
    totalReturn: { low, median, high },
    lossProbability,
  } = bands;
  const percent = (value: number): string => `${(value * 100).toFixed(2)} %`;
  print(
    `bootstrap    return ${percent(low)} … ${percent(median)} … ${percent(high)} (90 %), a loss in ${percent(lossProbability)} of ${String(bands.samples)} curves`,
  );
}

function numberText(value: number | null): string {
  // In a terminal as amounts are: with the minus sign that programs read.
  return value === null ? '–' : ratio(value, 4).replace('−', '-');
}
