/**
 * Rebuilds a recording's book in the real exchange without users and compares it with the venue's
 * best bid and ask. Price and size are compared right after the update that the venue names;
 * without ids, after the message received at the same time.
 */
import { PlainBook } from './plain-book.ts';
import type { Command } from '../engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../gateway/market-config.ts';
import { Exchange } from '../engine/exchange.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import type { LevelView } from '../engine/read/views.ts';
import { marketId, type Lots, type PriceTicks, type TimeUs } from '../num/units.ts';
import type { TapeStep } from './book-sync.ts';
import type { TapeRecord, TouchRecord } from './record.ts';
import type { TapeSteps } from './tape-steps.ts';

/** Max touches and books buffered for each other: much more than streams are apart. */
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
  /** Best prices of the venue in the recording. */
  readonly touches: number;
  readonly mismatched: number;
  /** The first mismatches. */
  readonly mismatches: readonly TouchMismatch[];
  /** Updates after which the recorded book is crossed. */
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
  /** Called with the engine after the last book command of each line. */
  readonly onBook?: (engine: Exchange, at: BookTime) => void;
  readonly cancelled?: () => boolean;
}

export interface BookTime {
  readonly timeUs: TimeUs;
  /** Line of the recording. */
  readonly line: number;
}

export async function verifyTape(
  tape: TapeSteps,
  specOf: () => MarketSpec,
  options: VerifyOptions = {},
): Promise<TapeVerification> {
  const verifier = new Verifier(specOf, options);
  for await (const steps of tape.batches()) {
    if (options.cancelled?.() === true) break;
    for (const step of steps) verifier.take(step);
  }
  return verifier.finish();
}

/**
 * Commands after which the book is compared; trades of single orders too, which have their own
 * line.
 */
const BOOK_COMMANDS: readonly Command['kind'][] = ['tapeDepth', 'tapeSnapshot', 'tapeL3'];

class Verifier {
  private readonly specOf: () => MarketSpec;
  private readonly options: VerifyOptions;
  private engine: Exchange | null = null;
  private readonly market = marketId(0);
  private readonly plain = new PlainBook();
  private readonly books = new Map<string, Touch>();
  private readonly touches = new Map<string, TouchRecord>();
  private readonly mismatches: TouchMismatch[] = [];
  private compared = 0;
  private mismatched = 0;
  private crossedBooks = 0;
  private commands = 0;
  private touchesSeen = 0;
  private singleOrders = false;
  /** Line whose book is reported when the next line begins. */
  private open: BookTime | null = null;

  constructor(specOf: () => MarketSpec, options: VerifyOptions) {
    this.specOf = specOf;
    this.options = options;
  }

  take({ record, command, inSync }: TapeStep): void {
    if (this.open !== null && this.open.line !== record.line) this.show();
    if (command !== null) this.apply(record, command);
    if (record.kind !== 'touch') return;
    this.touchesSeen += 1;
    if (!inSync) return;
    const key = touchKey(record);
    const book = this.books.get(key);
    if (book !== undefined) this.compare(record, book);
    else if (record.updateId > 0) hold(this.touches, key, record);
  }

  finish(): TapeVerification {
    this.show();
    const { engine, compared, mismatched, mismatches, crossedBooks, commands, touchesSeen } = this;
    return {
      compared,
      touches: touchesSeen,
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

  private apply(record: TapeRecord, command: Command): void {
    const engine = (this.engine ??= openExchange(this.specOf(), command.timeUs));
    engine.apply(command);
    this.commands += 1;
    if (this.plain.crossedAfter(command)) this.crossedBooks += 1;
    if (command.kind === 'tapeL3') this.singleOrders = true;
    const shows =
      BOOK_COMMANDS.includes(command.kind) || (this.singleOrders && command.kind === 'tapeTrade');
    if (!shows) return;
    this.open = { timeUs: command.timeUs, line: record.line };
    if (record.kind !== 'depth' && record.kind !== 'snapshot') return;
    const { bestBid, bestAsk } = engine.market(this.market);
    const book = { bid: bestBid, ask: bestAsk };
    hold(this.books, timeKey(record), book);
    if (record.kind !== 'depth') return;
    const key = idKey(record.lastId);
    const touch = this.touches.get(key);
    if (touch !== undefined) {
      this.compare(touch, book);
      this.touches.delete(key);
    }
    hold(this.books, key, book);
  }

  private show(): void {
    const { open, engine } = this;
    this.open = null;
    if (open !== null && engine !== null) this.options.onBook?.(engine, open);
  }

  private compare(venue: TouchRecord, book: Touch): void {
    this.compared += 1;
    const rebuilt = shown(book.bid, book.ask);
    const emitted = shown(
      { priceTicks: venue.bidTicks, lots: venue.bidLots },
      { priceTicks: venue.askTicks, lots: venue.askLots },
    );
    if (rebuilt === emitted) return;
    this.mismatched += 1;
    if (this.mismatches.length === MAX_SHOWN) return;
    const { updateId, line, timeUs } = venue;
    this.mismatches.push({ updateId, line, timeUs, venue: emitted, rebuilt });
  }
}

/** Key of a touch: the id of its update, or without ids the message received together with it. */
function touchKey(touch: TouchRecord): string {
  return touch.updateId > 0 ? idKey(touch.updateId) : timeKey(touch);
}

function idKey(id: number): string {
  return `u${String(id)}`;
}

function timeKey({
  timeUs,
  localUs,
}: {
  readonly timeUs: TimeUs;
  readonly localUs: TimeUs;
}): string {
  return `t${String(timeUs)} ${String(localUs)}`;
}

function openExchange(spec: MarketSpec, timeUs: TimeUs): Exchange {
  const config: ExchangeConfig = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs };
  const engine = new Exchange(config);
  engine.apply({ kind: 'listMarket', timeUs, spec });
  return engine;
}

function hold<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
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
