/**
 * `npm run bench`: engine throughput beside nodejs-order-book, backtests beside grademark, the
 * memory of a million resting orders, their restore, and the cost of tape, history, risk and checked runs. Writes
 * `reports/bench/latest.json`, or the file of `--out`. `--compare <file>` prints the change of each
 * rate since a file, and fails if one fell by more than its spread and 3 %. `--throughput` runs only
 * the first. Runs on one core where `taskset` exists.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { changesOf, type Recorded } from './compare.ts';
import type { Row } from './measure.ts';
import { measureThroughput, printRows, printThroughput } from './throughput.ts';

const options = parseArgs({
  options: {
    json: { type: 'boolean' },
    throughput: { type: 'boolean' },
    out: { type: 'string' },
    compare: { type: 'string' },
  },
}).values;
const json = options.json === true;

// A process that moves between cores loses its caches.
const core = String(availableParallelism() - 1);
const isPinned = spawnSync('taskset', ['-pc', core, String(process.pid)]).status === 0;

const before =
  options.compare === undefined
    ? null
    : (JSON.parse(readFileSync(options.compare, 'utf8')) as Recorded);
const throughput = await measureThroughput();
if (options.throughput === true) {
  finish({ rows: throughput.rows });
  if (json) console.log(JSON.stringify(throughput, null, 2));
  else printThroughput(throughput);
  process.exit();
}

/** Writes the rates, and compares them with those of `--compare`. */
function finish(measured: Pick<Recorded, 'rows'>): void {
  const file =
    options.out ?? fileURLToPath(new URL('../../reports/bench/latest.json', import.meta.url));
  const recorded: Recorded = {
    node: process.version,
    processor: cpus()[0]?.model ?? 'unknown',
    isPinned,
    ...measured,
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
  if (before === null) return;
  const { lines, isSlower } = changesOf(before, recorded);
  console.error(lines.join('\n'));
  if (isSlower) process.exitCode = 1;
}

/**
 * Runs a script of this folder in its own process, so that earlier measurements do not affect it.
 */
function apart(script: string, ...words: readonly string[]): unknown {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const args = [...process.execArgv, path, ...words];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}
const memory = apart('./memory.ts') as { orders: number; bytes: number };
const restored = apart('./restore.ts') as {
  orders: number;
  snapshot: { processorMs: number };
  restore: { processorMs: number };
};
const tape = apart('./tape.ts') as {
  rates: Record<'dataset' | 'barsIdle' | 'barsHeld', number>;
  memory: { recorded: number; bars: number };
};
type BacktestRates = Record<'tape' | 'bars' | 'node' | 'help' | 'tiny', number>;
const backtest = Object.assign(
  {},
  ...['tape', 'bars', 'start'].map((group) => apart('./backtest.ts', group)),
) as BacktestRates;
const backtests = apart('./backtests.ts') as Row[];
finish({ rows: [...throughput.rows, ...backtests] });
const history = apart('./history.ts') as Record<string, number>;
const risk = apart('./risk.ts') as {
  accounts: number;
  markUs: number;
  scanUs: number;
  fundingMs: number;
}[];
const clearing = apart('./clearing.ts') as { units: number; unitUs: number }[];

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
        ...throughput,
        backtests,
        memory,
        restored,
        tape,
        backtest,
        history,
        risk,
        clearing,
        checkCost,
      },
      null,
      2,
    ),
  );
} else {
  printThroughput(throughput);
  printRows('one-minute bars', backtests);
  console.log(
    `${memory.orders.toLocaleString('en')} resting orders: ${(memory.bytes / 2 ** 20).toFixed(0)} MiB over an empty exchange ` +
      `(${(memory.bytes / memory.orders).toFixed(0)} bytes an order)`,
  );
  console.log(
    `${restored.orders.toLocaleString('en')} live orders: snapshot ${String(restored.snapshot.processorMs)} ms, ` +
      `restore ${String(restored.restore.processorMs)} ms of processor time`,
  );
  const { dataset, barsIdle, barsHeld } = tape.rates;
  const million = (rate: number): string => `${(rate / 1e6).toFixed(2)} M/s`;
  console.log(
    `recorded levels and trades, from the dataset's files through the book: ${million(dataset)}`,
  );
  console.log(
    `the engine alone on 1m bars without positions: ${million(barsIdle)}; ` +
      `with a position and two brackets: ${million(barsHeld)}`,
  );
  console.log(
    `orrery backtest of a strategy without subscriptions, files to journal: ${million(backtest.tape)} levels and trades, ` +
      `${(backtest.tape / dataset).toFixed(2)} × the book alone; 1m bars ${million(backtest.bars)}`,
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
  for (const { units, unitUs } of clearing) {
    console.log(
      `${units.toLocaleString('en')} accounts taken below zero by one price: cleared in ${unitUs.toFixed(0)} µs each`,
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
