/** `orrery backtest`: runs strategies on recorded data in the exchange engine. */
import { join } from 'node:path';
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import { countText } from '../../base/count-text.ts';
import type { StrategyOutput } from '../../backtest/output.ts';
import type { ReportAbout } from '../../report/report.ts';
import { PackedJournal } from '../../report/packed-journal.ts';
import type { WrittenReport } from '../../report/write.ts';
import type { PlanPorts, PlanResult } from '../../run-plan/plan.ts';
import type { RunPlan } from '../../run-plan/run-plan.ts';
import { noBookText, noBookUs } from '../../backtest/no-book.ts';
import { bundleHashes } from '../../run-plan/bundle-hashes.ts';
import { makeFreeFolder, mustHoldNoRun, RunFolder } from '../../run-plan/run-folder.ts';
import {
  InputError,
  Interrupted,
  isInterrupted,
  isInterruptOld,
  print,
  printError,
  printJson,
  startProgress,
} from '../cli-support.ts';
import { duration, ratio } from '../../design/number-text.ts';
import { divergenceText, listed } from '../../report/text.ts';
import { factsTable } from '../facts-table.ts';
import { keepHeapLean } from '../../platform/lean-heap.ts';
import { limitHandlers } from '../handler-limit.ts';
import { planOf, RUN_OPTIONS, type RunArguments } from '../run-options.ts';
import { shellWord } from '../../platform/shell-word.ts';

interface BacktestArguments extends RunArguments {
  readonly strategy: readonly string[] | undefined;
  readonly out: string | undefined;
  readonly name: string | undefined;
  readonly overwrite: boolean;
  readonly journal: boolean;
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
        describe: 'strategy files (TypeScript); each trades with its own account',
      })
      .options(RUN_OPTIONS)
      .option('agents', {
        type: 'string',
        describe: 'population of agents (YAML) that simulates a market, instead of --data',
      })
      .option('out', {
        type: 'string',
        describe: 'output folder; default reports/<name>',
      })
      .option('name', {
        type: 'string',
        describe: 'name of the run; default: that of the strategy, with a number if it is taken',
      })
      .option('overwrite', {
        type: 'boolean',
        default: false,
        describe: 'replace an earlier run in the output folder',
      })
      .option('journal', {
        type: 'boolean',
        default: true,
        describe:
          'keep the journal; without it (--no-journal) the run cannot be verified or explained',
      })
      .option('resume', {
        type: 'string',
        describe: 'resume the stopped run in this folder',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 backtest examples/strategies/sma-cross.ts --data data/btcusdt-20240808', '')
      .example(
        '$0 backtest my.ts --data btc --param fast=12 --latency recorded --queue probLog',
        '',
      )
      .example(
        '$0 backtest my.ts --data btc-1d --bars quote=nextOpen,spread=0 --latency none',
        'fill at the next open',
      )
      .example('$0 backtest --agents examples/populations/mixed.yaml', 'simulate a market')
      .example('$0 backtest --resume reports/my', 'resume a run stopped by Ctrl-C'),
  handler: async (options) => {
    // Makes local time identical on every machine.
    process.env['TZ'] = 'UTC';
    keepHeapLean();
    const preparing = prepare(options);
    // Modules of the run are loaded while the bundler works.
    const loading = import('../../run-plan/plan.ts');
    const { data } = options;
    if (data !== undefined) {
      const opening = import('../../tape-files/dataset-files.ts');
      void opening.then(({ startDecoding }) => startDecoding(data));
    }
    const prepared = await preparing.finally(() => loading);
    try {
      await run(prepared, options.json, (await loading).executePlan);
    } finally {
      prepared.folder.release();
    }
  },
};

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function run(
  { folder, plan, checkpoint }: Prepared,
  json: boolean,
  executePlan: (plan: RunPlan, ports: PlanPorts) => Promise<PlanResult>,
): Promise<void> {
  const progress = startProgress('backtest', json);
  const abandon = (): void => {
    folder.abandon();
  };
  process.once('exit', abandon);
  // That of a resumed run is compressed as a whole.
  const packed = plan.journal === false || checkpoint !== null ? null : new PackedJournal();
  let result: PlanResult;
  try {
    result = await executePlan(plan, {
      journal: journalTo(folder.target, packed),
      resume: checkpoint,
      cancelled: isInterrupted,
      hurried: isInterruptOld,
      onProgress: (fraction) => {
        progress.update(fraction);
      },
    });
  } catch (error) {
    folder.abandon();
    throw error;
  } finally {
    process.off('exit', abandon);
    progress.stop();
  }
  if (result.output.cancelled) {
    const kept = await folder.stop(result.output.checkpoint);
    printError(
      kept
        ? `stopped; resume with: orrery backtest --resume ${shellWord(folder.path)}`
        : 'stopped; it cannot be resumed: a strategy has no save and load, or awaited a response',
    );
    throw new Interrupted('interrupted');
  }
  report(result, folder, { ...(await writeFiles(result, folder, plan, packed)), json, plan });
}

function journalTo(target: RunFolder['target'], packed: PackedJournal | null): RunFolder['target'] {
  if (target === 'none' || packed === null) return target;
  return (bytes) => {
    target(bytes);
    packed.add(bytes);
  };
}

async function prepare(options: BacktestArguments): Promise<{
  folder: RunFolder;
  plan: RunPlan;
  checkpoint: Awaited<ReturnType<typeof RunFolder.resume>>['checkpoint'] | null;
}> {
  if (options.resume !== undefined) {
    if (options.strategy !== undefined && options.strategy.length > 0) {
      throw new InputError('--resume uses the strategies of its run; do not name others');
    }
    for (const option of ['out', 'name', 'data', 'agents'] as const) {
      if (options[option] === undefined) continue;
      throw new InputError(`--resume continues a run with its own settings; drop --${option}`);
    }
    limitHandlers(options);
    return RunFolder.resume(options.resume);
  }
  const { out, name, overwrite } = options;
  if (out !== undefined && name !== undefined) {
    throw new InputError('--out and --name exclude each other: --name x is --out reports/x');
  }
  if (name !== undefined && !NAME.test(name)) {
    throw new InputError(
      `--name '${name}': must be letters, digits, '.', '_' and '-', at most 100`,
    );
  }
  const given = out ?? (name === undefined ? undefined : join('reports', name));
  // Before the data are read, so that nothing is lost by a clash.
  if (given !== undefined) await mustHoldNoRun(given, overwrite);
  const planned = await planOf(options.strategy ?? [], options);
  const plan = options.journal ? planned : { ...planned, journal: false };
  const usual = join('reports', plan.strategies[0]?.id ?? 'agents');
  const path = given ?? (overwrite ? usual : await makeFreeFolder(usual));
  return { folder: await RunFolder.create(path, plan, overwrite), plan, checkpoint: null };
}

const NAME = /^\w[\w.-]{0,99}$/;

/** Figures of a strategy's report that the command prints. */
interface Figures {
  /** Null for a run of less than a day. */
  readonly sharpe: number | null;
  /** Closed trades, and those with a gain. */
  readonly trades: number;
  readonly won: number;
}

interface WrittenPage {
  readonly page: string;
  readonly figures: ReadonlyMap<string, Figures>;
}

/**
 * Writes the run and its pages at the same time: each file waits for the disk. The report is
 * written last. A page that fails does not stop the others. The report is imported lazily: most
 * commands write none.
 */
async function writeFiles(
  result: PlanResult,
  folder: RunFolder,
  plan: RunPlan,
  packed: PackedJournal | null,
): Promise<WrittenPage> {
  const ended = handledLater(folder.endJournal());
  const { sharpeOf } = await import('../../report/sections/figures.ts');
  const { writeRunPage } = await import('../../report/run-page.ts');
  const journal = plan.journal === false ? null : folder.file('journal');
  const timeMachine =
    packed === null
      ? ended.then(() => writeRunPage(folder.path, journal))
      : writeRunPage(folder.path, packed);
  const run = ended.then(() => folder.finish(result));
  const others = handledLater(Promise.all([timeMachine, run]));
  const report = writeReportOf(result, folder, plan, others);
  await Promise.allSettled([timeMachine, run, report]);
  await timeMachine;
  await run;
  const written = await report;
  const figures = written.report.strategies.map(({ id, metrics, trades }): [string, Figures] => {
    const won = trades.filter(({ pnl }) => pnl > 0).length;
    return [id, { sharpe: sharpeOf(metrics), trades: trades.length, won }];
  });
  return { page: written.page, figures: new Map(figures) };
}

/** The promise, whose rejection is reported where it is awaited, not before. */
function handledLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

async function writeReportOf(
  result: PlanResult,
  folder: RunFolder,
  plan: RunPlan,
  others: Promise<unknown>,
): Promise<WrittenReport> {
  const { reportOptions } = await import('../../report/report.ts');
  const { writeReport } = await import('../../report/write.ts');
  const about = aboutOf(result, folder, plan, reportOptions(result.output));
  return writeReport(result.output, about, folder.path, others);
}

function aboutOf(
  { output, assumptions, data }: PlanResult,
  folder: RunFolder,
  plan: RunPlan,
  options: ReportAbout['options'],
): ReportAbout {
  const symbols = listed(output.markets.map(({ symbol }) => symbol));
  return {
    title: `${listed(output.strategies.map(({ name }) => name)) || 'Agents'} on ${symbols}`,
    isEndogenous: plan.population !== undefined,
    assumptions,
    data,
    verify:
      plan.journal === false
        ? []
        : [`npx orrery replay ${shellWord(folder.file('journal'))} --verify`],
    bundle: bundleHashes(plan.strategies),
    options,
    trials: null,
  };
}

function report(
  { output, data, stylisedFacts }: PlanResult,
  folder: RunFolder,
  { page, figures, json, plan }: WrittenPage & { readonly json: boolean; readonly plan: RunPlan },
): void {
  const { chainHash, stateHash, commands, firstUs, lastUs } = output;
  if (json) {
    printJson({
      firstUs,
      lastUs,
      commands,
      chainHash,
      stateHash,
      divergence: output.markets.map(({ symbol, divergence }) => ({ symbol, ...divergence })),
      strategies: output.strategies.map((strategy) => ({
        id: strategy.id,
        name: strategy.name,
        parameters: strategy.parameters,
        ...strategy.summary,
        benchmarkPnl: benchmarkPnl(strategy),
      })),
      warnings: data.flatMap(({ text, isWarning }) => (isWarning ? [text] : [])),
      ...(stylisedFacts.length === 0 ? {} : { stylisedFacts }),
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
  row('Sharpe, a year', ({ id }) => ratio(figures.get(id)?.sharpe ?? null));
  row('trades (won)', ({ id }) => {
    const { trades, won } = figures.get(id) ?? { trades: 0, won: 0 };
    return `${String(trades)} (${String(won)})`;
  });
  row('fills (maker)', ({ summary }) => `${String(summary.fills)} (${String(summary.makerFills)})`);
  row(
    'orders (rejected)',
    ({ summary }) => `${String(summary.orders)} (${String(summary.rejectedOrders)})`,
  );
  row('rejected requests', ({ summary }) => String(summary.refusedRequests));
  row('turnover', ({ summary }) => summary.turnover);
  row('max drawdown', ({ summary }) => summary.maxDrawdown);
  for (const [i, { symbol }] of output.markets.entries()) {
    row(`position ${symbol}`, ({ summary }) => summary.positions[i]?.final ?? '0');
  }
  if (output.strategies.length > 0) print(table.toString());
  for (const { id, summary } of output.strategies) {
    for (const { request, status, count, message } of summary.refusals.slice(0, MOST_REFUSALS)) {
      print(
        `rejected ${id}: ${request} ${String(count)} times with ${String(status)}, such as: ${message}`,
      );
    }
  }
  for (const { id, summary } of output.strategies) {
    if (summary.transfers === '0') continue;
    print(
      `moved    ${id}: transfers of ${summary.transfers}; what becomes of money elsewhere is not shown`,
    );
  }
  for (const { symbol, divergence } of output.markets) {
    if (stylisedFacts.length === 0) print(`diverges ${divergenceText(divergence, symbol)}`);
  }
  for (const { text, isWarning } of data) if (isWarning) print(`warning  ${text}`);
  for (const facts of stylisedFacts) print(factsTable(facts));
  for (const market of output.markets) {
    const us = noBookUs(market);
    if (us > 0) print(`gaps     ${market.symbol}: ${noBookText(us)}`);
  }
  print(`time     ${duration(lastUs - firstUs)}, ${countText(commands, 'command')}`);
  print(`hashes   chain ${chainHash}`);
  print(`         state ${stateHash}`);
  print(`report   ${page}`);
  if (plan.journal === false) return;
  print(`journal  ${folder.file('journal')}`);
  const fill = output.strategies.flatMap(({ fills }) => fills)[0];
  const order = output.strategies.flatMap(({ orders }) => orders)[0];
  const what =
    fill !== undefined
      ? `fill:${String(fill.fillId)}`
      : order === undefined
        ? null
        : `'#${String(order.orderNumber)}'`;
  if (what !== null) print(`explain  npx orrery explain ${shellWord(folder.path)} ${what}`);
  print(`verify   npx orrery replay ${shellWord(folder.file('journal'))} --verify`);
}

/** Kinds of rejected requests that are printed. */
const MOST_REFUSALS = 3;

function benchmarkPnl({ benchmark }: StrategyOutput): number {
  const first = benchmark[0]?.equity ?? 0;
  return (benchmark.at(-1)?.equity ?? first) - first;
}
