/**
 * Throughput as ratios to nodejs-order-book on the same order flow in the same run. Contestants
 * alternate, so that a slow phase of the machine affects all. Prints medians of wall time and of
 * processor time.
 */
import Table from 'cli-table3';
import { OrderBook, Side } from 'nodejs-order-book';
import { JournalReader, JournalWriter } from '../../src/journal/format/frames.ts';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { seq } from '../../src/num/units.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { BareBook } from './bare-book.ts';
import { ReadAhead } from '../../src/journal/format/read-ahead.ts';
import { RecordedExchange } from '../../src/journal/replay/recorded-exchange.ts';
import { CONFIG, Flow, openExchange, openingCommands } from './engine-flow.ts';
import { makeMix } from './mix.ts';

// As in `orrery`; the peer gets the same limits.
raiseInliningLimits();

const ROUNDS = 5;
/** Uncounted warm-up rounds: the engine is fully compiled after the second. */
const WARMING = 2;
const OPERATIONS = 400_000;
/** The peer is slower by two orders of magnitude: it gets the first part of the same flow. */
const PEER_OPERATIONS = 60_000;
/** Commands generated at a time, outside the timing. */
const BLOCK = 1000;

const mix = makeMix(OPERATIONS);
const flow = new Flow(mix);
const opening = openingCommands();
const bytes = journalOfAll();

function journalOfAll(): Uint8Array {
  const journal = new JournalWriter(CONFIG);
  let number = 0;
  const write = (command: Command): void => {
    journal.append(seq(++number), command);
  };
  opening.forEach(write);
  for (let i = 0; i < mix.count; i++) flow.commands(i, i + 1).forEach(write);
  return journal.bytes();
}

/**
 * Operations per second of wall time and of processor time; the latter is stable under other load.
 */
interface Rate {
  readonly wall: number;
  readonly cpu: number;
}

interface Contestant {
  readonly name: string;
  readonly round: () => Rate;
  readonly figures: Rate[];
}

/**
 * Keeps each contestant's last state alive. V8 discards compiled code of a class once its last
 * object is collected, so every round would start with recompilation. A process with a live book
 * never does.
 */
const worlds = new Map<string, unknown>();

/** Measures parts of a round. */
class Watch {
  private wallMs = 0;
  private cpuUs = 0;

  time(run: () => void): void {
    const before = process.cpuUsage();
    const started = performance.now();
    run();
    this.wallMs += performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    this.cpuUs += user + system;
  }

  rate(operations: number): Rate {
    return { wall: operations / (this.wallMs / 1e3), cpu: operations / (this.cpuUs / 1e6) };
  }
}

function perSecond(operations: number, run: () => void): Rate {
  globalThis.gc?.();
  const watch = new Watch();
  watch.time(run);
  return watch.rate(operations);
}

function peer(): Rate {
  const book = new OrderBook();
  worlds.set('peer', book);
  const apply = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      if (mix.kind[i] === 1) {
        book.cancel(String(mix.id[i]));
        continue;
      }
      const size = mix.lots[i] ?? 0;
      book.limit({
        id: String(mix.id[i]),
        side: size > 0 ? Side.BUY : Side.SELL,
        size: Math.abs(size),
        price: mix.price[i] ?? 0,
        ...(mix.kind[i] === 2 ? { timeInForce: 'IOC' as never } : {}),
      });
    }
  };
  apply(0, mix.warmUp);
  return perSecond(PEER_OPERATIONS, () => {
    apply(mix.warmUp, mix.warmUp + PEER_OPERATIONS);
  });
}

function bareBook(): Rate {
  const book = new BareBook();
  worlds.set('bareBook', book);
  const apply = (from: number, to: number): void => {
    for (let i = from; i < to; i++) {
      const id = mix.id[i] ?? 0;
      if (mix.kind[i] === 1) book.cancel(id);
      else book.place(id, mix.lots[i] ?? 0, mix.price[i] ?? 0, mix.kind[i] === 2);
    }
  };
  apply(0, mix.warmUp);
  return perSecond(OPERATIONS, () => {
    apply(mix.warmUp, mix.count);
  });
}

let events = 0;
let chainHash = '';
const count = (): void => {
  events += 1;
};

/** Commands per second of the whole flow; each block is generated before its timing. */
function flowPerSecond(apply: (command: Command) => void): Rate {
  globalThis.gc?.();
  const watch = new Watch();
  for (let from = mix.warmUp; from < mix.count; from += BLOCK) {
    const commands = flow.commands(from, Math.min(from + BLOCK, mix.count));
    watch.time(() => {
      for (const command of commands) apply(command);
    });
  }
  return watch.rate(OPERATIONS);
}

/** Every event enters the chain hash; frequent ones are allocated only if a sink is attached. */
function engine(): Rate {
  const exchange = openExchange();
  worlds.set('engine', exchange);
  for (const command of flow.commands(0, mix.warmUp)) exchange.apply(command);
  const rate = flowPerSecond((command) => exchange.apply(command));
  chainHash = exchange.chainHash();
  return rate;
}

function withSink(): Rate {
  const exchange = openExchange();
  worlds.set('withSink', exchange);
  for (const command of flow.commands(0, mix.warmUp)) exchange.apply(command);
  events = 0;
  const rate = flowPerSecond((command) => exchange.apply(command, count));
  if (exchange.chainHash() !== chainHash) throw new Error('a run with a sink diverges');
  return rate;
}

/** As a running exchange: each command is journalled, then applied. */
function recorded(): Rate {
  const exchange = new RecordedExchange(CONFIG, { checkpointEvery: 0 });
  worlds.set('recorded', exchange);
  for (const command of opening) exchange.submit(command);
  for (const command of flow.commands(0, mix.warmUp)) exchange.submit(command);
  const rate = flowPerSecond((command) => exchange.submit(command));
  if (exchange.engine.chainHash() !== chainHash)
    throw new Error('the recorded run diverges from the plain one');
  return rate;
}

function fromBytes(): Rate {
  const reader = new JournalReader(bytes);
  const exchange = new Exchange(reader.header.config);
  worlds.set('fromBytes', exchange);
  const ahead = new ReadAhead(reader);
  // As `replay`. Read-ahead counts in the timed part.
  let next = 0;
  const replay = (until: number): void => {
    while (exchange.seq < until) {
      if (next === ahead.count) {
        if (!ahead.fill()) break;
        next = 0;
      }
      const frame = ahead.frames[next++];
      if (frame?.kind === 'command') exchange.apply(frame.command);
    }
  };
  replay(opening.length + mix.warmUp);
  const rate = perSecond(OPERATIONS, () => {
    replay(opening.length + mix.count);
  });
  if (exchange.chainHash() !== chainHash) throw new Error('the replay diverges from the live run');
  return rate;
}

const contestants: Contestant[] = [
  { name: 'nodejs-order-book 10.1.1', round: peer, figures: [] },
  { name: 'book alone', round: bareBook, figures: [] },
  { name: 'engine, commands to hashed events', round: engine, figures: [] },
  { name: 'engine, commands to journal and hashed events', round: recorded, figures: [] },
  { name: 'engine, journal bytes to hashed events', round: fromBytes, figures: [] },
  { name: 'engine, commands to hashed events, with a sink', round: withSink, figures: [] },
];

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

export interface ThroughputRow {
  readonly name: string;
  /** Wall time. */
  readonly perSecond: number;
  readonly perCpuSecond: number;
  /** Relative to the peer. */
  readonly ratio: number;
  readonly cpuRatio: number;
}

export interface Throughput {
  readonly rows: readonly ThroughputRow[];
  readonly eventsPerCommand: number;
}

export function measureThroughput(): Throughput {
  for (let round = -WARMING; round < ROUNDS; round++) {
    for (const { round: run, figures } of contestants) {
      const rate = run();
      if (round >= 0) figures.push(rate);
    }
  }
  const medians = contestants.map(({ name, figures }) => ({
    name,
    wall: median(figures.map(({ wall }) => wall)),
    cpu: median(figures.map(({ cpu }) => cpu)),
  }));
  const [base] = medians;
  const rows = medians.map(({ name, wall, cpu }) => ({
    name,
    perSecond: Math.round(wall),
    perCpuSecond: Math.round(cpu),
    ratio: Number((wall / (base?.wall ?? 1)).toFixed(1)),
    cpuRatio: Number((cpu / (base?.cpu ?? 1)).toFixed(1)),
  }));
  return { rows, eventsPerCommand: events / OPERATIONS };
}

export function printThroughput(rows: readonly ThroughputRow[]): void {
  const table = new Table({
    head: ['one run, same order flow', 'operations/s', 'ratio', 'a CPU second', 'ratio'],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) {
    table.push([
      row.name,
      row.perSecond.toLocaleString('en'),
      `${row.ratio.toFixed(1)} ×`,
      row.perCpuSecond.toLocaleString('en'),
      `${row.cpuRatio.toFixed(1)} ×`,
    ]);
  }
  console.log(table.toString());
  const [applied, live, replayed] = rows.slice(2).map((row) => row.perCpuSecond);
  console.log(
    `a replayed command costs ${((live ?? 0) / (replayed ?? 1)).toFixed(2)} × a live one, which is journalled, ` +
      `and ${((applied ?? 0) / (replayed ?? 1)).toFixed(2)} × an unjournalled one`,
  );
}
