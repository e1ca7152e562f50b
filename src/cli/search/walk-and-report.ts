/** Runs a walk-forward analysis from its command line to its page. */
import { join } from 'node:path';
import Table from 'cli-table3';
import { assignmentText } from '../../search/samplers/space.ts';
import { windowsOf, type Window } from '../../search/samplers/windows.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { TrialLog } from '../../search/trial-log.ts';
import { walkForward, windowLogName, type WalkForward } from '../../search/walk-forward.ts';
import {
  EXIT,
  Interrupted,
  isInterrupted,
  print,
  printError,
  printJson,
  setExitCode,
  startProgress,
} from '../cli-support.ts';
import { handlerLimitMs } from '../handler-limit.ts';
import { walkPage } from '../search-pages.ts';
import { leftOutText, unscoredText } from '../../report/walk-page.ts';
import { searchIdentity } from '../../search/plan-search.ts';
import { ledgerOf, ledgerText, LOCAL, type Place, type SearchInput } from './plan-search.ts';
import { claimSearchFolder } from './search-folder.ts';
import { countedLog } from '../../search/trial-ledger.ts';
import type { SearchPool } from '../../search/search-pool.ts';
import { orderedLog } from '../../search/ordered-log.ts';
import type { SweepPlan } from '../../search/sweep.ts';
import type { WalkArguments, WalkLengths } from './walk-lengths.ts';

export function windowsFor(
  args: WalkArguments,
  lengths: WalkLengths,
  { fromUs, toUs }: SweepPlan,
): Window[] {
  const mode = args.mode === 'anchored' ? 'anchored' : 'rolling';
  return windowsOf({ fromUs, toUs, ...lengths, mode });
}

export async function walkAndReport(
  args: WalkArguments,
  lengths: WalkLengths,
  { search, perYear, definition }: SearchInput,
  pool: SearchPool,
  place: Place = LOCAL,
): Promise<void> {
  const windows = windowsFor(args, lengths, search);
  const out = args.out ?? join('reports', `walk-${search.plan.strategies[0]?.id ?? ''}`);
  const claim = await claimSearchFolder(out, windowLogName(0), ['index.html', 'walk.json']);
  try {
    await walkIn(args, lengths, { search, perYear, definition }, { out, windows, pool, place });
  } finally {
    claim.release();
  }
}

/** An analysis in its folder. */
interface Walk {
  readonly out: string;
  readonly windows: readonly Window[];
  readonly pool: SearchPool;
  readonly place: Place;
}

async function walkIn(
  args: WalkArguments,
  lengths: WalkLengths,
  { search, perYear, definition }: SearchInput,
  { out, windows, pool, place }: Walk,
): Promise<void> {
  const ledger = await ledgerOf(args, search, definition);
  const limitMs = handlerLimitMs(args['handler-limit']);
  const progress = startProgress('walk', args.json);
  let walk: WalkForward;
  try {
    walk = await walkForward(search, windows, perYear, {
      run: pool.run,
      // One more than the workers, so that none is idle during the last trial of a window.
      maxParallel: pool.workers + 1,
      cancelled: isInterrupted,
      logOf: (window, trained) => {
        const path = join(out, windowLogName(window));
        const log = TrialLog.open(path, searchIdentity(trained, limitMs));
        const sorted = place.isRemote ? orderedLog(log) : log;
        const counted = ledger === null ? sorted : countedLog(sorted, ledger.entryOf(trained));
        return {
          get: (number) => counted.get(number),
          add: (trial) => {
            counted.add(trial);
          },
          close: () => {
            log.close();
          },
        };
      },
      onWindow: (done) => {
        progress.update(done / windows.length);
      },
    });
  } finally {
    progress.stop();
  }
  if (walk.cancelled) {
    printError(`stopped after ${String(walk.windows.length)} windows; ${place.continuing}`);
    throw new Interrupted('interrupted');
  }
  const summary = {
    orrery: 'walkforward',
    version: 1,
    objective: search.objective,
    windows: walk.windows.map(({ testReturns, ...rest }) => ({
      ...rest,
      periods: testReturns.length,
    })),
    outOfSample: walk.outOfSample,
    efficiency: walk.efficiency,
    trials: Math.max((await place.known(ledger?.count)) ?? 0, trialsOf(walk)),
  };
  const page = join(out, 'index.html');
  await writeWholeFile(page, Buffer.from(await walkPage(args, walk, search, lengths)));
  await writeWholeFile(
    join(out, 'walk.json'),
    Buffer.from(`${JSON.stringify(summary, null, 1)}\n`),
  );
  if (args.json) printJson(summary);
  else {
    printWalk(walk, search.objective);
    if (summary.trials > trialsOf(walk)) print(`ledger         ${ledgerText(summary.trials)}`);
    print(`report         ${page}`);
  }
  if (walk.outOfSample === null) setExitCode(EXIT.failed);
}

function trialsOf({ windows }: WalkForward): number {
  return windows.reduce((sum, { trials }) => sum + trials, 0);
}

function printWalk({ windows, outOfSample, efficiency }: WalkForward, objective: string): void {
  const table = new Table({
    head: ['trained', 'tested', 'parameters', `${objective} in`, 'out', 'PnL out'],
    style: { head: [], border: [], compact: true },
  });
  const figure = (value: number | null): string => (value === null ? '–' : value.toFixed(4));
  for (const { window, parameters, trainScore, testScore, test } of windows) {
    table.push([
      stretch(window.trainFromUs, window.trainToUs),
      stretch(window.testFromUs, window.testToUs),
      assignmentText(parameters ?? {}),
      figure(trainScore),
      figure(testScore),
      test?.pnl ?? '–',
    ]);
  }
  print(table.toString());
  windows.forEach(({ parameters, error }, i) => {
    if (error === null) return;
    const what = parameters === null ? 'no trial has a score' : 'the test failed';
    print(`window ${String(i + 1)}: ${what}: ${error}`);
  });
  const failed = windows.filter(({ error }) => error !== null).length;
  if (outOfSample === null) {
    print('no window has a result out of sample');
    return;
  }
  const percent = (value: number): string => `${(value * 100).toFixed(2)} %`;
  print(
    `out of sample  return ${percent(outOfSample.totalReturn)}, Sharpe ${figure(outOfSample.sharpe)}, max drawdown ${percent(outOfSample.maxDrawdown)}`,
  );
  if (failed > 0) print(`               ${leftOutText(failed, windows.length)}`);
  const isScored = windows.some(({ testScore }) => testScore !== null);
  const unknown = isScored ? '– (a mean score is not above 0)' : '– (no test has a score)';
  print(`efficiency     ${efficiency === null ? unknown : percent(efficiency)}`);
  const unscored = unscoredText(windows, objective);
  if (unscored !== '') print(`               ${unscored}`);
}

function stretch(fromUs: Window['testFromUs'], toUs: number): string {
  // A bar ends at the last microsecond of its interval.
  const text = (us: number): string => new Date((us + 1) / 1000).toISOString().slice(0, 19);
  return `${text(fromUs)} – ${text(toUs).slice(text(fromUs).slice(0, 10) === text(toUs).slice(0, 10) ? 11 : 0)}`;
}
