import { fileURLToPath } from 'node:url';
import { join, relative } from 'node:path';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import type { BacktestResult, BacktestSummary } from '../../backtest/result.ts';
import { must } from '../../base/assert.ts';
import { runBacktest, type BacktestOutput } from '../../backtest/run.ts';
import { marketMaker, MARKET_MAKER_DEFAULTS } from '../../backtest/strategies/market-maker.ts';
import { DEFAULT_EXCHANGE_CONFIG, parseMarketSpec } from '../../gateway/market-config.ts';
import { durationUs, quanta, timeUs } from '../../num/units.ts';
import { writeReport } from '../../report/html.ts';
import { constantLatency } from '../../sim/latency.ts';
import { openDataset, type DatasetMarket, type TapeReading } from '../../store/dataset-files.ts';
import { addressOfName, keccak } from '../../wallet/ethers-ports.ts';
import {
  InputError,
  isInterrupted,
  Interrupted,
  print,
  printJson,
  startProgress,
} from '../manners.ts';

interface DemoArguments {
  readonly out: string;
  readonly data: string;
  readonly json: boolean;
}

const PACKAGE_ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DATASET = join(PACKAGE_ROOT, 'data', 'btcusdt-20240808');
const DEPOSIT = quanta(10_000_000_000n);
const LATENCY = constantLatency(2_000, 5_000, 5_000, 500);

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
    const { output, market, reading } = await backtest(data, json);
    if (output.cancelled) throw new Interrupted('interrupted');
    const result = describe(output, market, reading, out);
    const journal = join(out, 'journal.orrery');
    await mkdir(out, { recursive: true });
    await writeFile(`${journal}.partial`, output.journal);
    await rename(`${journal}.partial`, journal);
    const page = await writeReport(result, out);
    if (json) {
      printJson({ ...result.summary, journal, report: page });
      return;
    }
    print(summaryTable(result.summary));
    print(`report   ${page}`);
    print(`journal  ${journal} (${String(output.journal.length)} bytes)`);
    print(`verify   npx orrery replay ${journal} --verify`);
  },
};

async function backtest(
  folder: string,
  quiet: boolean,
): Promise<{ output: BacktestOutput; market: DatasetMarket; reading: TapeReading }> {
  const dataset = await openDataset(folder);
  const [market] = dataset.markets;
  if (market === undefined) throw new InputError(`${folder}: no market in it`);
  if (market.inverse) {
    throw new InputError(
      `${folder}: ${market.symbol} is an inverse (coin-margined) contract: it is imported for book checks only and refused for PnL`,
    );
  }
  const spec = parseMarketSpec(
    {
      symbol: market.symbol,
      tickSize: market.tickSize,
      lotSize: market.lotSize,
      initialMargin: '0.02',
      maintenanceMargin: '0.01',
      makerFee: '0.0001',
      takerFee: '0.00035',
      indexSource: 'mid',
      queueModel: 'probPower2',
      impactModel: 'permanent',
    },
    keccak,
  );
  if (!spec.ok) throw new InputError(`${folder}: ${spec.error}`);
  const reading = dataset.read({ markets: [market.symbol] });
  const progress = startProgress('replay', quiet);
  try {
    const output = await runBacktest({
      config: {
        ...DEFAULT_EXCHANGE_CONFIG,
        // The second in which the recording begins.
        genesisTimeUs: timeUs(Math.floor(market.firstUs / 1e6) * 1e6),
      },
      spec: spec.value,
      strategy: marketMaker(),
      account: addressOfName('demo'),
      deposit: DEPOSIT,
      latency: LATENCY,
      tape: reading.commands(),
      keccak,
      yieldMacrotask: () => new Promise((resolve) => setImmediate(resolve)),
      sampleUs: durationUs(1_000_000),
      onProgress: () => {
        progress.update(reading.progress());
      },
      cancelled: isInterrupted,
    });
    return { output, market, reading };
  } finally {
    progress.stop();
  }
}

function describe(
  output: BacktestOutput,
  market: DatasetMarket,
  reading: TapeReading,
  out: string,
): BacktestResult {
  const { summary } = output;
  const ms = (us: number): string => `${String(us / 1000)} ms`;
  const [facts] = reading.facts();
  const { sync, ordering } = must(facts, 'one market is read');
  const levels = market.streams.reduce((sum, stream) => sum + stream.levels, 0);
  const sources = market.streams.map(({ source, licence }) => `${source}. ${licence}`);
  const parameters = MARKET_MAKER_DEFAULTS;
  return {
    orrery: 'backtest',
    version: 1,
    title: `${summary.symbol} market maker on recorded data`,
    summary,
    series: output.series,
    sampleUs: 1_000_000,
    fills: output.fills,
    assumptions: [
      {
        title: 'Mark and index from the recorded book',
        text: 'The recording has no index. The index is the mid of the book at whole seconds, and the mark follows from it; both move with the book that is traded.',
      },
      {
        title: 'Queue position: probPower2',
        text: 'A decrease without a trade stood behind an order with probability b²/(a²+b²), a and b the volume ahead and behind. Trades fill strictly first come, first served.',
      },
      {
        title: 'Impact: permanent',
        text: 'Liquidity that the strategy takes is gone until history empties the level. Other traders do not react.',
      },
      {
        title: 'Latency: constant',
        text: `Feed ${ms(LATENCY.feedUs)}, order entry ${ms(LATENCY.entryUs)}, answer ${ms(LATENCY.responseUs)}, compute ${ms(LATENCY.computeUs)}.`,
      },
      {
        title: 'Fees and margin',
        text: 'Maker 0.01 %, taker 0.035 %; initial margin 2 %, maintenance 1 %. The account starts with 10,000.',
      },
      {
        title: 'Funding: none',
        text: 'The recording is shorter than a funding interval and has no premium index: no funding is paid.',
      },
      {
        title: 'Strategy parameters',
        text: `size ${parameters.size}, at most ${String(parameters.maxQuotes)} quotes of inventory, ${String(parameters.halfSpread)} half ticks from mid, skew ${String(parameters.skew)} half ticks a quote, requote every ${ms(parameters.requoteUs)} when ${String(parameters.moveTicks)} ticks away.`,
      },
    ],
    data: [
      { title: 'Source', text: sources.join('; ') },
      {
        title: 'Counts',
        text: `${String(sync.depths)} depth updates, ${String(sync.trades)} trades, ${String(sync.snapshots)} snapshot, ${String(levels)} levels.`,
      },
      {
        title: 'Gaps',
        text: `${String(sync.gaps)} breaks in the chain of updates, ${String(sync.staleUs / 1e6)} s without a book; ${String(sync.dropped)} updates older than the snapshot dropped.`,
      },
      {
        title: 'Order of lines',
        text: `${String(ordering.outOfOrder)} lines were out of the venue’s time order and are applied in it; ${String(ordering.late)} came too late for that.`,
      },
      {
        title: 'Clock skew',
        text: `Local less venue time is ${ms(ordering.minFeedLatencyUs)} to ${ms(ordering.maxFeedLatencyUs)}: the recorder’s clock ran behind. Feed latency is taken from the model, not from the recording.`,
      },
    ],
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
