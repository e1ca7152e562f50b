/** `orrery walkforward`: parameters picked on one stretch of time and judged on the next, window by window; its page and walk.json. */
import { join } from 'node:path';
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import { assignmentText } from '../../search/space.ts';
import { windowsOf, type Window } from '../../search/windows.ts';
import { makeFolder } from '../../store/make-folder.ts';
import { writeWholeFile } from '../../store/whole-file.ts';
import type { TrialPool } from '../../strategies/sweep/pool.ts';
import { TrialLog } from '../../strategies/sweep/trial-log.ts';
import { walkForward, type WalkForward } from '../../strategies/sweep/walk-forward.ts';
import {
  EXIT,
  InputError,
  Interrupted,
  isInterrupted,
  print,
  printError,
  printJson,
  setExitCode,
  startProgress,
} from '../manners.ts';
import { lengthOf, RUN_OPTIONS } from '../run-options.ts';
import {
  searchIdentity,
  searchOf,
  SEARCH_OPTIONS,
  withWorkers,
  type SearchArguments,
} from '../search-options.ts';
import { walkPage, type WalkLengths } from '../search-pages.ts';

interface WalkArguments extends SearchArguments {
  readonly train: string;
  readonly test: string;
  readonly purge: string | undefined;
  readonly mode: (typeof MODES)[number];
  readonly out: string | undefined;
}

const MODES = ['rolling', 'anchored', 'purged'] as const;
/** Of the training, what `--mode purged` leaves out unless told. */
const USUAL_PURGE = 0.1;

export const command: CommandModule<object, WalkArguments> = {
  command: 'walkforward <strategy>',
  builder: (yargs) =>
    yargs
      .positional('strategy', { type: 'string', demandOption: true, describe: 'strategy file' })
      .option('train', { type: 'string', demandOption: true, describe: 'length, such as 30d' })
      .option('test', { type: 'string', demandOption: true, describe: 'length, such as 7d' })
      .option('purge', {
        type: 'string',
        describe:
          'left out between training and test; none unless given, a tenth of the training when purged',
      })
      .option('mode', {
        choices: MODES,
        default: 'rolling',
        describe:
          'training moves along, keeps its start, or moves along and ends a purge before the test',
      })
      .options(SEARCH_OPTIONS)
      .options(RUN_OPTIONS)
      .option('out', {
        type: 'string',
        describe: 'folder; reports/walk-<strategy> unless given. The same walk goes on there',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example(
        '$0 walkforward my.ts --data btc --train 30d --test 7d --purge 1d --method grid --vary fast=5:50:5',
        '',
      ) as never,
  handler: async (given) => {
    // Local time is the same on every machine.
    process.env['TZ'] = 'UTC';
    const lengths = lengthsOf(given);
    await withWorkers(given, (pool) => walkAndTell(given, lengths, pool));
  },
};

async function walkAndTell(
  given: WalkArguments,
  lengths: WalkLengths,
  pool: TrialPool,
): Promise<void> {
  const { search, perYear } = await searchOf(given, lengths.testUs);
  const { fromUs, toUs } = search;
  const windows = windowsOf({
    fromUs,
    toUs,
    ...lengths,
    mode: given.mode === 'anchored' ? 'anchored' : 'rolling',
  });
  const out = given.out ?? join('reports', `walk-${search.plan.strategies[0]?.id ?? ''}`);
  await makeFolder(out);
  const progress = startProgress('walk', given.json);
  let walk: WalkForward;
  try {
    walk = await walkForward(search, windows, perYear, {
      run: pool.run,
      // One more than there are workers, so that none waits for the last trial of a window.
      atOnce: pool.workers + 1,
      cancelled: isInterrupted,
      logOf: (window, trained) =>
        TrialLog.open(
          join(out, `window-${String(window + 1)}.trials.jsonl`),
          searchIdentity(trained),
        ),
      onWindow: (done) => {
        progress.update(done / windows.length);
      },
    });
  } finally {
    progress.stop();
  }
  if (walk.cancelled) {
    printError(`stopped after ${String(walk.windows.length)} windows; the same command goes on`);
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
  };
  const page = join(out, 'index.html');
  await writeWholeFile(page, Buffer.from(await walkPage(given, walk, search, lengths, perYear)));
  await writeWholeFile(
    join(out, 'walk.json'),
    Buffer.from(`${JSON.stringify(summary, null, 1)}\n`),
  );
  if (given.json) printJson(summary);
  else {
    printWalk(walk, search.objective);
    print(`report         ${page}`);
  }
  if (walk.outOfSample === null) setExitCode(EXIT.failed);
}

function lengthsOf({ train, test, purge, mode }: WalkArguments): WalkLengths {
  const trainUs = lengthOf('train', train, 1_000_000);
  const usualUs = mode === 'purged' ? Math.round(trainUs * USUAL_PURGE) : 0;
  const purgeUs = purge === undefined ? usualUs : lengthOf('purge', purge, 0);
  if (mode === 'purged' && purgeUs === 0) {
    throw new InputError('--mode purged leaves something out: --purge must be above 0');
  }
  return { trainUs, testUs: lengthOf('test', test, 1_000_000), purgeUs };
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
  if (outOfSample === null) {
    print('no window has a result out of sample');
    return;
  }
  const percent = (value: number): string => `${(value * 100).toFixed(2)} %`;
  print(
    `out of sample  return ${percent(outOfSample.totalReturn)}, Sharpe ${figure(outOfSample.sharpe)}, largest drawdown ${percent(outOfSample.maxDrawdown)}`,
  );
  print(
    `efficiency     ${efficiency === null ? '– (a mean score is not above 0)' : percent(efficiency)}`,
  );
}

function stretch(fromUs: Window['testFromUs'], toUs: number): string {
  // A bar ends in the last microsecond of its interval.
  const text = (us: number): string => new Date((us + 1) / 1000).toISOString().slice(0, 19);
  return `${text(fromUs)} – ${text(toUs).slice(text(fromUs).slice(0, 10) === text(toUs).slice(0, 10) ? 11 : 0)}`;
}
