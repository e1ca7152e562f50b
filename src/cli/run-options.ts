/** What every command that runs strategies takes: which data, under which assumptions. */
import { basename } from 'node:path';
import type { ParameterValue } from '../strategy/definition.ts';
import { FIDELITIES, type Fidelity } from '../tape/tape-model.ts';
import { parseDuration, parseTime } from '../num/time-text.ts';
import { bundleStrategy } from '../strategy-loader/bundle.ts';
import { DEFAULT_LATENCY, DEFAULT_QUEUE, QUEUE_CHOICES } from '../run-plan/models.ts';
import type { PlannedStrategy, RunPlan } from '../run-plan/plan.ts';
import { uniqueId } from '../run-plan/strategy-id.ts';
import { readPopulation } from '../run-plan/population.ts';
import { InputError } from './cli-support.ts';

export interface RunArguments {
  readonly data: string | undefined;
  /** File of a population, where a command takes one. */
  readonly agents?: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly markets: readonly string[] | undefined;
  readonly balance: string;
  readonly seed: string;
  readonly param: readonly string[] | undefined;
  readonly latency: string;
  readonly fidelity?: Fidelity | undefined;
  readonly queue: string;
  readonly impact: string;
  readonly bars: string | undefined;
  readonly fees: string;
  readonly margin: string;
  readonly faults: string | undefined;
  readonly 'warm-up': string | undefined;
  readonly sample: string | undefined;
}

export const RUN_OPTIONS = {
  data: { type: 'string', describe: 'dataset (orrery data import makes one)' },
  from: {
    type: 'string',
    describe: 'trading begins here, such as 2024-08-08T23:55:00Z',
  },
  to: { type: 'string', describe: 'the run ends before this time' },
  markets: {
    type: 'string',
    array: true,
    describe: 'symbols that are read; all unless given',
  },
  balance: { type: 'string', default: '10000', describe: 'of each account' },
  seed: { type: 'string', default: '1', describe: 'everything random comes from it' },
  param: {
    type: 'string',
    array: true,
    describe: 'a parameter, name=value; strategy.name=value when several run',
  },
  latency: {
    type: 'string',
    default: DEFAULT_LATENCY,
    describe:
      'none, a time for each leg, constant:feed=,entry=,response=,compute=, jitter:…,jitter=, measured:file=, or recorded:entry=,response=,least=',
  },
  fidelity: {
    choices: FIDELITIES,
    describe: 'play markets as this, though their data say more; else as the most that they say',
  },
  queue: {
    choices: QUEUE_CHOICES,
    default: DEFAULT_QUEUE,
    describe:
      'where cancelled volume stood: riskAverse (behind), or by the shares ahead and behind; fifo: known, with l3 data',
  },
  impact: {
    type: 'string',
    default: 'permanent',
    describe:
      'liquidity that was taken: back at the next update (none), gone (permanent), or half back in halving:<time>',
  },
  bars: {
    type: 'string',
    describe:
      'how bars are played, with commas between: path=nearest|worstCase|stopFirst fill=touch|through quote=close|nextOpen spread=<ticks> depth=<lots>',
  },
  fees: { type: 'string', default: '0.0001,0.00035', describe: 'maker,taker ratios' },
  margin: {
    type: 'string',
    default: '0.02,0.01',
    describe: 'initial,maintenance ratios',
  },
  faults: {
    type: 'string',
    describe: 'reject=0.01,limit=0.005,disconnect=1h/5s, any of them',
  },
  'warm-up': {
    type: 'string',
    describe: 'listening before trading begins, such as 1h',
  },
  sample: {
    type: 'string',
    describe: 'between two samples of the curves, such as 1m',
  },
} as const;

/** Throws InputError naming the option that is wrong. */
export async function planOf(files: readonly string[], options: RunArguments): Promise<RunPlan> {
  const { data, agents } = options;
  if (files.length === 0 && agents === undefined) {
    throw new InputError('name a strategy file (orrery new strategy makes one)');
  }
  if (agents === undefined && data === undefined) {
    throw new InputError('--data names the dataset to run on');
  }
  if (agents !== undefined && data !== undefined) {
    throw new InputError('--data and --agents are two markets; give one');
  }
  const strategies: PlannedStrategy[] = [];
  for (const file of files) {
    strategies.push({
      id: uniqueId(basename(file), strategies),
      bundle: await bundleStrategy(file),
      parameters: {},
    });
  }
  const { from, to, sample } = options;
  const warmUp = options['warm-up'];
  return {
    ...(data === undefined ? {} : { data }),
    ...(agents === undefined ? {} : { population: await readPopulation(agents) }),
    ...(options.markets === undefined ? {} : { markets: options.markets }),
    strategies: withParameters(strategies, options.param ?? []),
    ...(from === undefined ? {} : { fromUs: timeOf('from', from) }),
    ...(to === undefined ? {} : { toUs: timeOf('to', to) }),
    balance: options.balance,
    seed: options.seed,
    latency: options.latency,
    ...(options.fidelity === undefined ? {} : { fidelity: options.fidelity }),
    queue: options.queue,
    impact: options.impact,
    ...(options.bars === undefined ? {} : { bars: options.bars }),
    fees: options.fees,
    margin: options.margin,
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(warmUp === undefined ? {} : { warmUpUs: lengthOf('warm-up', warmUp, 0) }),
    ...(sample === undefined ? {} : { sampleUs: lengthOf('sample', sample, 1000) }),
  };
}

/** `name=value` is for the only strategy, `strategy.name=value` for that one. */
function withParameters(
  strategies: readonly PlannedStrategy[],
  given: readonly string[],
): PlannedStrategy[] {
  const values = new Map<string, Record<string, ParameterValue>>();
  for (const { id } of strategies) values.set(id, {});
  for (const text of given) {
    const equals = text.indexOf('=');
    if (equals < 1) throw new InputError(`--param '${text}': must be name=value`);
    const key = text.slice(0, equals);
    const owner = strategies.find(({ id }) => key.startsWith(`${id}.`));
    const [only] = strategies;
    if (owner === undefined && strategies.length > 1) {
      const names = strategies.map(({ id }) => `${id}.${key}`).join(' or ');
      throw new InputError(`--param '${text}': several strategies run; say ${names}`);
    }
    const target = values.get(owner?.id ?? only?.id ?? '');
    if (target === undefined) continue;
    target[owner === undefined ? key : key.slice(owner.id.length + 1)] = text.slice(equals + 1);
  }
  return strategies.map((planned) => ({ ...planned, parameters: values.get(planned.id) ?? {} }));
}

export function timeOf(name: string, text: string): number {
  const us = parseTime(text);
  if (us === null) {
    throw new InputError(`--${name} '${text}': must be a UTC time such as 2024-08-08T23:55:00Z`);
  }
  return us;
}

export function lengthOf(name: string, text: string, minUs: number): number {
  const us = parseDuration(text);
  if (us === null || us < minUs) {
    throw new InputError(`--${name} '${text}': must be a length of time such as 1h30m`);
  }
  return us;
}
