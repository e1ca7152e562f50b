/**
 * Rebuilds a recording's book in the real exchange, without any user, and holds it against the venue's own best bid
 * and ask: for every touch whose update id is that of a depth update, price and size right after that update.
 */
import { DEFAULT_EXCHANGE_CONFIG } from '../gateway/market-config.ts';
import { Exchange } from '../engine/exchange.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import type { LevelView } from '../engine/views.ts';
import { marketId, type Lots, type PriceTicks, type TimeUs } from '../num/units.ts';
import type { TouchRecord } from '../sim/tape/record.ts';
import type { TapeSteps } from '../sim/tape/tape-steps.ts';

/** How many touches and books wait for each other: far more than streams drift apart. */
const MAX_HELD = 20_000;
const MAX_SHOWN = 10;

export interface TouchMismatch {
  readonly updateId: number;
  readonly line: number;
  readonly timeUs: TimeUs;
  readonly venue: string;
  readonly rebuilt: string;
}

export interface TapeVerification {
  readonly compared: number;
  readonly mismatched: number;
  /** The first few. */
  readonly mismatches: readonly TouchMismatch[];
  readonly crossedBooks: number;
  readonly commands: number;
  readonly stateHash: string;
  readonly violations: readonly string[];
}

interface Touch {
  readonly bid: LevelView | null;
  readonly ask: LevelView | null;
}

export interface VerifyOptions {
  /** Called with the engine after each depth update. */
  readonly onBook?: (engine: Exchange, timeUs: TimeUs) => void;
  readonly cancelled?: () => boolean;
}

export async function verifyTape(
  tape: TapeSteps,
  specOf: () => MarketSpec,
  options: VerifyOptions = {},
): Promise<TapeVerification> {
  let engine: Exchange | null = null;
  const market = marketId(0);
  const books = new Map<number, Touch>();
  const touches = new Map<number, TouchRecord>();
  const mismatches: TouchMismatch[] = [];
  let compared = 0;
  let mismatched = 0;
  let crossedBooks = 0;
  let commands = 0;

  const compare = (venue: TouchRecord, book: Touch): void => {
    compared += 1;
    const rebuilt = shown(book.bid, book.ask);
    const said = shown(
      { priceTicks: venue.bidTicks, lots: venue.bidLots },
      { priceTicks: venue.askTicks, lots: venue.askLots },
    );
    if (rebuilt === said) return;
    mismatched += 1;
    if (mismatches.length === MAX_SHOWN) return;
    mismatches.push({
      updateId: venue.updateId,
      line: venue.line,
      timeUs: venue.timeUs,
      venue: said,
      rebuilt,
    });
  };

  for await (const steps of tape.batches()) {
    if (options.cancelled?.() === true) break;
    for (const { record, command, inSync } of steps) {
      if (command !== null) {
        engine ??= openExchange(specOf(), command.timeUs);
        engine.apply(command);
        commands += 1;
      }
      if (command?.kind === 'tapeDepth' && record.kind === 'depth' && engine !== null) {
        const { bestBid, bestAsk } = engine.market(market);
        if (bestBid !== null && bestAsk !== null && bestBid.priceTicks >= bestAsk.priceTicks) {
          crossedBooks += 1;
        }
        const book = { bid: bestBid, ask: bestAsk };
        const touch = touches.get(record.lastId);
        if (touch !== undefined) {
          compare(touch, book);
          touches.delete(record.lastId);
        }
        hold(books, record.lastId, book);
        options.onBook?.(engine, command.timeUs);
      }
      if (record.kind === 'touch' && inSync) {
        const book = books.get(record.updateId);
        if (book === undefined) hold(touches, record.updateId, record);
        else compare(record, book);
      }
    }
  }
  return {
    compared,
    mismatched,
    mismatches,
    crossedBooks,
    commands,
    stateHash: engine?.stateHash() ?? '',
    violations: (engine?.checkInvariants() ?? []).map(
      ({ invariant, detail }) => `${invariant}: ${detail}`,
    ),
  };
}

function openExchange(spec: MarketSpec, timeUs: TimeUs): Exchange {
  const config: ExchangeConfig = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs };
  const engine = new Exchange(config);
  engine.apply({ kind: 'listMarket', timeUs, spec });
  return engine;
}

function hold<T>(map: Map<number, T>, id: number, value: T): void {
  map.set(id, value);
  if (map.size <= MAX_HELD) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    break;
  }
}

function shown(
  bid: { readonly priceTicks: PriceTicks; readonly lots: Lots } | null,
  ask: { readonly priceTicks: PriceTicks; readonly lots: Lots } | null,
): string {
  const level = (side: typeof bid): string =>
    side === null ? 'none' : `${String(side.lots)} lots at ${String(side.priceTicks)} ticks`;
  return `bid ${level(bid)}, ask ${level(ask)}`;
}
