/**
 * Rebuilds a recording's book in the real exchange without users, and compares the recorded book
 * with the venue's best bid and ask. The compared book changes by the venue's updates only: a trade
 * of the same millisecond is played before the update that includes it.
 */
import { PlainBook } from './plain-book.ts';
import type { Command } from '../engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../gateway/exchange-config.ts';
import { Exchange } from '../engine/exchange.ts';
import type { ExchangeConfig, MarketSpec } from '../engine/config.ts';
import type { TimeUs } from '../num/units.ts';
import type { TapeStep } from './book-sync.ts';
import type { TapeRecord } from './record.ts';
import type { TapeSteps } from './tape-steps.ts';
import { TouchComparison, type NotCompared, type TouchMismatch } from './touch-comparison.ts';

export interface TapeVerification {
  /** Updates and snapshots that were applied. */
  readonly books: number;
  /** Those after which the recorded book was compared. */
  readonly compared: number;
  /** Number of updates that were not compared, by reason. */
  readonly notCompared: Readonly<Partial<Record<NotCompared, number>>>;
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
const BOOK_COMMANDS: readonly Command['kind'][] = [
  'tapeDepth',
  'tapeSnapshot',
  'tapeQuotes',
  'tapeL3',
];

class Verifier {
  private readonly specOf: () => MarketSpec;
  private readonly options: VerifyOptions;
  private engine: Exchange | null = null;
  private readonly plain = new PlainBook();
  private readonly comparison = new TouchComparison();
  private crossedBooks = 0;
  private commands = 0;
  private touches = 0;
  private books = 0;
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
    // The command that opens the book has a step of its own.
    if (record.kind !== 'touch' || command !== null) return;
    this.touches += 1;
    this.comparison.onTouch(record, inSync);
  }

  finish(): TapeVerification {
    this.show();
    const { engine, comparison, books, touches, crossedBooks, commands } = this;
    comparison.finish();
    const { compared, mismatched, mismatches } = comparison;
    const notCompared = touches === 0 && books > 0 ? { none: books } : comparison.notCompared;
    return {
      books,
      compared,
      notCompared,
      touches,
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
    if (command.kind === 'tapeGap') this.comparison.finish();
    if (this.plain.crossedAfter(command)) this.crossedBooks += 1;
    if (command.kind === 'tapeL3') this.singleOrders = true;
    const shows =
      BOOK_COMMANDS.includes(command.kind) || (this.singleOrders && command.kind === 'tapeTrade');
    if (!shows) return;
    this.open = { timeUs: command.timeUs, line: record.line };
    if (record.kind === 'trade' || record.kind === 'bar') return;
    this.books += 1;
    const id = 'lastId' in record ? record.lastId : 0;
    this.comparison.onBook(id, command.timeUs, this.plain.best());
  }

  private show(): void {
    const { open, engine } = this;
    this.open = null;
    if (open !== null && engine !== null) this.options.onBook?.(engine, open);
  }
}

function openExchange(spec: MarketSpec, timeUs: TimeUs): Exchange {
  const config: ExchangeConfig = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs };
  const engine = new Exchange(config);
  engine.apply({ kind: 'listMarket', timeUs, spec });
  return engine;
}
