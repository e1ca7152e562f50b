/**
 * Little-endian bytes for the journal: a growing writer and a bounded reader. Unsigned integers are
 * varints of seven bits per byte up to 2^53, signed ones zigzag, int64 eight bytes, text UTF-8 with
 * its byte length.
 */

/** Malformed bytes; `offset` is their position. */
export class BytesError extends Error {
  override readonly name = 'BytesError';
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const scratch = new BigInt64Array(1);
/** Low and high half. */
const scratchWords = new Int32Array(scratch.buffer);

export class ByteWriter {
  buffer: Uint8Array;
  length = 0;
  /** View of the same bytes. */
  view: DataView;

  constructor(capacity = 1 << 16) {
    this.buffer = new Uint8Array(capacity);
    this.view = new DataView(this.buffer.buffer);
  }

  reserve(extra: number): void {
    if (this.length + extra <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + extra));
    larger.set(this.buffer.subarray(0, this.length));
    this.buffer = larger;
    this.view = new DataView(larger.buffer);
  }

  u8(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  u32(value: number): void {
    this.reserve(4);
    this.putU32(this.length, value);
    this.length += 4;
  }

  putU32(at: number, value: number): void {
    this.view.setUint32(at, value, true);
  }

  /** A safe integer ≥ 0 in eight bytes. */
  u64(value: number): void {
    this.reserve(8);
    this.putU32(this.length, value | 0);
    this.putU32(this.length + 4, Math.floor(value / 0x100000000));
    this.length += 8;
  }

  uint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80000000) {
      this.buffer[this.length++] = (rest & 0x7f) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    while (rest >= 0x80) {
      this.buffer[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.buffer[this.length++] = rest;
  }

  int(value: number): void {
    this.reserve(9);
    // Zigzag by arithmetic: doubling 2^53 is inexact, so the low bit has the sign.
    const negative = value < 0;
    const size = negative ? -value - 1 : value;
    const high = Math.floor(size / 0x40);
    this.buffer[this.length++] = ((size & 0x3f) << 1) | (negative ? 1 : 0) | (high > 0 ? 0x80 : 0);
    if (high > 0) this.uint(high);
  }

  i64(value: bigint): void {
    this.reserve(8);
    scratch[0] = value;
    this.putU32(this.length, scratchWords[0] ?? 0);
    this.putU32(this.length + 4, scratchWords[1] ?? 0);
    this.length += 8;
  }

  text(value: string): void {
    let ascii = value.length < 128;
    for (let i = 0; ascii && i < value.length; i++) ascii = value.charCodeAt(i) < 128;
    if (ascii) {
      this.reserve(value.length + 1);
      this.buffer[this.length++] = value.length;
      for (let i = 0; i < value.length; i++) this.buffer[this.length++] = value.charCodeAt(i);
      return;
    }
    const bytes = utf8(value);
    this.uint(bytes.length);
    this.reserve(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** A presence byte, then the text. */
  optionalText(value: string | null): void {
    this.u8(value === null ? 0 : 1);
    if (value !== null) this.text(value);
  }

  /** A copy of the written bytes. */
  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }
}

export class ByteReader {
  readonly source: Uint8Array;
  at: number;
  end: number;
  readonly view: DataView;
  /** Last value of `sameI64At` and its halves. */
  private last = 0n;
  private lastLow = 0;
  private lastHigh = 0;

  constructor(source: Uint8Array, at = 0, end = source.length) {
    this.source = source;
    this.at = at;
    this.end = end;
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  }

  u8(): number {
    if (this.at >= this.end) throw new BytesError(this.at, 'the frame ends early');
    return this.source[this.at++] ?? 0;
  }

  u32(): number {
    const { at } = this;
    if (at + 4 > this.end) throw new BytesError(at, 'the frame ends early');
    this.at = at + 4;
    return this.view.getUint32(at, true);
  }

  i32(): number {
    const { at } = this;
    if (at + 4 > this.end) throw new BytesError(at, 'the frame ends early');
    this.at = at + 4;
    return this.view.getInt32(at, true);
  }

  u64(): number {
    const { at } = this;
    if (at + 8 > this.end) throw new BytesError(at, 'the frame ends early');
    this.at = at + 8;
    return this.u64At(at);
  }

  /** The safe integer in the eight bytes at `at`; the caller checks bounds. */
  u64At(at: number): number {
    const high = this.view.getUint32(at + 4, true);
    if (high >= 0x200000) throw new BytesError(at, 'a number beyond 2^53');
    return high * 0x100000000 + this.view.getUint32(at, true);
  }

  /** `name` is for the error if the byte is neither 0 nor 1. */
  bool(name: string): boolean {
    const byte = this.u8();
    if (byte > 1) throw new BytesError(this.at - 1, `${name} is neither 0 nor 1`);
    return byte === 1;
  }

  uint(): number {
    const byte = this.u8();
    if (byte < 0x80) return byte;
    this.at -= 1;
    return this.longUint();
  }

  private longUint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new BytesError(this.at, 'a number beyond 2^53');
  }

  int(): number {
    const first = this.u8();
    const low = (first >>> 1) & 0x3f;
    const size = first >= 0x80 ? this.uint() * 0x40 + low : low;
    if (size > Number.MAX_SAFE_INTEGER) throw new BytesError(this.at, 'a number beyond 2^53');
    return (first & 1) === 1 ? -size - 1 : size;
  }

  i64(): bigint {
    const { at } = this;
    if (at + 8 > this.end) throw new BytesError(at, 'the frame ends early');
    this.at = at + 8;
    return this.i64At(at);
  }

  /** The int64 at `at`; the caller checks bounds. `getBigInt64` is not inlined. */
  i64At(at: number): bigint {
    scratchWords[0] = this.view.getInt32(at, true);
    scratchWords[1] = this.view.getInt32(at + 4, true);
    return scratch[0] ?? 0n;
  }

  /** Like `i64At`, but returns the previous bigint without allocation if the value is unchanged. */
  sameI64At(at: number): bigint {
    const low = this.view.getInt32(at, true);
    const high = this.view.getInt32(at + 4, true);
    if (low !== this.lastLow || high !== this.lastHigh) {
      this.lastLow = low;
      this.lastHigh = high;
      this.last = this.i64At(at);
    }
    return this.last;
  }

  text(): string {
    const length = this.uint();
    if (length > this.end - this.at) throw new BytesError(this.at, 'a text longer than its frame');
    const start = this.at;
    this.at += length;
    let text = '';
    for (let i = start; i < this.at; i++) {
      const byte = this.source[i] ?? 0;
      if (byte >= 0x80) return fromUtf8(this.source, start, this.at);
      text += String.fromCharCode(byte);
    }
    return text;
  }
}

/** UTF-8 without the platform's encoder; a lone surrogate becomes U+FFFD, as there. */
function utf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of text) {
    let point = character.codePointAt(0) ?? 0xfffd;
    if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    if (point < 0x80) bytes.push(point);
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
    else if (point < 0x10000) {
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
    } else {
      bytes.push(
        0xf0 | (point >> 18),
        0x80 | ((point >> 12) & 0x3f),
        0x80 | ((point >> 6) & 0x3f),
        0x80 | (point & 0x3f),
      );
    }
  }
  return Uint8Array.from(bytes);
}

function fromUtf8(source: Uint8Array, start: number, end: number): string {
  let text = '';
  let at = start;
  const tail = (): number => {
    const byte = at < end ? (source[at] ?? 0) : 0;
    if ((byte & 0xc0) !== 0x80) throw new BytesError(at, 'text that is not UTF-8');
    at += 1;
    return byte & 0x3f;
  };
  while (at < end) {
    const byte = source[at] ?? 0;
    at += 1;
    let point = byte;
    if (byte >= 0x80) {
      if ((byte & 0xe0) === 0xc0) point = ((byte & 0x1f) << 6) | tail();
      else if ((byte & 0xf0) === 0xe0) point = ((byte & 0x0f) << 12) | (tail() << 6) | tail();
      else if ((byte & 0xf8) === 0xf0) {
        point = ((byte & 0x07) << 18) | (tail() << 12) | (tail() << 6) | tail();
      } else throw new BytesError(at - 1, 'text that is not UTF-8');
      if (point > 0x10ffff) throw new BytesError(at - 1, 'text that is not UTF-8');
    }
    text += String.fromCodePoint(point);
  }
  return text;
}
