/**
 * Updates that were delivered to a strategy, for `history`, `book` and `equity` of its context. It
 * is filled by deliveries alone, so it has no look-ahead, and a read takes no time.
 */
import { StrategyError, type Keeps } from './definition.ts';
import type {
  AccountUpdate,
  BarUpdate,
  BookUpdate,
  HistoryOptions,
  PriceUpdate,
  Strategy,
  StrategyContext,
} from './strategy.ts';

/** Bars of each market and length. */
const USUAL_BARS = 500;

export type KeptReads = Pick<StrategyContext, 'history' | 'book' | 'equity'>;

/** Updates that a strategy receives for what it keeps, with or without a handler. */
export function keptHandlers(keeps: Keeps | undefined): (keyof Strategy)[] {
  if (keeps === undefined) return [];
  return [
    ...(keeps.bars === undefined ? [] : (['onBar'] as const)),
    ...(keeps.book === true ? (['onBook'] as const) : []),
    ...(keeps.equity === true ? (['onAccount', 'onMark'] as const) : []),
  ];
}

interface Saved {
  /** Texts of length and market, and the bars. */
  readonly bars: readonly (readonly [string, readonly BarUpdate[]])[];
  readonly books: readonly (readonly [string, BookUpdate])[];
  readonly marks: readonly (readonly [string, number])[];
  readonly account: AccountUpdate | null;
}

export class Observations {
  private readonly receives: (handler: keyof Strategy) => boolean;
  private readonly keptBars: number;
  private readonly barsUs: readonly number[];
  /** By market, then by length. */
  private bars = new Map<string, Map<number, BarUpdate[]>>();
  /** The list that took the last bar. */
  private lastBars: BarUpdate[] = [];
  private books = new Map<string, BookUpdate>();
  private marks = new Map<string, number>();
  private account: AccountUpdate | null = null;

  /** `has`: whether the strategy has a handler. */
  constructor(
    keeps: Keeps | undefined,
    barsUs: readonly number[],
    has: (handler: keyof Strategy) => boolean,
  ) {
    const kept = keptHandlers(keeps);
    this.receives = (handler) => kept.includes(handler) || has(handler);
    this.keptBars = keeps?.bars ?? USUAL_BARS;
    this.barsUs = barsUs;
  }

  /** Notes an update before its handler is called. */
  take(handler: string, update: unknown): void {
    switch (handler) {
      case 'onBar':
        this.takeBar(update as BarUpdate);
        return;
      case 'onBook':
        this.books.set((update as BookUpdate).symbol, update as BookUpdate);
        return;
      case 'onMark': {
        const { symbol, price } = update as PriceUpdate;
        this.marks.set(symbol, Number(price));
        return;
      }
      case 'onAccount':
        this.account = update as AccountUpdate;
        return;
      default:
    }
  }

  private takeBar(bar: BarUpdate): void {
    const [last] = this.lastBars;
    const { symbol, intervalUs } = bar;
    // Most strategies have bars of one market and length, and two lookups cost more than the rest.
    if (last?.symbol !== symbol || last.intervalUs !== intervalUs) {
      this.lastBars = this.barsOf(symbol, intervalUs);
    }
    const list = this.lastBars;
    // A strategy that changed a bar would read its own number in `history`.
    list.push(Object.freeze(bar));
    // Rarely, because it moves the others.
    if (list.length >= 2 * this.keptBars) list.splice(0, list.length - this.keptBars);
  }

  private barsOf(symbol: string, intervalUs: number): BarUpdate[] {
    let lengths = this.bars.get(symbol);
    if (lengths === undefined) {
      lengths = new Map<number, BarUpdate[]>();
      this.bars.set(symbol, lengths);
    }
    let list = lengths.get(intervalUs);
    if (list === undefined) {
      list = [];
      lengths.set(intervalUs, list);
    }
    return list;
  }

  /** `symbols`: the strategy's markets. */
  reads(symbols: readonly string[]): KeptReads {
    const [first = ''] = symbols;
    const mustHave = (symbol: string): void => {
      if (!symbols.includes(symbol)) throw new RangeError(`no market ${symbol} in this run`);
    };
    return {
      history: (count, options) => {
        if (options?.symbol !== undefined) mustHave(options.symbol);
        return this.history(first, count, options);
      },
      book: (symbol = first) => {
        this.must('onBook', 'book() needs onBook, or `keeps: { book: true }` in the definition');
        mustHave(symbol);
        return this.books.get(symbol) ?? null;
      },
      equity: () => {
        this.must('onAccount', 'equity() needs `keeps: { equity: true }` in the definition');
        return this.equity();
      },
    };
  }

  private must(handler: keyof Strategy, need: string): void {
    if (!this.receives(handler)) throw new StrategyError(need);
  }

  private history(
    first: string,
    count = this.keptBars,
    { symbol = first, intervalUs = this.barsUs[0] ?? 60_000_000 }: HistoryOptions = {},
  ): readonly BarUpdate[] {
    this.must('onBar', 'history() needs onBar, or `keeps: { bars: 500 }` in the definition');
    if (!Number.isInteger(count) || count < 1 || count > this.keptBars) {
      throw new RangeError(
        `history(${String(count)}): must be from 1 to ${String(this.keptBars)}; \`keeps: { bars: n }\` keeps more`,
      );
    }
    if (!this.barsUs.includes(intervalUs)) {
      throw new RangeError(
        `history: the strategy has no bars of ${String(intervalUs)} µs; barsUs gives ${this.barsUs.join(', ')}`,
      );
    }
    return (this.bars.get(symbol)?.get(intervalUs) ?? []).slice(-count);
  }

  /** The last known equity, moved by the marks since. */
  private equity(): number | null {
    const { account } = this;
    if (account === null) return null;
    let equity = Number(account.equity);
    for (const { symbol, quantity, mark } of account.positions) {
      const at = this.marks.get(symbol);
      if (at !== undefined && mark !== null) equity += Number(quantity) * (at - Number(mark));
    }
    return equity;
  }

  save(): unknown {
    const saved: Saved = {
      bars: [...this.bars].flatMap(([symbol, lengths]) =>
        [...lengths].map(([us, list]) => [`${String(us)} ${symbol}`, list] as const),
      ),
      books: [...this.books],
      marks: [...this.marks],
      account: this.account,
    };
    return saved;
  }

  load(saved: unknown): void {
    const { bars, books, marks, account } = saved as Saved;
    this.bars = new Map();
    this.lastBars = [];
    for (const [, list] of bars) {
      const [bar] = list;
      if (bar === undefined) continue;
      const kept = this.barsOf(bar.symbol, bar.intervalUs);
      for (const one of list) kept.push(one);
    }
    this.books = new Map(books);
    this.marks = new Map(marks);
    this.account = account;
  }
}
