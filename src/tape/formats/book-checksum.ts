/**
 * Checksums that a venue sends with its book: a CRC-32 of the texts of its best levels. The book is
 * kept in the venue's own texts, since trailing zeros count.
 */
import { crc32 } from '../../base/crc32.ts';

/** A level in the venue's texts; a size of zero removes it. */
export interface TextLevel {
  readonly price: string;
  readonly size: string;
}

/** Checksums of a recording that were compared with its levels. */
export interface ChecksumFacts {
  readonly compared: number;
  readonly mismatched: number;
  /** Lines of the first mismatches. */
  readonly lines: readonly number[];
}

export interface TextBookState {
  readonly bids: readonly TextLevel[];
  readonly asks: readonly TextLevel[];
}

const MAX_LINES = 10;

export class Checksums {
  facts: ChecksumFacts;

  constructor(facts: ChecksumFacts = { compared: 0, mismatched: 0, lines: [] }) {
    this.facts = facts;
  }

  readonly note = (line: number, isEqual: boolean): void => {
    const { compared, mismatched, lines } = this.facts;
    this.facts = {
      compared: compared + 1,
      mismatched: mismatched + (isEqual ? 0 : 1),
      lines: isEqual || lines.length === MAX_LINES ? lines : [...lines, line],
    };
  };
}

/** `12 of 5000 checksums of the venue differ from the recorded levels, first at line 812`. */
export function checksumText({ compared, mismatched, lines }: ChecksumFacts): string {
  const [first] = lines;
  const place = first === undefined ? '' : `, first at line ${String(first)}`;
  return `${String(mismatched)} of ${String(compared)} checksums of the venue differ from the recorded levels${place}`;
}

export class TextBook {
  private readonly bids = new TextSide(-1);
  private readonly asks = new TextSide(1);

  constructor({ bids = [], asks = [] }: Partial<TextBookState> = {}) {
    this.take(bids, asks);
  }

  state(): TextBookState {
    return { bids: this.bids.best(Infinity), asks: this.asks.best(Infinity) };
  }

  clear(): void {
    this.bids.clear();
    this.asks.clear();
  }

  take(bids: readonly TextLevel[], asks: readonly TextLevel[]): void {
    for (const level of bids) this.bids.set(level);
    for (const level of asks) this.asks.set(level);
  }

  /** Removes what is deeper than this number of levels a side. */
  cut(depth: number): void {
    this.bids.cut(depth);
    this.asks.cut(depth);
  }

  /** Best levels first. */
  best(depth: number): TextBookState {
    return { bids: this.bids.best(depth), asks: this.asks.best(depth) };
  }
}

class TextSide {
  private readonly levels = new Map<number, TextLevel>();
  /** Prices times `sign`, ascending: the best is first. */
  private readonly sorted: number[] = [];
  private readonly sign: 1 | -1;

  constructor(sign: 1 | -1) {
    this.sign = sign;
  }

  set(level: TextLevel): void {
    const key = Number(level.price) * this.sign;
    const isListed = this.levels.has(key);
    if (Number(level.size) > 0) {
      this.levels.set(key, level);
      if (!isListed) this.sorted.splice(this.placeOf(key), 0, key);
    } else if (isListed) {
      this.levels.delete(key);
      this.sorted.splice(this.placeOf(key), 1);
    }
  }

  best(depth: number): TextLevel[] {
    return this.sorted.slice(0, depth).flatMap((key) => this.levels.get(key) ?? []);
  }

  cut(depth: number): void {
    for (const key of this.sorted.splice(depth)) this.levels.delete(key);
  }

  clear(): void {
    this.levels.clear();
    this.sorted.length = 0;
  }

  /** Index of the first entry at or above the key. */
  private placeOf(key: number): number {
    let [from, to] = [0, this.sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.sorted[middle] ?? 0) < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

const OKX_DEPTH = 25;

/**
 * OKX: the best 25 levels, bids and asks in turn, as `price:size` joined by colons; signed. Source:
 * OKX API guide v5, "Checksum" of the order book channel.
 */
export function okxChecksum(book: TextBook): number {
  const { bids, asks } = book.best(OKX_DEPTH);
  const parts: string[] = [];
  for (let i = 0; i < Math.max(bids.length, asks.length); i++) {
    for (const level of [bids[i], asks[i]]) {
      if (level !== undefined) parts.push(`${level.price}:${level.size}`);
    }
  }
  return crcOf(parts.join(':'));
}

const KRAKEN_DEPTH = 10;
/** Most decimals of a price or a size at Kraken. */
const KRAKEN_DECIMALS = 12;

/** Decimals of prices and sizes in a checksum of Kraken. */
export interface KrakenPrecision {
  readonly price: number;
  readonly size: number;
}

/**
 * Kraken v2: the best 10 asks, then bids; of each level the price and the size with the decimals of
 * the pair, without the point and leading zeros; unsigned. Source: Kraken API Center, "Book
 * checksum" of Spot WebSockets v2.
 */
export function krakenChecksum(book: TextBook, { price, size }: KrakenPrecision): number {
  const { bids, asks } = book.best(KRAKEN_DEPTH);
  const digits = (text: string, decimals: number): string =>
    fixed(text, decimals).replace('.', '').replace(/^0+/, '');
  const parts = [...asks, ...bids].map(
    (level) => digits(level.price, price) + digits(level.size, size),
  );
  return crcOf(parts.join('')) >>> 0;
}

/**
 * The decimals with which a book has its checksum: those of its texts, or more, since a recorder
 * that parses numbers drops trailing zeros. Null if none fits.
 */
export function krakenPrecision(book: TextBook, checksum: number): KrakenPrecision | null {
  const { bids, asks } = book.best(Infinity);
  const levels = [...bids, ...asks];
  const least = (texts: readonly string[]): number => Math.max(0, ...texts.map(decimalsOf));
  const leastPrice = least(levels.map((level) => level.price));
  const leastSize = least(levels.map((level) => level.size));
  for (let price = leastPrice; price <= KRAKEN_DECIMALS; price++) {
    for (let size = leastSize; size <= KRAKEN_DECIMALS; size++) {
      if (krakenChecksum(book, { price, size }) === checksum) return { price, size };
    }
  }
  return null;
}

function decimalsOf(text: string): number {
  if (/e/i.test(text)) return KRAKEN_DECIMALS;
  const point = text.indexOf('.');
  return point < 0 ? 0 : text.length - point - 1;
}

function fixed(text: string, decimals: number): string {
  if (/e/i.test(text)) return Number(text).toFixed(decimals);
  const missing = decimals - decimalsOf(text);
  if (missing <= 0) return text;
  return `${text}${text.includes('.') ? '' : '.'}${'0'.repeat(missing)}`;
}

function crcOf(text: string): number {
  const bytes = new TextEncoder().encode(text);
  return crc32(new DataView(bytes.buffer), 0, bytes.length);
}

/** Pairs of numbers of a list of levels as they are in the source, `"price": 0.50, "qty": 1.00`. */
export function levelTexts(source: string, side: 'bids' | 'asks'): TextLevel[] {
  const list = new RegExp(`"${side}"\\s*:\\s*\\[([^\\]]*)\\]`).exec(source)?.[1] ?? '';
  const pairs = list.matchAll(
    /"price"\s*:\s*"?([-+0-9.eE]+)"?\s*,\s*"qty"\s*:\s*"?([-+0-9.eE]+)"?/g,
  );
  return [...pairs].map(([, price = '', size = '']) => ({ price, size }));
}
