/**
 * `npm run bench`: engine throughput relative to nodejs-order-book, the memory of a million resting
 * orders, and the cost of tape, backtests, history, risk and checked runs. `npm run bench --
 * --throughput` runs only the first.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureThroughput, printThroughput } from './throughput.ts';

const options = parseArgs({
  options: { json: { type: 'boolean' }, throughput: { type: 'boolean' } },
}).values;

const json = options.json === true;
const { rows, eventsPerCommand } = measureThroughput();
if (options.throughput === true) {
  if (json) console.log(JSON.stringify({ rows, eventsPerCommand }, null, 2));
  else printThroughput(rows);
  process.exit();
}

/**
 * Runs a script of this folder in its own process, so that earlier measurements do not affect it.
 */
function apart(script: string, ...words: readonly string[]): unknown {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const args = ['--expose-gc', '--import', 'tsx', path, ...words];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}
const memory = apart('./memory.ts') as { orders: number; bytes: number };
const tape = apart('./tape.ts') as {
  rates: Record<'dataset' | 'barsIdle' | 'barsHeld' | 'peerIdle' | 'peerHeld', number>;
  memory: { recorded: number; bars: number };
};
type BacktestRates = Record<'tape' | 'bars' | 'node' | 'help' | 'tiny', number>;
const backtest = Object.assign(
  {},
  ...['tape', 'bars', 'start'].map((group) => apart('./backtest.ts', group)),
) as BacktestRates;
const history = apart('./history.ts') as Record<string, number>;
const risk = apart('./risk.ts') as {
  accounts: number;
  markUs: number;
  scanUs: number;
  fundingMs: number;
}[];

const checkCost = apart('./check-cost.ts') as {
  commands: number;
  requests: number;
  sampledPerSecond: number;
  sampledPerCpuSecond: number;
  campaignPerSecond: number;
  campaignPerCpuSecond: number;
  sampledRatio: number;
  lockstepPerSecond: number;
  lockstepPerCpuSecond: number;
  ratio: number;
};

if (json) {
  console.log(
    JSON.stringify(
      {
        rows,
        memory,
        tape,
        backtest,
        history,
        risk,
        checkCost,
        eventsPerCommand,
      },
      null,
      2,
    ),
  );
} else {
  printThroughput(rows);
  console.log(
    `${memory.orders.toLocaleString('en')} resting orders: ${(memory.bytes / 2 ** 20).toFixed(0)} MiB over an empty exchange ` +
      `(${(memory.bytes / memory.orders).toFixed(0)} bytes an order)`,
  );
  const { dataset, barsIdle, barsHeld, peerIdle, peerHeld } = tape.rates;
  const million = (rate: number): string => `${(rate / 1e6).toFixed(2)} M/s`;
  console.log(
    `recorded levels and trades, from the dataset's files through the book: ${million(dataset)}`,
  );
  console.log(
    `1m bars without positions: ${million(barsIdle)}, ${(barsIdle / peerIdle).toFixed(1)} × grademark 0.3.0; ` +
      `with a position and two brackets: ${million(barsHeld)}, ${(barsHeld / peerHeld).toFixed(1)} ×`,
  );
  console.log(
    `orrery backtest of a strategy without subscriptions, files to journal: ${million(backtest.tape)} levels and trades, ` +
      `${(backtest.tape / dataset).toFixed(2)} × the book alone; 1m bars ${million(backtest.bars)}, ${(backtest.bars / peerIdle).toFixed(1)} × grademark`,
  );
  console.log(
    `memory after a tape ten times as long: ${tape.memory.recorded.toFixed(2)} × recorded, ${tape.memory.bars.toFixed(2)} × bars`,
  );
  console.log(
    `start-up: orrery --help ${backtest.help.toFixed(2)} s, orrery backtest of 100 bars with its report ${backtest.tiny.toFixed(2)} s; ` +
      `node by itself ${backtest.node.toFixed(2)} s`,
  );
  for (const [question, ms] of Object.entries(history)) {
    console.log(`filter over 1,000,000 ended orders, ${question}: ${ms.toFixed(1)} ms`);
  }
  for (const { accounts, markUs, scanUs, fundingMs } of risk) {
    console.log(
      `${accounts.toLocaleString('en')} positions: a mark that liquidates no account ${markUs.toFixed(1)} µs, ` +
        `${(scanUs / markUs).toFixed(0)} × less than a full scan; funding settled in ${fundingMs.toFixed(1)} ms`,
    );
  }
  const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')} a second`;
  console.log(
    `${checkCost.commands.toLocaleString('en')} commands of the fuzzer on one core, every state invariant checked every 64 commands: ` +
      `${perSecond(checkCost.sampledPerSecond)} (${perSecond(checkCost.sampledPerCpuSecond)} of processor time), ` +
      `${checkCost.sampledRatio.toFixed(1)} × the time of the engine alone ` +
      `(orders of batches counted one by one ${perSecond((checkCost.sampledPerSecond * checkCost.requests) / checkCost.commands)}); ` +
      `${perSecond(checkCost.campaignPerSecond)} (${perSecond(checkCost.campaignPerCpuSecond)} of processor time) with generation and coverage counting`,
  );
  console.log(
    `the same in lockstep with the oracle, compared after each: ${perSecond(checkCost.lockstepPerSecond)} ` +
      `(${perSecond(checkCost.lockstepPerCpuSecond)} of processor time), ` +
      `${checkCost.ratio.toFixed(0)} × the time of the engine alone`,
  );
}
