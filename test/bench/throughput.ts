/**
 * Throughput beside nodejs-order-book. All contestants apply the same operations to a book of 10,000
 * live orders: each round is the next part of one flow, which continues on the book of the round
 * before. At the end all books have the same best prices.
 */
import Table from 'cli-table3';
import { OrderBook, Side } from 'nodejs-order-book';
import { JournalReader, JournalWriter } from '../../src/journal/format/frames.ts';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { marketId, seq } from '../../src/num/units.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { ReadAhead } from '../../src/journal/format/read-ahead.ts';
import { RecordedExchange } from '../../src/journal/replay/recorded-exchange.ts';
import { CONFIG, Flow, openExchange, openingCommands } from './engine-flow.ts';
import { takeTurns, type Contestant, type Row, type Stopwatch } from './measure.ts';
import { LIVE, makeMix } from './mix.ts';

// As in `orrery`; the peer gets the same limits.
raiseInliningLimits();

const WARMING = 3;
const ROUNDS = 7;
/** Operations of a round: the peer needs a second for them. */
const OPERATIONS = 40_000;
/** Commands generated at a time, outside the timing. */
const BLOCK = 1000;
/** Share by which the number of live orders may differ from `LIVE`. */
const STEADY = 0.02;
const PEER = 'nodejs-order-book 10.1.1';

const mix = makeMix((WARMING + ROUNDS) * OPERATIONS);
if (mix.live.min < LIVE * (1 - STEADY) || mix.live.max > LIVE * (1 + STEADY)) {
  throw new Error(`the book is not steady: ${mix.live.min} to ${mix.live.max} live orders`);
}
const flow = new Flow(mix);
const opening = openingCommands();
const bytes = journalOfAll();
/** First operation of a round. */
const startOf = (round: number): number => mix.warmUp + round * OPERATIONS;

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

type Touch = readonly [bid: number | undefined, ask: number | undefined];

interface Player extends Contestant {
  readonly touch: () => Touch;
}

function peer(): Player {
  const book = new OrderBook();
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
  return {
    name: PEER,
    round: (round, watch) => {
      watch.time(() => {
        apply(startOf(round), startOf(round + 1));
      });
      return OPERATIONS;
    },
    touch: () => {
      const [asks, bids] = book.depth();
      return [bids[0]?.[0], asks[0]?.[0]];
    },
  };
}

function touchOf(exchange: Exchange): Touch {
  const { bestBid, bestAsk } = exchange.market(marketId(0));
  return [bestBid?.priceTicks, bestAsk?.priceTicks];
}

/** Each block is generated before its timing. */
function player(name: string, exchange: Exchange, apply: (command: Command) => void): Player {
  for (const command of flow.commands(0, mix.warmUp)) apply(command);
  return {
    name,
    round: (round: number, watch: Stopwatch) => {
      for (let from = startOf(round); from < startOf(round + 1); from += BLOCK) {
        const commands = flow.commands(from, from + BLOCK);
        watch.time(() => {
          for (const command of commands) apply(command);
        });
      }
      return OPERATIONS;
    },
    touch: () => touchOf(exchange),
  };
}

let events = 0;

function engine(): Player {
  const exchange = openExchange();
  return player('engine, commands to hashed events', exchange, (command) => {
    exchange.apply(command);
  });
}

function withSink(): Player {
  const exchange = openExchange();
  const count = (): void => {
    events += 1;
  };
  return player('engine, the same with a sink of events', exchange, (command) => {
    exchange.apply(command, count);
  });
}

/** As a running exchange: each command is journalled, then applied. */
function recorded(): Player {
  const exchange = new RecordedExchange(CONFIG, { checkpointEvery: 0 });
  for (const command of opening) exchange.submit(command);
  return player('engine, commands to journal and hashed events', exchange.engine, (command) => {
    exchange.submit(command);
  });
}

/** As `replay`. Read-ahead counts in the timed part. */
function fromBytes(): Player {
  const reader = new JournalReader(bytes);
  const exchange = new Exchange(reader.header.config);
  const ahead = new ReadAhead(reader);
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
  return {
    name: 'engine, journal bytes to hashed events',
    round: (round, watch) => {
      watch.time(() => {
        replay(opening.length + startOf(round + 1));
      });
      return OPERATIONS;
    },
    touch: () => touchOf(exchange),
  };
}

export interface Throughput {
  readonly rows: readonly Row[];
  readonly live: { readonly min: number; readonly max: number };
  readonly eventsPerCommand: number;
}

export async function measureThroughput(): Promise<Throughput> {
  const players = [peer(), engine(), recorded(), fromBytes(), withSink()];
  const rows = await takeTurns(players, { warming: WARMING, rounds: ROUNDS });
  const touches = new Set(players.map(({ touch }) => JSON.stringify(touch())));
  if (touches.size !== 1) throw new Error(`the books differ: ${[...touches].join(', ')}`);
  return { rows, live: mix.live, eventsPerCommand: events / mix.count };
}

export function printThroughput({ rows, live }: Throughput): void {
  printRows(
    `one order flow, ${live.min.toLocaleString('en')} to ${live.max.toLocaleString('en')} live orders`,
    rows,
  );
  const [applied, journalled, replayed] = rows.slice(1).map((row) => row.perCpuSecond);
  console.log(
    `a replayed command costs ${((journalled ?? 0) / (replayed ?? 1)).toFixed(2)} × a live one, which is journalled, ` +
      `and ${((applied ?? 0) / (replayed ?? 1)).toFixed(2)} × an unjournalled one`,
  );
}

/** Ratios are to the first row. */
export function printRows(title: string, rows: readonly Row[]): void {
  const table = new Table({
    head: [title, 'a second', 'a CPU second', 'ratio', 'spread'],
    colAligns: ['left', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const base = rows[0]?.perCpuSecond ?? 1;
  for (const { name, perSecond, perCpuSecond, spread } of rows) {
    table.push([
      name,
      perSecond.toLocaleString('en'),
      perCpuSecond.toLocaleString('en'),
      `${(perCpuSecond / base).toFixed(2)} ×`,
      `${(spread * 100).toFixed(0)} %`,
    ]);
  }
  console.log(table.toString());
}
