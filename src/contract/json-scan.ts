/**
 * Scan of JSON text ahead of a parser: its size in numbers, keys and nesting, part by part as the
 * text arrives. A request beyond its limits is refused before any of it is parsed.
 *
 * Cost: one pass without allocation. Text may be Latin-1 of UTF-8 bytes: every character that the
 * scan looks for is ASCII.
 */

/** Limits of a JSON text. */
export interface JsonLimits {
  /** UTF-8 bytes. */
  readonly bytes: number;
  /** Characters of one number. */
  readonly digits: number;
  /** Keys and elements of all objects and arrays, as commas and colons. */
  readonly items: number;
  /** Nested objects and arrays. */
  readonly depth: number;
}

/** Integers with fewer digits are exact as numbers, and with more they are not. */
const LONG_DIGITS = 16;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export class JsonScan {
  /** Keys of all objects, counted by their colons. */
  keys = 0;
  /** True if the parser of the language reads every number exactly. */
  isExact = true;
  private readonly limits: JsonLimits;
  private items = 0;
  private depth = 0;
  private digits = 0;
  /** Value of the first digits of a number. */
  private value = 0;
  private inString = false;
  private isEscaped = false;

  constructor(limits: JsonLimits) {
    this.limits = limits;
  }

  /** Scans the next part. Throws `SyntaxError` with the exceeded limit. */
  push(text: string): void {
    for (let i = 0; i < text.length; i++) {
      if (this.inString) {
        i = this.endOfString(text, i);
        continue;
      }
      const char = text.charCodeAt(i);
      if (char >= 0x30 && char <= 0x39) this.countDigit(char - 0x30);
      // A point, an exponent and its sign; the letter e of a word is harmless here.
      else if (char === 0x2e || char === 0x65 || char === 0x45 || char === 0x2b) this.countMark();
      else {
        if (this.digits > 0) this.digits = 0;
        if (char === QUOTE) this.inString = true;
        else if (char === 0x2c || char === 0x3a) this.countItem(char === 0x3a);
        else if (char === 0x7b || char === 0x5b) this.enter();
        else if (char === 0x7d || char === 0x5d) this.depth -= 1;
      }
    }
  }

  /** Index of the closing quote, or the end of this part. */
  private endOfString(text: string, from: number): number {
    for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
      if (this.escapes(text, from, end)) continue;
      this.inString = false;
      this.isEscaped = false;
      return end;
    }
    this.isEscaped = this.escapes(text, from, text.length);
    return text.length;
  }

  /** True if an odd number of backslashes ends before `end`, with those of the part before. */
  private escapes(text: string, from: number, end: number): boolean {
    let at = end;
    while (at > from && text.charCodeAt(at - 1) === BACKSLASH) at -= 1;
    const isOdd = (end - at) % 2 === 1;
    return at === from && this.isEscaped ? !isOdd : isOdd;
  }

  private countDigit(digit: number): void {
    this.digits += 1;
    this.value = this.digits === 1 ? digit : this.value * 10 + digit;
    if (this.digits < LONG_DIGITS) return;
    // Of 16 digits, values up to 2^54 round to neighbours, which are on the same side of 2^53.
    if (this.digits > LONG_DIGITS || this.value > Number.MAX_SAFE_INTEGER) this.isExact = false;
    this.mustBeWithin('digits', this.digits, 'a number has more than', 'characters');
  }

  private countMark(): void {
    if (this.digits === 0) return;
    this.isExact = false;
    this.digits += 1;
    this.mustBeWithin('digits', this.digits, 'a number has more than', 'characters');
  }

  private countItem(isKey: boolean): void {
    if (isKey) this.keys += 1;
    this.items += 1;
    if (this.items <= this.limits.items) return;
    this.mustBeWithin('items', this.items, 'has more than', 'keys and elements');
  }

  private enter(): void {
    this.depth += 1;
    this.mustBeWithin('depth', this.depth, 'nested deeper than', 'levels');
  }

  private mustBeWithin(
    name: 'digits' | 'items' | 'depth',
    count: number,
    what: string,
    of: string,
  ) {
    const limit = this.limits[name];
    if (count > limit) throw new SyntaxError(`${what} ${String(limit)} ${of}`);
  }
}
