/** `orrery backtest`: strategies on recorded data, through the real exchange. */
import { basename, join } from 'node:path';
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import type { ParameterValue } from '../../backtest/definition.ts';
import type { BacktestOutput, StrategyOutput } from '../../backtest/output.ts';
import { reportOptions, type ReportAbout } from '../../report/report.ts';
import { writeReport } from '../../report/write.ts';
import { parseDuration, parseTime } from '../../scenario/time-text.ts';
import { bundleStrategy } from '../../strategies/bundle.ts';
import { DEFAULT_LATENCY, QUEUE_MODELS } from '../../strategies/models.ts';
import {
  executePlan,
  type PlannedStrategy,
  type PlanResult,
  type RunPlan,
} from '../../strategies/plan.ts';
import { RunFolder } from '../../strategies/run-folder.ts';
import {
  InputError,
  Interrupted,
  isInterrupted,
  print,
  printError,
  printJson,
  startProgress,
} from '../manners.ts';

interface BacktestArguments {
  readonly strategy: readonly string[] | undefined;
  readonly data: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly markets: readonly string[] | undefined;
  readonly balance: string;
  readonly seed: string;
  readonly param: readonly string[] | undefined;
  readonly latency: string;
  readonly queue: string;
  readonly impact: string;
  readonly fees: string;
  readonly margin: string;
  readonly faults: string | undefined;
  readonly 'warm-up': string | undefined;
  readonly sample: string | undefined;
  readonly out: string | undefined;
  readonly resume: string | undefined;
  readonly json: boolean;
}

export const command: CommandModule<object, BacktestArguments> = {
  command: 'backtest [strategy..]',
  builder: (yargs) =>
    yargs
      .positional('strategy', {
        type: 'string',
        array: true,
        describe: 'strategy files (TypeScript); each has an account of its own in one exchange',
      })
      .option('data', { type: 'string', describe: 'dataset (orrery data import makes one)' })
      .option('from', {
        type: 'string',
        describe: 'trading begins here, such as 2024-08-08T23:55:00Z',
      })
      .option('to', { type: 'string', describe: 'the run ends before this time' })
      .option('markets', {
        type: 'string',
        array: true,
        describe: 'symbols that are read; all unless given',
      })
      .option('balance', { type: 'string', default: '10000', describe: 'of each account' })
      .option('seed', { type: 'string', default: '1', describe: 'everything random comes from it' })
      .option('param', {
        type: 'string',
        array: true,
        describe: 'a parameter, name=value; strategy.name=value when several run',
      })
      .option('latency', {
        type: 'string',
        default: DEFAULT_LATENCY,
        describe: 'none, a time, constant:…, jitter:…, measured:file=…, or recorded:…',
      })
      .option('queue', { choices: QUEUE_MODELS, default: 'probPower2', describe: 'queue model' })
      .option('impact', {
        type: 'string',
        default: 'permanent',
        describe: 'none, permanent, or halving:<time>',
      })
      .option('fees', { type: 'string', default: '0.0001,0.00035', describe: 'maker,taker ratios' })
      .option('margin', {
        type: 'string',
        default: '0.02,0.01',
        describe: 'initial,maintenance ratios',
      })
      .option('faults', {
        type: 'string',
        describe: 'reject=0.01,limit=0.005,disconnect=1h/5s, any of them',
      })
      .option('warm-up', {
        type: 'string',
        describe: 'listening before trading begins, such as 1h',
      })
      .option('sample', {
        type: 'string',
        describe: 'between two samples of the curves, such as 1m',
      })
      .option('out', {
        type: 'string',
        describe: 'folder of the run; reports/<strategy> unless given',
      })
      .option('resume', {
        type: 'string',
        describe: 'folder of a run that was stopped: it goes on',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 backtest examples/strategies/sma-cross.ts --data data/btcusdt-20240808', '')
      .example(
        '$0 backtest my.ts --data btc --param fast=12 --latency recorded --queue probLog',
        '',
      )
      .example('$0 backtest --resume reports/my', 'goes on where Ctrl-C stopped it'),
  handler: async (options) => {
    // Places in stack traces are those of the strategy's own file.
    process.setSourceMapsEnabled(true);
    // Local time is the same on every machine.
    process.env['TZ'] = 'UTC';
    const { folder, plan, checkpoint } = await prepare(options);
    const progress = startProgress('backtest', options.json);
    let result: PlanResult;
    try {
      result = await executePlan(plan, {
        journal: folder.journal,
        resume: checkpoint,
        cancelled: isInterrupted,
        onProgress: (fraction) => {
          progress.update(fraction);
        },
      });
    } catch (error) {
      await folder.abandon();
      throw error;
    } finally {
      progress.stop();
    }
    if (result.output.cancelled) {
      const kept = await folder.stop(result.output.checkpoint);
      printError(
        kept
          ? `stopped; orrery backtest --resume ${folder.path} goes on from here`
          : 'stopped; a strategy without save and load begins again',
      );
      throw new Interrupted('interrupted');
    }
    await folder.finish(result);
    const { page } = await writeReport(result.output, aboutOf(result, folder, plan), folder.path);
    report(result.output, folder, page, options.json);
  },
};

async function prepare(options: BacktestArguments): Promise<{
  folder: RunFolder;
  plan: RunPlan;
  checkpoint: Awaited<ReturnType<typeof RunFolder.resume>>['checkpoint'] | null;
}> {
  if (options.resume !== undefined) {
    if (options.strategy !== undefined && options.strategy.length > 0) {
      throw new InputError('--resume goes on with the strategies of its run; name no others');
    }
    return RunFolder.resume(options.resume);
  }
  const plan = await planOf(options);
  const [first] = plan.strategies;
  const out = options.out ?? join('reports', first?.id ?? 'backtest');
  return { folder: await RunFolder.create(out, plan), plan, checkpoint: null };
}

async function planOf(options: BacktestArguments): Promise<RunPlan> {
  const files = options.strategy ?? [];
  if (files.length === 0)
    throw new InputError('name a strategy file (orrery new strategy makes one)');
  if (options.data === undefined) throw new InputError('--data names the dataset to run on');
  const strategies: PlannedStrategy[] = [];
  for (const file of files) {
    strategies.push({
      id: idOf(file, strategies),
      bundle: await bundleStrategy(file),
      parameters: {},
    });
  }
  const { from, to, sample } = options;
  const warmUp = options['warm-up'];
  return {
    data: options.data,
    ...(options.markets === undefined ? {} : { markets: options.markets }),
    strategies: withParameters(strategies, options.param ?? []),
    ...(from === undefined ? {} : { fromUs: timeOf('from', from) }),
    ...(to === undefined ? {} : { toUs: timeOf('to', to) }),
    balance: options.balance,
    seed: options.seed,
    latency: options.latency,
    queue: options.queue,
    impact: options.impact,
    fees: options.fees,
    margin: options.margin,
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(warmUp === undefined ? {} : { warmUpUs: lengthOf('warm-up', warmUp, 0) }),
    ...(sample === undefined ? {} : { sampleUs: lengthOf('sample', sample, 1000) }),
  };
}

/** The file's name without its ending; a second one of the same name gets a number. */
function idOf(file: string, taken: readonly PlannedStrategy[]): string {
  const name = basename(file).replace(/\.[cm]?[jt]s$/, '');
  for (let i = 1; ; i++) {
    const id = i === 1 ? name : `${name}-${String(i)}`;
    if (!taken.some((planned) => planned.id === id)) return id;
  }
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

function timeOf(name: string, text: string): number {
  const us = parseTime(text);
  if (us === null) {
    throw new InputError(`--${name} '${text}': must be a UTC time such as 2024-08-08T23:55:00Z`);
  }
  return us;
}

function lengthOf(name: string, text: string, leastUs: number): number {
  const us = parseDuration(text);
  if (us === null || us < leastUs) {
    throw new InputError(`--${name} '${text}': must be a length of time such as 1h30m`);
  }
  return us;
}

function aboutOf(
  { output, assumptions, data }: PlanResult,
  folder: RunFolder,
  plan: RunPlan,
): ReportAbout {
  const symbols = output.markets.map(({ symbol }) => symbol).join(', ');
  return {
    title: `${output.strategies.map(({ name }) => name).join(', ')} on ${symbols}`,
    assumptions,
    data,
    verify: [`npx orrery replay ${folder.file('journal')} --verify`],
    bundle: Object.fromEntries(
      plan.strategies.map(({ id, bundle }) => [`bundle of ${id}`, bundle.sha256]),
    ),
    options: reportOptions(output),
    trials: null,
  };
}

function report(output: BacktestOutput, folder: RunFolder, page: string, json: boolean): void {
  const { chainHash, stateHash, commands, firstUs, lastUs } = output;
  if (json) {
    printJson({
      firstUs,
      lastUs,
      commands,
      chainHash,
      stateHash,
      strategies: output.strategies.map((strategy) => ({
        id: strategy.id,
        name: strategy.name,
        parameters: strategy.parameters,
        ...strategy.summary,
        benchmarkPnl: benchmarkPnl(strategy),
      })),
      folder: folder.path,
      report: page,
    });
    return;
  }
  const table = new Table({
    head: ['', ...output.strategies.map(({ id }) => id)],
    colAligns: ['left', ...output.strategies.map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  const row = (title: string, figure: (strategy: StrategyOutput) => string): void => {
    table.push([title, ...output.strategies.map(figure)]);
  };
  row('equity at the end', ({ summary }) => summary.equityEnd);
  row('PnL', ({ summary }) => summary.pnl);
  row('  trading', ({ summary }) => summary.pnlTrading);
  row('  fees', ({ summary }) => summary.pnlFees);
  row('  funding', ({ summary }) => summary.pnlFunding);
  row('  liquidation', ({ summary }) => summary.pnlLiquidation);
  row('buy and hold', (strategy) => benchmarkPnl(strategy).toFixed(2));
  row('fills (maker)', ({ summary }) => `${String(summary.fills)} (${String(summary.makerFills)})`);
  row(
    'orders (rejected)',
    ({ summary }) => `${String(summary.orders)} (${String(summary.rejectedOrders)})`,
  );
  row('refused requests', ({ summary }) => String(summary.refusedRequests));
  row('turnover', ({ summary }) => summary.turnover);
  row('max drawdown', ({ summary }) => summary.maxDrawdown);
  for (const [i, { symbol }] of output.markets.entries()) {
    row(`position ${symbol}`, ({ summary }) => summary.positions[i]?.final ?? '0');
  }
  print(table.toString());
  print(`time     ${((lastUs - firstUs) / 1e6).toFixed(1)} s, ${String(commands)} commands`);
  print(`hashes   chain ${chainHash}`);
  print(`         state ${stateHash}`);
  print(`report   ${page}`);
  print(`journal  ${folder.file('journal')}`);
  print(`verify   npx orrery replay ${folder.file('journal')} --verify`);
}

function benchmarkPnl({ benchmark }: StrategyOutput): number {
  const first = benchmark[0]?.equity ?? 0;
  return (benchmark.at(-1)?.equity ?? first) - first;
}
