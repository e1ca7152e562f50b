/**
 * Canonical binary serialisation of state. One field list both saves and loads: a part of state
 * implements `archive(io)` and passes each field through, `this.cash = io.bigint(this.cash)`.
 * Saving returns its argument; loading ignores its argument and returns the saved value. So the
 * saved form, the loaded form and the hashed form cannot diverge.
 *
 * Integers are zigzag varints of at most 53 bits. Bigints are two's complement in 8 or more bytes.
 * Text is UTF-16 code units as varints. Lists have a length prefix.
 */
import { UserError } from './user-error.ts';
import { assert } from './assert.ts';
import { UNIT_BUFFERS } from './unit-buffers.ts';

const HALF = 2 ** 28;
const WORD = 2 ** 32;
/** Bigints below it are exact as numbers. */
const EXACT = 2n ** 53n;

export interface Archive {
  readonly loading: boolean;
  /** A safe integer. */
  int(value: number): number;
  bigint(value: bigint): bigint;
  bool(value: boolean): boolean;
  text(value: string): string;
  optionalText(value: string | null): string | null;
  optionalInt(value: number | null): number | null;
  /**
   * Optional: bigints from 0 up to 2^63 − 1, as pairs of a low and a high word. The bytes are those
   * of as many calls of `bigint`.
   */
  pairs?(words: Uint32Array, firstPair: number, count: number): void;
  /**
   * Optional: the same integers as their bytes, which stay encoded. Saving appends `bytes`; loading
   * checks the next `count` integers and returns a view of their bytes.
   */
  pairBytes?(bytes: Uint8Array, count: number): Uint8Array;
  /** A marker that must read back unchanged, so that a misaligned stream fails near its fault. */
  section(name: string): void;
  /** Saving without what only requests of accounts and readers need: used nonces and history. */
  readonly pricesOnly?: boolean;
  /** Optional: takes a record that never changes as one value; false: its fields follow. */
  whole?(record: object): boolean;
  /** Optional: takes a part of the state as one value; false: its fields follow. */
  part?(kind: ArchivePart, of: object): boolean;
}

/** Parts of the live state of an exchange that an archive may take as one value each. */
export type ArchivePart = 'account' | 'subaccount' | 'market' | 'orders' | 'queues' | 'triggers';

/** A shorter buffer is copied without its unused end. */
const KEPT_BYTES = 1 << 20;

export class ArchiveWriter implements Archive {
  readonly loading = false;
  readonly pricesOnly: boolean;
  private buffer: Uint8Array<ArrayBuffer>;
  private length = 0;

  /** `expectedBytes`: first length of the buffer, which grows as needed. */
  constructor(pricesOnly = false, expectedBytes = 0) {
    this.pricesOnly = pricesOnly;
    this.buffer = new Uint8Array(Math.max(1 << 12, expectedBytes));
  }

  int(value: number): number {
    if (this.length + 9 > this.buffer.length) this.reserve(9);
    // One byte, which most integers are; −0 is left to the assertion's branch.
    if (value < 64 && value > 0 && Number.isInteger(value)) {
      this.buffer[this.length++] = value << 1;
      return value;
    }
    assert(Number.isSafeInteger(value), 'archived integers are safe');
    // Zigzag without 32-bit operators, since values reach 2^53. −0 would lose its sign.
    if (value >= -0x20000000 && value < 0x20000000) {
      let small = ((value << 1) ^ (value >> 31)) >>> 0;
      while (small >= 0x80) {
        this.buffer[this.length++] = (small & 0x7f) | 0x80;
        small >>>= 7;
      }
      this.buffer[this.length++] = small;
      return value;
    }
    if (value > -0x10000000000000 && value < 0x10000000000000) {
      // Two halves of 28 bits; the upper one is not zero.
      const large = value < 0 ? -2 * value - 1 : 2 * value;
      let high = Math.floor(large / HALF);
      let low = large - high * HALF;
      for (let i = 0; i < 4; i++) {
        this.buffer[this.length++] = (low & 0x7f) | 0x80;
        low >>>= 7;
      }
      while (high >= 0x80) {
        this.buffer[this.length++] = (high & 0x7f) | 0x80;
        high >>>= 7;
      }
      this.buffer[this.length++] = high;
      return value;
    }
    let rest = value < 0 ? BigInt(value) * -2n - 1n : BigInt(value) * 2n;
    while (rest >= 0x80n) {
      this.buffer[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.buffer[this.length++] = Number(rest);
    return value;
  }

  bigint(value: bigint): bigint {
    const negative = value < 0n;
    let rest = negative ? -value : value;
    if (rest < EXACT) {
      this.smallBigint(Number(rest), negative);
      return value;
    }
    const bytes: number[] = [];
    while (rest > 0n) {
      bytes.push(Number(rest & 0xffn));
      rest >>= 8n;
    }
    this.int(negative ? -bytes.length : bytes.length);
    this.reserve(bytes.length);
    for (const byte of bytes) this.buffer[this.length++] = byte;
    return value;
  }

  private smallBigint(size: number, negative: boolean): void {
    let low = size >>> 0;
    let high = (size - low) / WORD;
    const bytes = high === 0 ? bytesOf(low) : 4 + bytesOf(high);
    this.reserve(9);
    this.buffer[this.length++] = negative ? 2 * bytes - 1 : 2 * bytes;
    for (let left = Math.min(4, bytes); left > 0; left--) {
      this.buffer[this.length++] = low;
      low >>>= 8;
    }
    for (let left = bytes - 4; left > 0; left--) {
      this.buffer[this.length++] = high;
      high >>>= 8;
    }
  }

  pairs(words: Uint32Array, firstPair: number, count: number): void {
    this.reserve(9 * count);
    const { buffer } = this;
    let { length } = this;
    for (let i = 2 * firstPair; i < 2 * (firstPair + count); i += 2) {
      let low = words[i] ?? 0;
      let high = words[i + 1] ?? 0;
      const bytes = high === 0 ? bytesOf(low) : 4 + bytesOf(high);
      buffer[length++] = bytes << 1;
      for (let left = Math.min(4, bytes); left > 0; left--) {
        buffer[length++] = low;
        low >>>= 8;
      }
      for (let left = bytes - 4; left > 0; left--) {
        buffer[length++] = high;
        high >>>= 8;
      }
    }
    this.length = length;
  }

  pairBytes(bytes: Uint8Array, _count: number): Uint8Array {
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
    return bytes;
  }

  bool(value: boolean): boolean {
    if (this.length === this.buffer.length) this.reserve(1);
    this.buffer[this.length++] = value ? 2 : 0;
    return value;
  }

  text(value: string): string {
    this.int(value.length);
    // A unit below 2^16 takes up to three bytes.
    this.reserve(3 * value.length);
    const { buffer } = this;
    let { length } = this;
    for (let i = 0; i < value.length; i++) {
      let rest = value.charCodeAt(i) << 1;
      while (rest >= 0x80) {
        buffer[length++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      buffer[length++] = rest;
    }
    this.length = length;
    return value;
  }

  optionalText(value: string | null): string | null {
    this.bool(value !== null);
    return value === null ? null : this.text(value);
  }

  optionalInt(value: number | null): number | null {
    this.bool(value !== null);
    return value === null ? null : this.int(value);
  }

  section(name: string): void {
    this.text(name);
  }

  /** The bytes written so far, the last call: a large buffer that is almost full is not copied. */
  bytes(): Uint8Array {
    const { buffer, length } = this;
    const isKept = length >= KEPT_BYTES && length * 4 >= buffer.length * 3;
    return isKept ? buffer.subarray(0, length) : buffer.slice(0, length);
  }

  private reserve(extra: number): void {
    if (this.length + extra <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + extra));
    larger.set(this.buffer);
    this.buffer = larger;
  }
}

/** Bytes of the longest damaged pair: a size of one byte, in halves of a byte. */
const LONGEST_PAIR = 129;

/** Bytes of a word without its leading zeros. */
const bytesOf = (word: number): number => (39 - Math.clz32(word)) >> 3;

/** Thrown for bytes that no writer produced; the message has the offset. */
export class ArchiveError extends UserError {
  override readonly name = 'ArchiveError';
  readonly code = 'archive';
}

/** The word of a code that is read. Throws `ArchiveError`. */
export function wordOf<T extends string>(words: readonly T[], code: number): T {
  const word = words[code];
  if (word !== undefined) return word;
  throw new ArchiveError(`code ${String(code)} is none of ${words.join(', ')}`);
}

export class ArchiveReader implements Archive {
  readonly loading = true;
  private readonly source: Uint8Array;
  private at = 0;

  constructor(source: Uint8Array) {
    this.source = source;
  }

  int(_value = 0): number {
    const start = this.at;
    let byte = this.next();
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
    let low = byte & 0x7f;
    let shift = 7;
    byte = this.next();
    while (byte >= 0x80 && shift < 21) {
      low |= (byte & 0x7f) << shift;
      shift += 7;
      byte = this.next();
    }
    if (byte < 0x80) {
      const zigzag = (low | (byte << shift)) >>> 0;
      return (zigzag >>> 1) ^ -(zigzag & 1);
    }
    // Two halves of 28 bits.
    low |= (byte & 0x7f) << 21;
    let high = 0;
    shift = 0;
    do {
      byte = this.next();
      high |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80 && shift < 28);
    const value = high * HALF + low;
    if (byte < 0x80 && value < 2 ** 53) return (low & 1) === 1 ? -(value + 1) / 2 : value / 2;
    this.at = start;
    return this.largeInt();
  }

  private largeInt(): number {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (shift > 63n) {
        throw new ArchiveError(`snapshot byte ${String(this.at)}: integer too long`);
      }
      const byte = this.next();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    const decoded = Number((value & 1n) === 1n ? -(value >> 1n) - 1n : value >> 1n);
    if (!Number.isSafeInteger(decoded)) {
      throw new ArchiveError(`snapshot byte ${String(this.at)}: integer beyond 2^53`);
    }
    return decoded;
  }

  bigint(_value = 0n): bigint {
    const size = this.int();
    let value = 0n;
    const bytes = Math.abs(size);
    if (bytes > 64) throw new ArchiveError(`snapshot byte ${String(this.at)}: bigint too long`);
    if (bytes <= 6) {
      let small = 0;
      for (let i = 0, scale = 1; i < bytes; i++, scale *= 256) small += this.next() * scale;
      value = BigInt(small);
    } else {
      for (let i = 0; i < bytes; i++) value |= BigInt(this.next()) << BigInt(8 * i);
    }
    return size < 0 ? -value : value;
  }

  pairs(words: Uint32Array, firstPair: number, count: number): void {
    const { source } = this;
    let { at } = this;
    for (let i = 2 * firstPair; i < 2 * (firstPair + count); i += 2) {
      const bytes = (source[at] ?? 1) / 2;
      const end = at + 1 + bytes;
      if (!Number.isInteger(bytes) || bytes > 8 || end > source.length) {
        throw new ArchiveError(`snapshot byte ${String(at)}: expected a bigint of 0 to 8 bytes`);
      }
      let low = 0;
      let high = 0;
      for (let byte = end - 1; byte > at + 4; byte--) high = (high << 8) | (source[byte] ?? 0);
      for (let byte = Math.min(end - 1, at + 4); byte > at; byte--) {
        low = (low << 8) | (source[byte] ?? 0);
      }
      if (high < 0) throw new ArchiveError(`snapshot byte ${String(at)}: bigint of 2^63 or more`);
      words[i] = low;
      words[i + 1] = high;
      at = end;
    }
    this.at = at;
  }

  pairBytes(_bytes: Uint8Array, count: number): Uint8Array {
    const { source, at: start } = this;
    let at = start;
    if (count * LONGEST_PAIR < source.length - start) {
      let sizes = 0;
      for (let i = 0; i < count; i++) {
        const size = source[at] ?? 1;
        sizes |= size;
        at += 1 + (size >> 1);
      }
      // Sizes in halves of a byte: all are even and below 16.
      if ((sizes & ~14) === 0) {
        this.at = at;
        return source.subarray(start, at);
      }
      at = start;
    }
    for (let i = 0; i < count; i++) {
      const size = source[at] ?? 1;
      const end = at + 1 + (size >> 1);
      if ((size & 1) !== 0 || size > 16 || end > source.length) {
        throw new ArchiveError(`snapshot byte ${String(at)}: expected a bigint of 0 to 8 bytes`);
      }
      if (size === 16 && (source[end - 1] ?? 0) > 0x7f) {
        throw new ArchiveError(`snapshot byte ${String(at)}: bigint of 2^63 or more`);
      }
      at = end;
    }
    this.at = at;
    return source.subarray(start, at);
  }

  bool(_value = false): boolean {
    const value = this.int();
    if (value !== 0 && value !== 1) {
      throw new ArchiveError(`snapshot byte ${String(this.at)}: expected a boolean`);
    }
    return value === 1;
  }

  text(_value = ''): string {
    const length = this.int();
    if (length < 0 || length > this.source.length - this.at) {
      throw new ArchiveError(`snapshot byte ${String(this.at)}: text longer than the snapshot`);
    }
    const units = UNIT_BUFFERS[length];
    if (units === undefined) {
      let value = '';
      for (let i = 0; i < length; i++) value += String.fromCharCode(this.int());
      return value;
    }
    // At once: a string that grows by characters becomes a tree of parts.
    const { source } = this;
    for (let i = 0; i < length; i++) {
      const { at } = this;
      const low = source[at] ?? 0xff;
      const high = source[at + 1] ?? 0xff;
      if (low < 0x80 && (low & 1) === 0) {
        units[i] = low >> 1;
        this.at = at + 1;
      } else if ((low & 1) === 0 && high < 0x80) {
        units[i] = ((low & 0x7f) | (high << 7)) >> 1;
        this.at = at + 2;
      } else units[i] = this.int();
    }
    return String.fromCharCode(...units);
  }

  optionalText(_value: string | null = null): string | null {
    return this.bool() ? this.text() : null;
  }

  optionalInt(_value: number | null = null): number | null {
    return this.bool() ? this.int() : null;
  }

  section(name: string): void {
    const at = this.at;
    let found: string;
    try {
      found = this.text();
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      found = '';
    }
    if (found !== name) {
      throw new ArchiveError(`snapshot byte ${String(at)}: expected section '${name}'`);
    }
  }

  /** Throws unless all input is consumed. */
  end(): void {
    if (this.at !== this.source.length) {
      throw new ArchiveError(
        `snapshot has ${String(this.source.length - this.at)} bytes after its end`,
      );
    }
  }

  private next(): number {
    const byte = this.source[this.at];
    if (byte === undefined) {
      throw new ArchiveError(`snapshot ends early at byte ${String(this.at)}`);
    }
    this.at += 1;
    return byte;
  }
}

/** Archives a list: its length, then each item through `each`. */
export function archiveList<T>(io: Archive, items: readonly T[], each: (item: T | null) => T): T[] {
  const length = io.int(items.length);
  const result: T[] = [];
  for (let i = 0; i < length; i++) result.push(each(items[i] ?? null));
  return result;
}
