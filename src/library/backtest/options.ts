/** Options of `backtest` and `sweep`, checked and turned into a run plan. */
import { basename } from 'node:path';
import { parseDecimal } from '../../num/decimal.ts';
import { parseTimeOrDay } from '../../num/time-text.ts';
import { planFeeds } from '../../run-plan/data-feeds.ts';
import { DEFAULT_LATENCY, DEFAULT_QUEUE, QUEUE_CHOICES } from '../../run-plan/models.ts';
import type { PlannedStrategy, RunPlan } from '../../run-plan/run-plan.ts';
import { readPopulation } from '../../run-plan/population.ts';
import { uniqueId } from '../../run-plan/strategy-id.ts';
import { bundleStrategy } from '../../strategy-loader/bundle.ts';
import {
  mustDefinition,
  StrategyError,
  type AnyStrategyDefinition,
  type ParametersOf,
  type ParameterSpecs,
  type StrategyDefinition,
} from '../../strategy/definition.ts';
import { withCandles, type CandleMarket } from './candles.ts';
import { checkOptions, mustBeKnown, type OptionKinds } from './option-kinds.ts';
import { lengthOf, mustBeOneOf, wholeUs } from './option-values.ts';
import { FIDELITIES, type Fidelity } from '../../tape/tape-model.ts';

/** A strategy of a run: an object of `defineStrategy`, or the path of a file that exports one. */
export interface BacktestStrategy<P extends ParameterSpecs = ParameterSpecs> {
  /**
   * A file is bundled and runs in a realm of its own: `Date`, `Math.random` and timers are virtual,
   * and the platform is out of reach. An object runs in the calling program: use the context's
   * `now`, `random`, `sleep` and `setTimer`, or two runs can differ.
   */
  readonly strategy: StrategyDefinition<P> | AnyStrategyDefinition | string;
  /** Unique in the run; also names the account. The file's or definition's name unless given. */
  readonly id?: string;
  /** Values over the defaults of the definition. */
  readonly parameters?: Partial<ParametersOf<NoInfer<P>>>;
  /** Markets of the run that the strategy receives; all unless given. */
  readonly symbols?: readonly string[];
}

/** Assumptions of a run. Models are text as in docs/BACKTESTING.md. */
export interface RunOptions {
  /** Folder of a dataset (`orrery data import` makes one). This, `candles` or `agents`. */
  readonly data?: string;
  /** OHLCV arrays of markets, as ccxt returns them, instead of a dataset. */
  readonly candles?: readonly CandleMarket[];
  /** YAML file of agents that make the market, instead of recorded data. */
  readonly agents?: string;
  /**
   * Files of data for `onData`. `available` is the column of the time from which a row is known;
   * `name` is that of the file unless given.
   */
  readonly feeds?: readonly {
    readonly file: string;
    readonly available: string;
    readonly name?: string;
    /** Of times that are numbers; by their digits unless given. */
    readonly unit?: 's' | 'ms' | 'us' | 'ns' | 'iso';
  }[];
  /** Symbols of the dataset to read; all unless given. */
  readonly markets?: readonly string[];
  /** Start of trading: UTC text such as `2024-08-08T23:55:00Z`, or microseconds since 1970. */
  readonly from?: string | number;
  /** End of the run, exclusive; as `from`. */
  readonly to?: string | number;
  /** Initial collateral of each account, decimal text. Default `10000`. */
  readonly balance?: string;
  /** Seed of every random stream. Default `1`. */
  readonly seed?: string;
  /** Default `constant:feed=2ms,entry=5ms,response=5ms,compute=500us`; `none` for no latency. */
  readonly latency?: string;
  /** Position of cancelled volume in the queue. Default `probPower2`. */
  readonly queue?: (typeof QUEUE_CHOICES)[number];
  /** `none`, `permanent` (default), `halving:<time>` or `squareRoot:<time>`. */
  readonly impact?: string;
  /** Plays the data as less than they can be: `l3`, `l2`, `trades` or `bars`. */
  readonly fidelity?: Fidelity;
  /** How bars are played, such as `quote=nextOpen,spread=0`. */
  readonly bars?: string;
  /** Ratios as decimal text; a negative maker fee is a rebate. Default 0.0001 and 0.00035. */
  readonly fees?: { readonly maker: string; readonly taker: string };
  /** Ratios as decimal text. Default 0.02 and 0.01. */
  readonly margin?: { readonly initial: string; readonly maintenance: string };
  /** Injected faults, such as `reject=0.01,disconnect=1h/5s`; none unless given. */
  readonly faults?: string;
  /** Time before trading: `1h30m`, or microseconds. The strategies' own unless given. */
  readonly warmUp?: string | number;
  /** Interval of the samples of the curves, at least 1 ms; as `warmUp`. */
  readonly sample?: string | number;
  /** Stops the run; its promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The plan of a run and its strategies that are objects, by id. */
export interface OptionsPlan {
  readonly plan: RunPlan;
  readonly definitions: ReadonlyMap<string, StrategyDefinition>;
}

const STRATEGY_KINDS: OptionKinds<keyof BacktestStrategy> = {
  ...{ strategy: 'any', id: 'text', parameters: 'object', symbols: 'texts' },
};

const RUN_KINDS: OptionKinds<keyof RunOptions> = {
  ...{ data: 'text', candles: 'objects', agents: 'text', feeds: 'objects', markets: 'texts' },
  ...{ from: 'length', to: 'length', balance: 'decimal', seed: 'text', latency: 'text' },
  ...{ queue: 'text', impact: 'text', fidelity: 'text', bars: 'text', fees: 'object' },
  ...{ margin: 'object', faults: 'text', warmUp: 'length', sample: 'length', signal: 'signal' },
};
const FEED_KINDS: OptionKinds<keyof NonNullable<RunOptions['feeds']>[number]> = {
  ...{ file: 'text', available: 'text', name: 'text', unit: 'text' },
};

/** Throws `StrategyError` for an option that does not exist, or is of another kind. */
export function checkNames(options: RunOptions, more: OptionKinds): void {
  checkOptions(options, { ...STRATEGY_KINDS, ...RUN_KINDS, ...more });
  for (const [i, feed] of (options.feeds ?? []).entries()) {
    checkOptions(feed, FEED_KINDS, `feeds[${String(i)}]`);
  }
}

/** The same for a further strategy. */
export function checkOther(other: unknown, place: string): void {
  checkOptions(other, STRATEGY_KINDS, place);
}

/** Names of options that arrive as JSON, beside a strategy. */
export function checkRunNames(options: object, more: readonly string[]): void {
  const known = Object.keys(RUN_KINDS).filter((name) => name !== 'signal');
  mustBeKnown(options, [...known, ...more]);
}

/** Calls `run` with options that name a dataset: of the candles, if these are given. */
export function withData<O extends RunOptions, T>(
  options: O,
  run: (options: O) => Promise<T>,
): Promise<T> {
  const { candles, ...rest } = options;
  if (candles === undefined) return run(options);
  if (options.data !== undefined || options.agents !== undefined) {
    throw new StrategyError('give one of data, candles and agents');
  }
  const log = ['log', 'logs'].find((name) => name in options);
  if (log !== undefined) {
    throw new StrategyError(
      `${log}: candles of a program have no folder to continue from; write them with writeCandles, then give data`,
    );
  }
  return withCandles(candles, (data) => run({ ...rest, data } as unknown as O));
}

/** Throws `StrategyError`, `FileError` or `TapeError` naming the option and its limit. */
export async function planOptions(
  options: RunOptions,
  strategies: readonly BacktestStrategy[],
): Promise<OptionsPlan> {
  const { data, agents, markets, from, to, fees, margin, warmUp, sample } = options;
  if ((data === undefined) === (agents === undefined)) {
    throw new StrategyError('give either data, the folder of a dataset, or candles, or agents');
  }
  if (markets?.length === 0) throw new StrategyError('markets: must name at least one');
  mustBeOneOf('queue', options.queue, QUEUE_CHOICES);
  mustBeOneOf('fidelity', options.fidelity, FIDELITIES);
  const definitions = new Map<string, StrategyDefinition>();
  const planned: PlannedStrategy[] = [];
  for (const one of strategies) planned.push(await planStrategy(one, planned, definitions));
  const plan: RunPlan = {
    ...(data === undefined ? {} : { data }),
    ...(agents === undefined ? {} : { population: await readPopulation(agents) }),
    ...(markets === undefined ? {} : { markets }),
    strategies: planned,
    ...(options.feeds === undefined ? {} : { feeds: await planFeeds(options.feeds) }),
    ...(from === undefined ? {} : { fromUs: timeOf('from', from) }),
    ...(to === undefined ? {} : { toUs: timeOf('to', to) }),
    balance: options.balance ?? '10000',
    seed: options.seed ?? '1',
    latency: options.latency ?? DEFAULT_LATENCY,
    ...(options.fidelity === undefined ? {} : { fidelity: options.fidelity }),
    queue: options.queue ?? DEFAULT_QUEUE,
    impact: options.impact ?? 'permanent',
    ...(options.bars === undefined ? {} : { bars: options.bars }),
    ...(fees === undefined ? {} : { fees: pairOf('fees', ['maker', 'taker'], fees) }),
    ...(margin === undefined
      ? {}
      : { margin: pairOf('margin', ['initial', 'maintenance'], margin) }),
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(warmUp === undefined ? {} : { warmUpUs: lengthOf('warmUp', warmUp, 0) }),
    ...(sample === undefined ? {} : { sampleUs: lengthOf('sample', sample, 1000) }),
  };
  return { plan, definitions };
}

async function planStrategy(
  { strategy, id, parameters = {}, symbols }: BacktestStrategy,
  taken: readonly PlannedStrategy[],
  definitions: Map<string, StrategyDefinition>,
): Promise<PlannedStrategy> {
  if (id !== undefined && taken.some((other) => other.id === id)) {
    throw new StrategyError(`id '${id}': two strategies of the run have it`);
  }
  const given: unknown = strategy;
  if (given === null || (typeof given !== 'string' && typeof given !== 'object')) {
    throw new StrategyError('strategy: must be the path of a file or an object of defineStrategy');
  }
  const bundle = typeof strategy === 'string' ? await bundleStrategy(strategy) : null;
  const definition = typeof strategy === 'string' ? null : mustDefinition(strategy, 'strategy');
  const name = typeof strategy === 'string' ? basename(strategy) : (definition?.name ?? '');
  const planned = {
    id: id ?? uniqueId(name, taken),
    bundle,
    parameters: definedOf(parameters),
    ...(symbols === undefined ? {} : { symbols }),
  };
  if (definition !== null) definitions.set(planned.id, definition);
  return planned;
}

/** Without fields that are undefined. */
function definedOf(
  parameters: NonNullable<BacktestStrategy['parameters']>,
): PlannedStrategy['parameters'] {
  return Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
}

function timeOf(name: string, value: string | number): number {
  const us = typeof value === 'number' ? wholeUs(value) : parseTimeOrDay(value);
  if (us !== null) return us;
  throw new StrategyError(
    `${name} '${String(value)}': must be a UTC time such as 2024-08-08T23:55:00Z, a day such as 2024-08-08, ` +
      'or whole microseconds since 1970',
  );
}

function pairOf<K extends string>(
  name: string,
  [first, second]: readonly [K, K],
  pair: Readonly<Record<K, unknown>>,
): string {
  for (const field of [first, second]) {
    if (parseDecimal(String(pair[field])) !== null) continue;
    throw new StrategyError(
      `${name}.${field} '${String(pair[field])}': must be decimal text such as 0.0001`,
    );
  }
  return `${String(pair[first])},${String(pair[second])}`;
}

const FLAGS = /--(?=(?:latency|queue|impact|fees|faults|balance|from|to|data|vary)\b)/g;

/** Runs something whose errors name flags of the command line; they then name options. */
export async function namingOptions<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StrategyError) error.message = error.message.replaceAll(FLAGS, '');
    throw error;
  }
}
