/** Options of every command that runs strategies: data and assumptions. */
import { basename } from 'node:path';
import type { ParameterValue } from '../strategy/definition.ts';
import { FIDELITIES, type Fidelity } from '../tape/tape-model.ts';
import { formatDuration, parseDuration, parseTimeOrDay } from '../num/time-text.ts';
import { durationUs } from '../num/units.ts';
import { bundleStrategy } from '../strategy-loader/bundle.ts';
import { parseFeed, planFeeds } from '../run-plan/data-feeds.ts';
import { DEFAULT_LATENCY, DEFAULT_QUEUE, QUEUE_CHOICES } from '../run-plan/models.ts';
import type { PlannedStrategy, RunPlan } from '../run-plan/run-plan.ts';
import { uniqueId } from '../run-plan/strategy-id.ts';
import { readPopulation } from '../run-plan/population.ts';
import { InputError } from './cli-support.ts';
import {
  HANDLER_LIMIT_OPTION,
  limitHandlers,
  type HandlerLimitArguments,
} from './handler-limit.ts';
import {
  checkTypesOf,
  TYPE_CHECK_OPTION,
  type BundledFile,
  type TypeCheckArguments,
} from './type-check.ts';

/** Options of the exchange and its recording. */
export interface MarketArguments {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly markets: readonly string[] | undefined;
  readonly fidelity?: Fidelity | undefined;
  readonly queue: string | undefined;
  readonly impact: string | undefined;
  readonly bars: string | undefined;
  readonly fees: string | undefined;
  readonly margin: string | undefined;
}

export interface RunArguments extends MarketArguments, HandlerLimitArguments, TypeCheckArguments {
  readonly data: string | undefined;
  /** Population file, for commands that take one. */
  readonly agents?: string | undefined;
  readonly balance: string;
  readonly seed: string;
  readonly param: readonly string[] | undefined;
  readonly feed?: readonly string[] | undefined;
  readonly latency: string;
  readonly faults: string | undefined;
  readonly 'warm-up': string | undefined;
  readonly sample: string | undefined;
}

export const RUN_OPTIONS = {
  data: { type: 'string', describe: 'dataset folder (created by orrery data import)' },
  from: {
    type: 'string',
    describe: 'start of trading, such as 2024-08-08T23:55:00Z',
  },
  to: { type: 'string', describe: 'end of the run (exclusive)' },
  markets: {
    type: 'string',
    array: true,
    describe: 'symbols of the markets to use; default: all',
  },
  balance: { type: 'string', default: '10000', describe: 'start balance of each account' },
  seed: { type: 'string', default: '1', describe: 'seed of all random numbers' },
  param: {
    type: 'string',
    array: true,
    describe: 'strategy parameter, name=value; with several strategies: strategy.name=value',
  },
  feed: {
    type: 'string',
    array: true,
    describe:
      'rows of your own for onData: signals.parquet,available=<column>[,name=<name>][,unit=ms]; also .csv and .arrow',
  },
  latency: {
    type: 'string',
    default: DEFAULT_LATENCY,
    describe:
      'latency model: none, a duration per leg, constant:feed=,entry=,response=,compute=, jitter:…,jitter=, measured:file=, or recorded:entry=,response=,least=',
  },
  fidelity: {
    choices: FIDELITIES,
    describe: 'level of detail to play; default: the best that the data allow',
  },
  queue: {
    choices: QUEUE_CHOICES,
    default: DEFAULT_QUEUE,
    describe:
      'queue model: cancelled volume is behind (riskAverse), or split by the volumes ahead and behind; fifo is exact and needs l3 data',
  },
  impact: {
    type: 'string',
    default: 'permanent',
    describe:
      'taken liquidity returns at the next update (none), as new volume (permanent) or by half in each halving:<time>; squareRoot:<time> moves prices',
  },
  bars: {
    type: 'string',
    describe:
      'model of bars, comma-separated: path=nearest|worstCase|stopFirst fill=touch|through (prudent) quote=close|nextOpen holes=close|keep spread=<ticks> depth=<lots>',
  },
  fees: {
    type: 'string',
    default: '0.0001,0.00035',
    describe: 'maker,taker fee ratios; negative is a rebate',
  },
  margin: {
    type: 'string',
    default: '0.02,0.01',
    describe: 'initial,maintenance margin ratios',
  },
  faults: {
    type: 'string',
    describe: 'injected faults, any of reject=0.01,limit=0.005,disconnect=1h/5s',
  },
  'warm-up': {
    type: 'string',
    describe: 'time before trading starts, such as 1h',
  },
  sample: {
    type: 'string',
    describe: 'interval between samples of the curves, such as 1m',
  },
  ...HANDLER_LIMIT_OPTION,
  ...TYPE_CHECK_OPTION,
} as const;

/** Throws `InputError` that names the faulty option. */
export async function planOf(files: readonly string[], options: RunArguments): Promise<RunPlan> {
  const { data, agents } = options;
  if (files.length === 0 && agents === undefined) {
    throw new InputError('name a strategy file (create one with: orrery new strategy)');
  }
  if (agents === undefined && data === undefined) {
    throw new InputError(
      '--data is required: the dataset to run on (without any: orrery data sample --out sample)',
    );
  }
  if (agents !== undefined && data !== undefined) {
    throw new InputError('--data and --agents exclude each other');
  }
  limitHandlers(options);
  const strategies: PlannedStrategy[] = [];
  const bundled: BundledFile[] = [];
  for (const file of files) {
    const bundle = await bundleStrategy(file);
    strategies.push({ id: uniqueId(basename(file), strategies), bundle, parameters: {} });
    bundled.push([file, bundle]);
  }
  await checkTypesOf(bundled, options);
  const { sample } = options;
  const feeds = await planFeeds((options.feed ?? []).map(parseFeed));
  const warmUp = options['warm-up'];
  return {
    ...(data === undefined ? {} : { data }),
    ...(agents === undefined ? {} : { population: await readPopulation(agents) }),
    ...marketPlanOf(options),
    ...(feeds.length === 0 ? {} : { feeds }),
    strategies: withParameters(strategies, options.param ?? []),
    balance: options.balance,
    seed: options.seed,
    latency: options.latency,
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(warmUp === undefined ? {} : { warmUpUs: lengthOf('warm-up', warmUp, 0) }),
    ...(sample === undefined ? {} : { sampleUs: lengthOf('sample', sample, 1000) }),
  };
}

/** The part of a plan that determines the exchange. Throws `InputError`. */
export function marketPlanOf(options: MarketArguments): Partial<RunPlan> {
  const { from, to } = options;
  const plan = {
    ...(from === undefined ? {} : { fromUs: timeOf('from', from) }),
    ...(to === undefined ? {} : { toUs: timeOf('to', to) }),
  };
  const { markets, fidelity, queue, impact, bars, fees, margin } = options;
  const given = Object.entries({ markets, fidelity, queue, impact, bars, fees, margin });
  return { ...plan, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) };
}

/** `name=value` is for the only strategy, `strategy.name=value` for that one. */
function withParameters(
  strategies: readonly PlannedStrategy[],
  texts: readonly string[],
): PlannedStrategy[] {
  const values = new Map<string, Record<string, ParameterValue>>();
  for (const { id } of strategies) values.set(id, {});
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals < 1) throw new InputError(`--param '${text}': must be name=value`);
    const key = text.slice(0, equals);
    const owner = strategies.find(({ id }) => key.startsWith(`${id}.`));
    const [only] = strategies;
    if (owner === undefined && strategies.length > 1) {
      const names = strategies.map(({ id }) => `${id}.${key}`).join(' or ');
      throw new InputError(`--param '${text}': there are several strategies; write ${names}`);
    }
    const target = values.get(owner?.id ?? only?.id ?? '');
    if (target === undefined) continue;
    const name = owner === undefined ? key : key.slice(owner.id.length + 1);
    if (Object.hasOwn(target, name)) throw new InputError(`--param ${key}: given twice`);
    target[name] = text.slice(equals + 1);
  }
  return strategies.map((planned) => ({ ...planned, parameters: values.get(planned.id) ?? {} }));
}

export function timeOf(name: string, text: string): number {
  const us = parseTimeOrDay(text);
  if (us === null) {
    throw new InputError(
      `--${name} '${text}': must be a UTC time such as 2024-08-08T23:55:00Z, or a day such as 2024-08-08`,
    );
  }
  return us;
}

export function lengthOf(name: string, text: string, minUs: number): number {
  const us = parseDuration(text);
  if (us === null || us < minUs) {
    const limit = us === null ? '' : ` of at least ${formatDuration(durationUs(minUs))}`;
    throw new InputError(`--${name} '${text}': must be a duration${limit}, such as 1h30m`);
  }
  return us;
}
