/** `walkForward`: a search in each window of time and its test on the next, in one call. */
import { join } from 'node:path';
import type { Metrics } from '../../metrics/metrics.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { searchIdentity } from '../../search/plan-search.ts';
import { windowsOf } from '../../search/samplers/windows.ts';
import type { SweepPlan } from '../../search/sweep.ts';
import { countedLog } from '../../search/trial-ledger.ts';
import { TrialLog } from '../../search/trial-log.ts';
import {
  walkForward as walk,
  type WalkForwardPorts,
  type WindowResult,
} from '../../search/walk-forward.ts';
import { StrategyError, type ParameterSpecs } from '../../strategy/definition.ts';
import { lengthOf, mustBeOneOf } from './option-values.ts';
import { namingOptions, planOptions, withData } from './options.ts';
import {
  checkSearch,
  ledgerOf,
  searchOf,
  withRunner,
  type SearchOptions,
} from './search-options.ts';

const MODES = ['rolling', 'anchored'] as const;

export interface WalkForwardOptions<
  P extends ParameterSpecs = ParameterSpecs,
> extends SearchOptions<P> {
  /** Length of training: `30d`, or microseconds. At least 1 s. */
  readonly train: string | number;
  /** Length of each test; as `train`. */
  readonly test: string | number;
  /** Time omitted between training and test; as `train`. Default 0. */
  readonly purge?: string | number;
  /** `rolling` (default) moves the start of training, `anchored` keeps it. */
  readonly mode?: (typeof MODES)[number];
  /** Folder of the trials of each window: a stopped analysis continues. Strategy files only. */
  readonly logs?: string;
  /** Receives the number of finished windows, and of all. */
  readonly onWindow?: (done: number, windows: number) => void;
}

/** A window: its times in microseconds since 1970, and the trial that was tested. */
export type WalkWindow = WindowResult;

export interface WalkForwardResult {
  /** In the order of time. */
  readonly windows: readonly [WalkWindow, ...WalkWindow[]];
  /** Metrics of the joined tests: returns compounded, gaps omitted. Null without returns. */
  readonly outOfSample: Metrics | null;
  /** Mean score of the tests ÷ mean score in training; null unless both are positive. */
  readonly efficiency: number | null;
  /** Trials of all windows; with a ledger also those of other searches on these data. */
  readonly trials: number;
}

/**
 * Walk-forward analysis. In each window a search selects parameters on the training interval; they
 * are tested on the next interval, which the search has not seen. The same options give the same
 * result, whatever the number of workers.
 *
 * @throws StrategyError or SearchError naming the option and its limit
 * @throws TapeError or FileError when the data or a log cannot be used
 */
export async function walkForward<const P extends ParameterSpecs>(
  options: WalkForwardOptions<P>,
): Promise<WalkForwardResult> {
  checkSearch(options, {
    ...{ train: 'length', test: 'length', purge: 'length' },
    ...{ mode: 'text', logs: 'text', onWindow: 'function' },
  });
  const { signal, onWindow, mode = 'rolling', logs } = options;
  mustBeOneOf('mode', mode, MODES);
  const lengths = {
    trainUs: lengthOf('train', options.train, 1_000_000),
    testUs: lengthOf('test', options.test, 1_000_000),
    purgeUs: lengthOf('purge', options.purge ?? 0, 0),
  };
  const stopped = (): boolean => signal?.aborted ?? false;
  // The types of a definition's parameters matter to its author alone.
  return withData(options as unknown as SearchOptions, (given) =>
    namingOptions(async () => {
      const planned = await planOptions(given, [given]);
      const { search, perYear } = await searchOf(
        given,
        planned,
        Math.min(lengths.trainUs, lengths.testUs),
      );
      const { fromUs, toUs } = search;
      const windows = windowsOf({ fromUs, toUs, ...lengths, mode });
      const ledger = await ledgerOf(options, planned);
      if (logs !== undefined && planned.definitions.size > 0) {
        throw new StrategyError(
          'logs: a strategy object has no hash that names its trials; give a file',
        );
      }
      if (logs !== undefined) await makeFolder(logs);
      const logOf: WalkForwardPorts['logOf'] = (window, trained) => {
        const log = logs === undefined ? UNKEPT : openLog(logs, window, trained);
        if (ledger === null) return log;
        const close = (): void => {
          log.close();
        };
        return { ...countedLog(log, ledger.entryOf(trained)), close };
      };
      const { cancelled, ...found } = await withRunner(
        options,
        planned,
        stopped,
        (run, maxParallel) =>
          walk(search, windows, perYear, {
            ...{ run, maxParallel, cancelled: stopped, logOf },
            onWindow: (done) => onWindow?.(done, windows.length),
          }),
      );
      if (cancelled) signal?.throwIfAborted();
      const trials = found.windows.reduce((sum, window) => sum + window.trials, 0);
      return {
        ...found,
        // At least one window: `windowsOf` refuses none.
        windows: found.windows as [WalkWindow, ...WalkWindow[]],
        trials: Math.max(trials, ledger?.count ?? 0),
      };
    }),
  );
}

const UNKEPT: ReturnType<WalkForwardPorts['logOf']> = {
  get: () => undefined,
  add: () => undefined,
  close: () => undefined,
};

function openLog(folder: string, window: number, trained: SweepPlan): TrialLog {
  return TrialLog.open(
    join(folder, `window-${String(window + 1)}.trials.jsonl`),
    searchIdentity(trained),
  );
}
