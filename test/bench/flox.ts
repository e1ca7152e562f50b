/**
 * The limits of `limits.ts` on the engine, beside the venue of FLOX on the same limits:
 *
 *     git clone https://github.com/FLOX-Foundation/flox <checkout>
 *     npm run bench:flox -- --flox <checkout> [--rounds 5]
 *
 * Compiles `flox/venue.cpp` against the checkout (g++ with C++23). Each contestant is a process of
 * its own that plays the 2,000,000 orders once for each round, on a new exchange. They take turns,
 * on one core where `taskset` exists. Figures are orders a second of processor time, medians, and
 * ratios to FLOX; the numbers of trades and lots are compared.
 *
 * Without a self-trade rule FLOX trades 2 % more. `margin` is the work nearest to the engine's,
 * which also has fees, histories, candles, windows of nonces and a chain hash of the state.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { EngineEvent } from '../../src/engine/events.ts';
import { ORDERS, playLimits, TRADED_LOTS, TRADES } from './limits.ts';
import { raiseLongRunLimits } from './long-run-limits.ts';
import { median } from './measure.ts';

const WARMING = 3;
/** Trades and lots of FLOX without a self-trade rule. */
const STOCK_TRADES = 1_298_646;
const STOCK_LOTS = 2_357_572;

interface Work {
  readonly trades: number;
  readonly lots: number;
}

interface Played extends Work {
  readonly seconds: number;
}

/** One round of the engine. */
function playEngine(counts: boolean): Played {
  let trades = 0;
  let lots = 0;
  const sink = (event: EngineEvent): void => {
    if (event.kind !== 'tradePrinted') return;
    trades += 1;
    lots += Math.abs(event.lots);
  };
  const seconds = playLimits(counts ? sink : undefined);
  return { seconds, trades, lots };
}

/** A process that answers each line with a round. */
class Contestant {
  readonly name: string;
  readonly seconds: number[] = [];
  private readonly work: Work;
  private readonly answers: AsyncIterator<string>;
  private readonly lines: Interface;
  private readonly child: ChildProcess;

  constructor(name: string, command: string, words: readonly string[], work: Work) {
    this.name = name;
    this.work = work;
    const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.child = child;
    this.lines = createInterface({ input: child.stdout });
    this.answers = this.lines[Symbol.asyncIterator]();
  }

  async play(isCounted: boolean): Promise<void> {
    this.child.stdin?.write('\n');
    const answer = await this.answers.next();
    if (answer.done === true) throw new Error(`${this.name} ended`);
    const [seconds = NaN, trades, lots] = answer.value.split(' ').map(Number);
    if (trades !== this.work.trades || lots !== this.work.lots) {
      throw new Error(`${this.name}: ${String(trades)} trades of ${String(lots)} lots`);
    }
    if (isCounted) this.seconds.push(seconds);
  }

  end(): void {
    this.child.stdin?.end();
    this.lines.close();
  }
}

async function serveRounds(mode: string): Promise<void> {
  raiseLongRunLimits();
  // The engine alone has no sink that counts, so its trades are counted once, before.
  const counted = playEngine(true);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  while ((await lines.next()).done !== true) {
    const { seconds, trades, lots } = playEngine(mode === 'sink');
    const work = mode === 'sink' ? { trades, lots } : counted;
    console.log(`${String(seconds)} ${String(work.trades)} ${String(work.lots)}`);
  }
}

function build(checkout: string, folder: string): string {
  const header = join(checkout, 'venue/include/flox-venue/matching_engine.h');
  if (!existsSync(header)) {
    throw new Error(`--flox: ${checkout} is no checkout of FLOX: it lacks ${header}`);
  }
  const program = join(folder, 'venue');
  const source = fileURLToPath(new URL('flox/venue.cpp', import.meta.url));
  const includes = ['venue/include', 'include'].map((path) => `-I${join(checkout, path)}`);
  const { status, error } = spawnSync(
    'g++',
    ['-std=c++23', '-O3', '-march=native', ...includes, source, '-o', program],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  if (error !== undefined) throw new Error('g++ is missing; install the Debian package g++');
  if (status !== 0) throw new Error('g++ failed');
  return program;
}

async function compare(checkout: string, rounds: number): Promise<void> {
  const core = String(availableParallelism() - 1);
  spawnSync('taskset', ['-pc', core, String(process.pid)]);
  const folder = mkdtempSync(join(tmpdir(), 'orrery-flox-'));
  const same = { trades: TRADES, lots: TRADED_LOTS };
  const stock = { trades: STOCK_TRADES, lots: STOCK_LOTS };
  const script = process.argv[1] ?? '';
  try {
    const program = build(checkout, folder);
    const engine = (name: string, mode: string): Contestant =>
      new Contestant(name, process.execPath, [...process.execArgv, script, mode], same);
    const contestants = [
      new Contestant('FLOX, stock', program, ['stock'], stock),
      new Contestant('FLOX, same self-trade rule', program, ['stp'], same),
      new Contestant('FLOX, with ledger and margin', program, ['margin'], same),
      engine('Orrery', 'alone'),
      engine('Orrery, with a sink', 'sink'),
    ];
    for (let round = 0; round < WARMING + rounds; round++) {
      // In changing order: the last one may find the core warmer than the first.
      const order = round % 2 === 0 ? contestants : [...contestants].reverse();
      for (const contestant of order) await contestant.play(round >= WARMING);
      console.error(`round ${String(round + 1)} of ${String(WARMING + rounds)}`);
    }
    for (const contestant of contestants) contestant.end();
    print(contestants);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function print(contestants: readonly Contestant[]): void {
  const rates = contestants.map(({ name, seconds }) => {
    const middle = median(seconds);
    return {
      name,
      perSecond: ORDERS / middle,
      spread: (Math.max(...seconds) - Math.min(...seconds)) / middle,
    };
  });
  const peers = rates.slice(0, 3);
  const heads = ['/ stock', '/ same rule', '/ margin'];
  const head = ['orders a second of processor time', 'rate', 'spread', ...heads];
  const rows = rates.map(({ name, perSecond, spread }) => [
    name,
    `${(perSecond / 1e6).toFixed(2)} M`,
    `${(spread * 100).toFixed(0)} %`,
    ...peers.map((peer) => (perSecond / peer.perSecond).toFixed(2)),
  ]);
  for (const [name = '', ...cells] of [head, ...rows]) {
    console.log([name.padEnd(34), ...cells.map((cell) => cell.padStart(11))].join(' '));
  }
}

const mode = process.argv[2];
if (mode === 'alone' || mode === 'sink') await serveRounds(mode);
else {
  const { flox, rounds } = parseArgs({
    options: { flox: { type: 'string' }, rounds: { type: 'string', default: '5' } },
  }).values;
  const count = Number(rounds);
  try {
    if (flox === undefined) throw new Error('--flox <checkout> is missing');
    if (!Number.isInteger(count) || count < 1) throw new Error('--rounds: a whole number ≥ 1');
    await compare(flox, count);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
