/**
 * The price moves of a journal as material for other futures: its commands that bring prices from
 * outside (oracle, external mark, recorded data), in order, with the price of each market before
 * each of them. Moves are distances in ticks, so a block of them can start at any price.
 */
import type { Command, TapeLevel } from '../../engine/commands.ts';
import type { RunCursor } from '../run-cursor.ts';

/** Levels on each side of a recorded book that a block starts with. */
const BOOK_LEVELS = 25;

/** Commands that bring prices from outside. */
export type PriceCommand = Extract<
  Command,
  {
    readonly kind:
      | 'setIndex'
      | 'setMark'
      | 'tapeDepth'
      | 'tapeTrade'
      | 'tapeSnapshot'
      | 'tapeQuotes'
      | 'tapeBar';
  }
>;

export interface PriceMove {
  readonly command: PriceCommand;
  /** Command number in the journal. */
  readonly seq: number;
  /** Time since the move before, in microseconds. */
  readonly waitUs: number;
  /** Reference price of each market before the move; null before its first price. */
  readonly before: readonly (number | null)[];
}

export interface PriceMoves {
  readonly moves: readonly PriceMove[];
  /** Recorded book of each market before the moves whose number is a multiple of `blockMoves`. */
  readonly books: readonly (readonly (readonly TapeLevel[])[])[];
  readonly blockMoves: number;
  /** Reference prices after the last move. */
  readonly last: readonly (number | null)[];
}

/** Most moves and levels of recorded data in all, so that a large journal fits into memory. */
const MOST = 500_000;
/** Beyond it the oldest moves are left out, in blocks of at least this many. */
const DROPPED = 1000;

/**
 * Collects moves in parts. A journal with more than fit has those before and around the window
 * that is examined, and those after it as far as they fit.
 */
export class MoveCollector {
  private readonly references = new References();
  private readonly blockMoves: number;
  private readonly window: { readonly from: number; readonly to: number };
  private readonly most: number;
  private moves: PriceMove[] = [];
  private books: (readonly (readonly TapeLevel[])[])[] = [];
  private weight = 0;
  private lastUs: number | null = null;

  constructor(
    blockMoves: number,
    window: { readonly from: number; readonly to: number },
    most = MOST,
  ) {
    this.blockMoves = blockMoves;
    this.window = window;
    this.most = most;
  }

  /** Reads up to `commands` more of a journal without executing them; false at its end. */
  read(cursor: RunCursor, commands: number): boolean {
    for (let i = 0; i < commands; i++) {
      const frame = cursor.stream.next();
      if (frame === null) return false;
      if (this.weight > this.most && frame.seq > this.window.to) return false;
      if (frame.kind === 'command') this.add(frame.seq, frame.command);
    }
    return true;
  }

  add(seq: number, command: Command): void {
    if (!isPriceCommand(command)) return;
    const before = this.references.prices();
    const { market } = command;
    // The first price of a market is no move.
    if ((before[market] ?? null) === null) {
      this.references.take(command);
      return;
    }
    if (this.moves.length % this.blockMoves === 0) {
      this.dropOldest();
      const books = this.references.books();
      this.books.push(books);
      this.weight += books.reduce((sum, levels) => sum + levels.length, 0);
    }
    this.weight += weightOf(command);
    const waitUs = this.lastUs === null ? 0 : command.timeUs - this.lastUs;
    this.lastUs = command.timeUs;
    this.moves.push({ command, seq, waitUs, before });
    this.references.take(command);
  }

  finish(): PriceMoves {
    const { moves, books, blockMoves, references } = this;
    return { moves, books, blockMoves, last: references.prices() };
  }

  private dropOldest(): void {
    if (this.weight <= this.most) return;
    const before = this.moves.findIndex(({ seq }) => seq > this.window.from);
    const count = before < 0 ? this.moves.length : before;
    const dropped = Math.min(count, Math.max(DROPPED, this.moves.length >> 2));
    const blocks = Math.floor(dropped / this.blockMoves);
    if (dropped < DROPPED) return;
    for (const { command } of this.moves.slice(0, blocks * this.blockMoves)) {
      this.weight -= weightOf(command);
    }
    for (const levels of this.books.slice(0, blocks).flat()) this.weight -= levels.length;
    this.moves = this.moves.slice(blocks * this.blockMoves);
    this.books = this.books.slice(blocks);
  }
}

/** A move counts as one, and each of its levels. */
export const weightOf = (command: PriceCommand): number =>
  'levels' in command ? 1 + command.levels.length : 1;

export function isPriceCommand(command: Command): command is PriceCommand {
  const { kind } = command;
  return (
    kind === 'setIndex' ||
    kind === 'setMark' ||
    kind === 'tapeDepth' ||
    kind === 'tapeTrade' ||
    kind === 'tapeSnapshot' ||
    kind === 'tapeQuotes' ||
    kind === 'tapeBar'
  );
}

/** The recorded book of one market, by side and price. */
type RecordedBook = Map<string, TapeLevel>;

/**
 * A price of each market that follows its moves: the oracle's if it has one, else the external
 * mark, else the mid of the recorded book, else the last recorded trade.
 */
export class References {
  private readonly of: {
    index: number | null;
    mark: number | null;
    trade: number | null;
    readonly book: RecordedBook;
  }[] = [];

  take(command: Command): void {
    if (!('market' in command) || command.market === null) return;
    while (this.of.length <= command.market) {
      this.of.push({ index: null, mark: null, trade: null, book: new Map() });
    }
    const market = this.of[command.market];
    if (market === undefined) return;
    switch (command.kind) {
      case 'setIndex':
        market.index = command.priceTicks;
        break;
      case 'setMark':
        market.mark = command.priceTicks;
        break;
      case 'tapeTrade':
        market.trade = command.priceTicks;
        break;
      case 'tapeBar':
        market.trade = command.closeTicks;
        break;
      case 'tapeSnapshot':
      case 'tapeQuotes':
        market.book.clear();
        takeLevels(market.book, command.levels);
        break;
      case 'tapeDepth':
        takeLevels(market.book, command.levels);
        break;
      default:
        break;
    }
  }

  prices(): (number | null)[] {
    return this.of.map(({ index, mark, trade, book }) => index ?? mark ?? midOf(book) ?? trade);
  }

  /** Recorded books, best levels first. */
  books(): TapeLevel[][] {
    return this.of.map(({ book }) => [
      ...bestOf(book, 'bid', BOOK_LEVELS),
      ...bestOf(book, 'ask', BOOK_LEVELS),
    ]);
  }
}

function takeLevels(book: RecordedBook, levels: readonly TapeLevel[]): void {
  for (const level of levels) {
    const key = `${level.side} ${String(level.priceTicks)}`;
    if (level.lots === 0) book.delete(key);
    else book.set(key, level);
  }
}

function bestOf(book: RecordedBook, side: TapeLevel['side'], limit: number): TapeLevel[] {
  const sign = side === 'bid' ? -1 : 1;
  return [...book.values()]
    .filter((level) => level.side === side)
    .sort((a, b) => sign * (a.priceTicks - b.priceTicks))
    .slice(0, limit);
}

function midOf(book: RecordedBook): number | null {
  let bid = -Infinity;
  let ask = Infinity;
  for (const { side, priceTicks } of book.values()) {
    if (side === 'bid') bid = Math.max(bid, priceTicks);
    else ask = Math.min(ask, priceTicks);
  }
  return Number.isFinite(bid) && Number.isFinite(ask) ? Math.round((bid + ask) / 2) : null;
}
