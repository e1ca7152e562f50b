/**
 * Compares the recorded book after each update with the venue's best bid and ask.
 *
 * With update ids, an update is compared with the last best price whose id is at or before its own:
 * the venue publishes every change of its best prices, so the two are equal. The times of equal ids
 * must agree too. Without ids a best price equals a book within `TOLERANCE_US` of its time; an
 * update is compared with the last best price at or before it, but may also fall between two
 * entries of a feed that does not publish every change.
 *
 * Bounded: a book is compared when a later best price arrives, at the latest after two seconds of
 * venue time.
 */
import type { TimeUs } from '../num/units.ts';
import type { Best } from './plain-book.ts';
import type { TouchRecord } from './record.ts';

/** As the window in which lines are sorted: later lines are not in order at all. */
const PATIENCE_US = 2_000_000;
/** Difference of times between feeds of one venue without ids. */
const TOLERANCE_US = 250_000;
/** Max best prices and books buffered for each other. */
const MAX_HELD = 20_000;
const MAX_SHOWN = 10;

export interface TouchMismatch {
  /** Id of the update, 0 if the venue has none. */
  readonly updateId: number;
  /** Line of the best price in the recording. */
  readonly line: number;
  readonly timeUs: TimeUs;
  readonly venue: string;
  readonly rebuilt: string;
}

/** Reasons for which an update is not compared, in the words of the report. */
export const NOT_COMPARED = {
  none: 'without best prices of the venue in the recording',
  before: 'before the first best price',
  after: 'after the last best price',
  between: 'between two best prices of a feed that has not every change',
  forgotten: 'older than the best prices in memory',
} as const;
export type NotCompared = keyof typeof NOT_COMPARED;

interface HeldBook extends Best {
  readonly id: number;
  readonly timeUs: TimeUs;
}

export class TouchComparison {
  /** Updates that were compared. */
  compared = 0;
  mismatched = 0;
  readonly mismatches: TouchMismatch[] = [];
  readonly notCompared: Partial<Record<NotCompared, number>> = {};
  private books: HeldBook[] = [];
  private touches: TouchRecord[] = [];
  private last: TouchRecord | null = null;
  /** The last compared book, which is in force until the next one. */
  private inForce: HeldBook | null = null;
  /** Time of the first book since the start or the last gap. */
  private validUs = Infinity;
  private hasIds = false;
  /** Best prices without ids that no book has equalled yet. */
  private unmatched: TouchRecord[] = [];

  onBook(id: number, timeUs: TimeUs, best: Best): void {
    this.advance(timeUs);
    this.validUs = Math.min(this.validUs, timeUs);
    this.books.push({ ...best, id, timeUs });
    if (this.books.length > MAX_HELD) this.decide(false);
  }

  /** `inSync`: whether there is a valid book to compare with. */
  onTouch(touch: TouchRecord, inSync: boolean): void {
    this.advance(touch.timeUs);
    if (touch.updateId > 0) this.hasIds = true;
    else if (inSync) this.unmatched.push(touch);
    this.touches.push(touch);
    if (this.touches.length > 2 * MAX_HELD) {
      this.last = this.touches.splice(0, MAX_HELD).at(-1) ?? this.last;
    }
    this.advance(touch.timeUs);
  }

  /** Compares what is left: at the end, and where the book is lost. */
  finish(): void {
    while (this.books.length > 0) this.decide(true);
    // The book after its last update is not known.
    this.checkTouches(this.inForce?.timeUs ?? 0);
    this.unmatched = [];
    this.inForce = null;
    this.validUs = Infinity;
  }

  private advance(nowUs: number): void {
    const { books, touches } = this;
    for (;;) {
      const book = books[0];
      if (book === undefined) break;
      const newest = touches.at(-1);
      const isKnown = this.hasIds
        ? (newest?.updateId ?? 0) > book.id || nowUs > book.timeUs + PATIENCE_US
        : nowUs > book.timeUs + 2 * TOLERANCE_US;
      if (!isKnown) break;
      this.decide(false);
    }
    if (this.unmatched.length > 0) this.checkTouches(nowUs - 4 * TOLERANCE_US);
  }

  /** Compares the oldest book. `isEnd`: no best price follows. */
  private decide(isEnd: boolean): void {
    const book = this.books.shift();
    if (book === undefined) return;
    if (this.hasIds) this.byId(book, isEnd);
    else this.byTime(book, isEnd);
    this.inForce = book;
  }

  private byId(book: HeldBook, isEnd: boolean): void {
    const { touches } = this;
    for (let next = touches[0]; next !== undefined && next.updateId <= book.id; next = touches[0]) {
      this.last = next;
      touches.shift();
    }
    const { last } = this;
    if (last === null) this.skip('before');
    else if (last.updateId > book.id) this.skip('forgotten');
    else if (last.updateId === book.id && Math.abs(last.timeUs - book.timeUs) > PATIENCE_US) {
      this.mismatch(last, book, `at ${String(last.timeUs)} µs`, `at ${String(book.timeUs)} µs`);
    } else if (isEqual(last, book)) this.compared += 1;
    else if (isEnd && touches.length === 0) this.skip('after');
    else this.mismatch(last, book);
  }

  private byTime(book: HeldBook, isEnd: boolean): void {
    const { touches } = this;
    const fromUs = book.timeUs - TOLERANCE_US;
    const isPast = (touch: TouchRecord | undefined): boolean =>
      touch !== undefined && touch.timeUs <= fromUs;
    while (isPast(touches[1])) touches.shift();
    const untilUs = (this.books[0]?.timeUs ?? Infinity) + TOLERANCE_US;
    this.unmatched = this.unmatched.filter(
      (touch) => touch.timeUs < fromUs || touch.timeUs > untilUs || !isEqual(touch, book),
    );
    const near = touches.filter(({ timeUs }) => timeUs <= book.timeUs + TOLERANCE_US);
    if (near.some((touch) => isEqual(touch, book))) this.compared += 1;
    else if (near.length === 0) this.skip('before');
    else this.skip(isEnd && touches.length === near.length ? 'after' : 'between');
  }

  /** Best prices up to a time that equalled no book near them are mismatches. */
  private checkTouches(untilUs: number): void {
    const { inForce } = this;
    this.unmatched = this.unmatched.filter((touch) => {
      if (touch.timeUs > untilUs) return true;
      const isComparable = inForce !== null && touch.timeUs >= this.validUs;
      if (isComparable && !isEqual(touch, inForce)) this.mismatch(touch, inForce);
      return false;
    });
  }

  private skip(reason: NotCompared): void {
    this.notCompared[reason] = (this.notCompared[reason] ?? 0) + 1;
  }

  private mismatch(touch: TouchRecord, book: HeldBook, venue = '', rebuilt = ''): void {
    this.compared += 1;
    this.mismatched += 1;
    if (this.mismatches.length === MAX_SHOWN) return;
    const { line, timeUs } = touch;
    this.mismatches.push({
      updateId: touch.updateId > 0 ? book.id : 0,
      line,
      timeUs,
      venue: venue === '' ? shown(bestOf(touch)) : venue,
      rebuilt: rebuilt === '' ? shown(book) : rebuilt,
    });
  }
}

function bestOf({ bidTicks, bidLots, askTicks, askLots }: TouchRecord): Best {
  return { bid: bidTicks, bidLots, ask: askTicks, askLots };
}

function isEqual({ bidTicks, bidLots, askTicks, askLots }: TouchRecord, book: Best): boolean {
  return (
    bidTicks === book.bid &&
    askTicks === book.ask &&
    bidLots === book.bidLots &&
    askLots === book.askLots
  );
}

function shown({ bid, bidLots, ask, askLots }: Best): string {
  const level = (price: number, lots: number): string =>
    price === 0 ? 'none' : `${String(lots)} lots at ${String(price)} ticks`;
  return `bid ${level(bid, bidLots)}, ask ${level(ask, askLots)}`;
}
