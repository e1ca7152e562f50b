import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { join, relative } from 'node:path';
import Table from 'cli-table3';
import type { CommandModule } from 'yargs';
import { must } from '../../base/assert.ts';
import { reportOptions, type Report, type ReportAbout } from '../../report/report.ts';
import { writeReport } from '../../report/write.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { bundleStrategy } from '../../strategy-loader/bundle.ts';
import { executePlan, type PlanResult } from '../../run-plan/plan.ts';
import { claimFolder, mustHoldNoRun, removeRun } from '../../run-plan/run-folder.ts';
import { writeRunPage } from '../../report/run-page.ts';
import { isInterrupted, Interrupted, print, printJson, startProgress } from '../cli-support.ts';
import { shellWord } from '../../platform/shell-word.ts';

interface DemoArguments {
  readonly out: string;
  readonly data: string;
  readonly overwrite: boolean;
  readonly json: boolean;
}

const PACKAGE_ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DATASET = join(PACKAGE_ROOT, 'data', 'btcusdt-20240808');
/** Default of `--out`. */
const USUAL = 'reports/demo';
const STRATEGY = join(PACKAGE_ROOT, 'examples', 'strategies', 'quotes.ts');

export const command: CommandModule<object, DemoArguments> = {
  command: 'demo',
  builder: (yargs) =>
    yargs
      .option('out', { type: 'string', default: USUAL, describe: 'folder of the report' })
      .option('data', {
        type: 'string',
        default: DATASET,
        defaultDescription: 'the sample data of the package',
        describe: 'dataset to replay',
      })
      .option('overwrite', {
        type: 'boolean',
        default: false,
        describe: 'replace an earlier run in the output folder',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print one JSON object' })
      .example('$0 demo', 'run, then open reports/demo/index.html')
      .example('$0 demo --out /tmp/demo --json', 'print the summary as JSON'),
  handler: async ({ out, data, overwrite, json }) => {
    const replaces = overwrite || (await holdsDemo(out));
    await mustHoldNoRun(out, replaces);
    const run = await backtest(data, json);
    if (run.output.cancelled) throw new Interrupted('interrupted');
    const journal = join(out, 'journal.orrery');
    const claim = await claimFolder(out, replaces);
    const { report, page } = await writeDemo(run, { out, data, replaces }).finally(() => {
      claim.release();
    });
    if (json) {
      const { chainHash, stateHash, commands } = run.output;
      printJson({
        ...report.strategies[0]?.summary,
        commands,
        chainHash,
        stateHash,
        journal,
        report: page,
      });
      return;
    }
    print(summaryTable(report));
    print(`report   ${page}`);
    print(`journal  ${journal} (${String(run.output.journal.length)} bytes)`);
    print(`verify   npx orrery replay ${shellWord(journal)} --verify`);
    print(`explore  npx orrery inspect ${shellWord(out)} --open`);
  },
};

/** Whether a former demonstration wrote the folder: it has a report, but no record. */
async function holdsDemo(out: string): Promise<boolean> {
  const names = await readdir(out).catch(() => [] as string[]);
  const has = (name: string): boolean => names.includes(name);
  return has('journal.orrery') && has('report.json') && !has('run.json') && !has('live.json');
}

/** Writes the journal, the page of the run and the report. */
async function writeDemo(
  run: PlanResult,
  { out, data, replaces }: { out: string; data: string; replaces: boolean },
): Promise<Awaited<ReturnType<typeof writeReport>>> {
  const journal = join(out, 'journal.orrery');
  if (replaces) await removeRun(out);
  await writeWholeFile(journal, run.output.journal);
  await writeRunPage(out, journal);
  return writeReport(run.output, aboutOf(run, { out, data }), out);
}

/** Equals `orrery backtest examples/strategies/quotes.ts`. */
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

function aboutOf(
  { output, assumptions, data: notes }: PlanResult,
  { out, data }: Pick<DemoArguments, 'out' | 'data'>,
): ReportAbout {
  const folder = relative(process.cwd(), out) || out;
  const options = [
    ...(folder === USUAL ? [] : [`--out ${shellWord(folder)}`]),
    ...(data === DATASET ? [] : [`--data ${shellWord(data)}`]),
  ];
  return {
    title: `${output.markets[0]?.symbol ?? ''} market maker on recorded data`,
    assumptions,
    data: notes,
    verify: [
      ['npx orrery demo', ...options].join(' '),
      `npx orrery replay ${shellWord(join(folder, 'journal.orrery'))} --verify`,
    ],
    bundle: {},
    options: reportOptions(output),
    trials: null,
  };
}

function summaryTable(report: Report): string {
  const strategy = must(report.strategies[0], 'the demo has a strategy');
  const { summary } = strategy;
  const table = new Table({
    colAligns: ['left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const seconds = (report.lastUs - report.firstUs) / 1e6;
  table.push(
    ['market', strategy.symbols.join(', ')],
    ['strategy', strategy.name],
    ['recorded time', `${seconds.toFixed(1)} s`],
    ['commands', String(report.commands)],
    ['PnL', summary.pnl],
    ['  trading', summary.pnlTrading],
    ['  fees', summary.pnlFees],
    ['  funding', summary.pnlFunding],
    ['fills (maker)', `${String(summary.fills)} (${String(summary.makerFills)})`],
    ['orders (rejected)', `${String(summary.orders)} (${String(summary.rejectedOrders)})`],
    ['turnover', summary.turnover],
    ['final position', summary.positions[0]?.final ?? '0'],
    ['max drawdown', summary.maxDrawdown],
    ['mark and index', 'from the recorded book'],
    ['chain hash', report.chainHash],
    ['state hash', report.stateHash],
  );
  return table.toString();
}
