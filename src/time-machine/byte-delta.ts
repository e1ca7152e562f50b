/**
 * The difference of two byte strings: which bytes of the new one are in the old one, and the rest.
 *
 * Format, in varints: length of the new bytes; then pairs of a literal (length, bytes) and a copy
 * (length, zigzag distance of its start from the end of the copy before it).
 *
 * The old bytes are followed in step. Where the two differ, the nearest place is searched at which
 * both continue alike. Without one, a table of the old bytes' blocks finds where the new ones come
 * from. Cost: linear, plus a constant for each difference. A poor choice makes a delta longer,
 * never wrong.
 */
import { assert } from '../base/assert.ts';

/** Equal bytes after which both sides are taken to continue alike. */
const ALIKE = 8;
/** Bytes skipped on both sides together while the place is searched nearby. */
const NEARBY = 12;
/** Bytes of a block that the table has: three words. */
const BLOCK = 12;
const NOWHERE = -1;

export function deltaOf(base: Uint8Array, target: Uint8Array): Uint8Array {
  const out = new DeltaWriter(target);
  const [old, made] = [viewOf(base), viewOf(target)];
  let table: BlockTable | null = null;
  let from = 0;
  let at = 0;
  while (at < target.length) {
    const length = commonLength(old, from, made, at);
    if (length > 0) out.copy(from, at, length);
    from += length;
    at += length;
    if (at >= target.length) break;
    const near = resync(old, from, made, at);
    if (near !== NOWHERE) {
      from += near >>> 8;
      at += near & 0xff;
      continue;
    }
    table ??= new BlockTable(old);
    let found = NOWHERE;
    for (; at < target.length; at++) {
      found = table.find(made, at);
      if (found !== NOWHERE) break;
    }
    if (found !== NOWHERE) from = found;
  }
  return out.bytes();
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, length);

/** The new bytes. The delta must be one of these old bytes. */
export function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const reader = new VarintReader(delta);
  const target = new Uint8Array(reader.next());
  let from = 0;
  for (let at = 0; at < target.length;) {
    const literal = reader.next();
    copyBytes(delta, reader.at, target, at, literal);
    reader.at += literal;
    at += literal;
    const length = reader.next();
    const zigzag = reader.next();
    from += (zigzag >>> 1) ^ -(zigzag & 1);
    assert(from >= 0 && from + length <= base.length, 'a delta copies bytes of its base');
    copyBytes(base, from, target, at, length);
    from += length;
    at += length;
  }
  return target;
}

/** A call to copy few bytes costs more than the bytes. */
const SHORT = 24;

function copyBytes(
  base: Uint8Array,
  from: number,
  target: Uint8Array,
  at: number,
  length: number,
): void {
  if (length > SHORT) target.set(base.subarray(from, from + length), at);
  else for (let i = 0; i < length; i++) target[at + i] = base[from + i] ?? 0;
}

function commonLength(base: DataView, from: number, target: DataView, at: number): number {
  const most = Math.min(base.byteLength - from, target.byteLength - at);
  let length = 0;
  while (length + 4 <= most && base.getInt32(from + length) === target.getInt32(at + length)) {
    length += 4;
  }
  while (length < most && base.getUint8(from + length) === target.getUint8(at + length)) {
    length += 1;
  }
  return length;
}

/**
 * The fewest bytes to skip so that both sides continue alike: of the base times 256, plus of the
 * target.
 */
function resync(base: DataView, from: number, target: DataView, at: number): number {
  const baseEnd = base.byteLength - ALIKE;
  const targetEnd = target.byteLength - ALIKE;
  for (let skipped = 1; skipped <= NEARBY; skipped++) {
    for (let ofBase = 0; ofBase <= skipped; ofBase++) {
      const i = from + ofBase;
      const k = at + skipped - ofBase;
      if (i > baseEnd || k > targetEnd || base.getInt32(i) !== target.getInt32(k)) continue;
      if (base.getInt32(i + 4) === target.getInt32(k + 4)) return ofBase * 256 + skipped - ofBase;
    }
  }
  return NOWHERE;
}

/** Where the blocks of some bytes begin, by their hash; of equal hashes the first. */
class BlockTable {
  private readonly bytes: DataView;
  private readonly places: Int32Array;
  private readonly mask: number;

  constructor(bytes: DataView) {
    this.bytes = bytes;
    const blocks = Math.floor(bytes.byteLength / BLOCK);
    let slots = 4;
    while (slots < 2 * blocks) slots *= 2;
    this.mask = slots - 1;
    this.places = new Int32Array(this.mask + 1).fill(NOWHERE);
    for (let i = 0; i < blocks; i++) {
      const slot = hashOf(bytes, i * BLOCK) & this.mask;
      if (this.places[slot] === NOWHERE) this.places[slot] = i * BLOCK;
    }
  }

  /** A block that is equal to the bytes at a place; `NOWHERE` without one. */
  find(target: DataView, at: number): number {
    if (at + BLOCK > target.byteLength) return NOWHERE;
    const place = this.places[hashOf(target, at) & this.mask] ?? NOWHERE;
    return place !== NOWHERE && isSameBlock(this.bytes, place, target, at) ? place : NOWHERE;
  }
}

function hashOf(bytes: DataView, at: number): number {
  const mixed =
    Math.imul(bytes.getInt32(at), 0x2c1b3c6d) ^
    Math.imul(bytes.getInt32(at + 4), 0x297a2d39) ^
    Math.imul(bytes.getInt32(at + 8), 0x1b873593);
  return Math.imul(mixed ^ (mixed >>> 15), 0x01000193) >>> 4;
}

function isSameBlock(base: DataView, from: number, target: DataView, at: number): boolean {
  return (
    base.getInt32(from) === target.getInt32(at) &&
    base.getInt32(from + 4) === target.getInt32(at + 4) &&
    base.getInt32(from + 8) === target.getInt32(at + 8)
  );
}

class DeltaWriter {
  private readonly target: Uint8Array;
  private out = new Uint8Array(1 << 12);
  private length = 0;
  /** End of the last copy in the target, and in the base. */
  private done = 0;
  private expected = 0;

  constructor(target: Uint8Array) {
    this.target = target;
    this.varint(target.length);
  }

  /** The target's bytes between the last copy and this one are a literal. */
  copy(from: number, at: number, length: number): void {
    const literal = at - this.done;
    this.varint(literal);
    this.reserve(literal);
    this.out.set(this.target.subarray(this.done, at), this.length);
    this.length += literal;
    this.varint(length);
    const distance = from - this.expected;
    this.varint(((distance << 1) ^ (distance >> 31)) >>> 0);
    this.done = at + length;
    this.expected = from + length;
  }

  bytes(): Uint8Array {
    if (this.done < this.target.length) this.copy(this.expected, this.target.length, 0);
    return this.out.slice(0, this.length);
  }

  private varint(value: number): void {
    this.reserve(5);
    let rest = value;
    while (rest >= 0x80) {
      this.out[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.out[this.length++] = rest;
  }

  private reserve(extra: number): void {
    if (this.length + extra <= this.out.length) return;
    const larger = new Uint8Array(Math.max(this.out.length * 2, this.length + extra));
    larger.set(this.out);
    this.out = larger;
  }
}

class VarintReader {
  at = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  next(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }
}
