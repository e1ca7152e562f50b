import { fileURLToPath } from 'node:url';
import { join, relative } from 'node:path';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import type { BacktestResult, BacktestSummary } from '../../backtest/result.ts';
import { singleResult } from '../../backtest/single-result.ts';
import { writeReport } from '../../report/html.ts';
import { bundleStrategy } from '../../strategies/bundle.ts';
import { executePlan, type PlanResult } from '../../strategies/plan.ts';
import { isInterrupted, Interrupted, print, printJson, startProgress } from '../manners.ts';

interface DemoArguments {
  readonly out: string;
  readonly data: string;
  readonly json: boolean;
}

const PACKAGE_ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DATASET = join(PACKAGE_ROOT, 'data', 'btcusdt-20240808');
const STRATEGY = join(PACKAGE_ROOT, 'examples', 'strategies', 'quotes.ts');

export const command: CommandModule<object, DemoArguments> = {
  command: 'demo',
  builder: (yargs) =>
    yargs
      .option('out', { type: 'string', default: 'reports/demo', describe: 'folder of the report' })
      .option('data', { type: 'string', default: DATASET, describe: 'dataset to replay' })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 demo', 'run, and open reports/demo/index.html')
      .example('$0 demo --out /tmp/demo --json', 'the summary for a program'),
  handler: async ({ out, data, json }) => {
    const run = await backtest(data, json);
    if (run.output.cancelled) throw new Interrupted('interrupted');
    const result = describe(run, out);
    const journal = join(out, 'journal.orrery');
    await mkdir(out, { recursive: true });
    await writeFile(`${journal}.partial`, run.output.journal);
    await rename(`${journal}.partial`, journal);
    const page = await writeReport(result, out);
    if (json) {
      printJson({ ...result.summary, journal, report: page });
      return;
    }
    print(summaryTable(result.summary));
    print(`report   ${page}`);
    print(`journal  ${journal} (${String(run.output.journal.length)} bytes)`);
    print(`verify   npx orrery replay ${journal} --verify`);
  },
};

/** The same as `orrery backtest examples/strategies/quotes.ts`. */
async function backtest(data: string, quiet: boolean): Promise<PlanResult> {
  const bundle = await bundleStrategy(STRATEGY);
  const progress = startProgress('replay', quiet);
  try {
    return await executePlan(
      {
        data,
        strategies: [{ id: 'demo', bundle, parameters: {} }],
        balance: '10000',
        seed: 'demo',
        sampleUs: 1_000_000,
      },
      {
        journal: 'memory',
        cancelled: isInterrupted,
        onProgress: (fraction) => {
          progress.update(fraction);
        },
      },
    );
  } finally {
    progress.stop();
  }
}

function describe({ output, assumptions, data }: PlanResult, out: string): BacktestResult {
  const { summary, series, fills } = singleResult(output);
  return {
    orrery: 'backtest',
    version: 1,
    title: `${summary.symbol} market maker on recorded data`,
    summary,
    series,
    sampleUs: output.sampleUs,
    fills,
    assumptions,
    data,
    conventions: [
      {
        title: 'PnL',
        text: 'Change of equity with open positions at mark. Trading is realised and unrealised price gains, fees are what was paid to the exchange; the parts sum to the whole to the last 0.000001.',
      },
      {
        title: 'Drawdown',
        text: 'Equity below its earlier high, on one sample a second. Ratios that need many returns (Sharpe, Sortino) say nothing over minutes and are left out.',
      },
      { title: 'Turnover', text: 'Σ size × price of the strategy’s own fills.' },
    ],
    verify: [
      'npm run demo',
      `npx orrery replay ${join(relative(process.cwd(), out) || out, 'journal.orrery')} --verify`,
    ],
  };
}

function summaryTable(summary: BacktestSummary): string {
  const table = new Table({
    colAligns: ['left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const seconds = (summary.lastUs - summary.firstUs) / 1e6;
  table.push(
    ['market', summary.symbol],
    ['strategy', summary.strategy],
    ['recorded time', `${seconds.toFixed(1)} s`],
    ['commands', String(summary.commands)],
    ['PnL', summary.pnl],
    ['  trading', summary.pnlTrading],
    ['  fees', summary.pnlFees],
    ['  funding', summary.pnlFunding],
    ['fills (maker)', `${String(summary.fills)} (${String(summary.makerFills)})`],
    ['orders (rejected)', `${String(summary.orders)} (${String(summary.rejectedOrders)})`],
    ['turnover', summary.turnover],
    ['final position', summary.finalPosition],
    ['max drawdown', summary.maxDrawdown],
    ['mark and index', 'from the recorded book'],
    ['chain hash', summary.chainHash],
    ['state hash', summary.stateHash],
  );
  return table.toString();
}
