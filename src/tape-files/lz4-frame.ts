/**
 * Decompresses LZ4 frames, as written by `lz4`, Arrow and exchange archives, one block at a time.
 * Supports linked blocks, several frames in a row and skippable frames. The content checksum of a
 * frame is verified.
 *
 * Source: LZ4 frame format 1.6.4 and block format (doc/lz4_Frame_format.md,
 * doc/lz4_Block_format.md).
 */
import { createXXHash32 } from 'hash-wasm';
import { TapeError } from '../tape/record.ts';
import { plainData, wholeData, type FrameSteps, type Want } from './frame-steps.ts';

export type Checksum = Awaited<ReturnType<typeof createXXHash32>>;

const MAGIC = 0x184d2204;
const SKIPPABLE = 0x184d2a50;
const HISTORY = 65_536;
const LARGEST_BLOCK = [65_536, 262_144, 1_048_576, 4_194_304];

/** Decompressed data of a stream of frames. Throws `TapeError` on damaged data. */
export async function* lz4Plain(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* plainData(source, frames(await createXXHash32()));
}

/** Decompressed data of complete frames in memory, up to `most` bytes. Throws `TapeError`. */
export function lz4Whole(bytes: Uint8Array, most: number): Uint8Array {
  return wholeData(bytes, frames(null), most);
}

function* frames(checksum: Checksum | null): FrameSteps {
  for (;;) {
    const head = yield 4;
    if (head.length === 0) return;
    const magic = numberOf(head, 4);
    if (magic === MAGIC) yield* frame(checksum);
    else if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) {
      yield* exactly(numberOf(yield* exactly(4), 4));
    } else throw new TapeError('damaged lz4 data: the magic number of a frame is missing');
  }
}

function* frame(checksum: Checksum | null): FrameSteps {
  const [flags = 0, size = 0] = yield* exactly(2);
  if (flags >> 6 !== 1) throw new TapeError('unsupported lz4 frame version');
  if ((flags & 1) !== 0) throw new TapeError('lz4 data with a dictionary are not supported');
  const largest = LARGEST_BLOCK[((size >> 4) & 7) - 4];
  if (largest === undefined) throw new TapeError('damaged lz4 data: unknown block size');
  const isLinked = (flags & 0x20) === 0;
  // The optional content size, and the checksum of the header.
  yield* exactly((flags & 8) === 0 ? 1 : 9);
  checksum?.init();
  const target = new Uint8Array(HISTORY + largest);
  let start = 0;
  for (;;) {
    const word = numberOf(yield* exactly(4), 4);
    if (word === 0) break;
    const length = (word & 0x7fffffff) >>> 0;
    if (length > largest) throw new TapeError('damaged lz4 data: a block exceeds its limit');
    const block = yield* exactly(length);
    let end: number;
    if (word >>> 31 === 1) {
      target.set(block, start);
      end = start + length;
    } else end = decompress(block, target, start, start + largest);
    if ((flags & 0x10) !== 0) yield* exactly(4);
    const plain = target.slice(start, end);
    checksum?.update(plain);
    yield plain;
    if (!isLinked) continue;
    const kept = Math.min(HISTORY, end);
    target.copyWithin(0, end - kept, end);
    start = kept;
  }
  if ((flags & 4) === 0) return;
  const emitted = numberOf(yield* exactly(4), 4);
  if (checksum !== null && Number.parseInt(checksum.digest(), 16) !== emitted) {
    throw new TapeError('damaged lz4 data: content checksum mismatch');
  }
}

function* exactly(count: number): Generator<Want, Uint8Array, Uint8Array> {
  if (count === 0) return new Uint8Array(0);
  const taken = yield count;
  if (taken.length < count) throw new TapeError('the lz4 data end early');
  return taken;
}

/** Little-endian. */
function numberOf(bytes: Uint8Array, count: number): number {
  if (bytes.length < count) throw new TapeError('the lz4 data end early');
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + (bytes[i] ?? 0);
  return value;
}

/**
 * Decompresses one block into `target` from `start`, at most to `limit`; returns the end of its
 * data.
 */
function decompress(block: Uint8Array, target: Uint8Array, start: number, limit: number): number {
  const damaged = (): TapeError => new TapeError('damaged lz4 data in a block');
  let at = 0;
  let end = start;
  /** A length nibble of 15 is extended by further bytes, up to the first that is not 255. */
  const lengthOf = (nibble: number): number => {
    let length = nibble;
    if (nibble < 15) return length;
    for (;;) {
      const more = block[at++];
      if (more === undefined) throw damaged();
      length += more;
      if (more < 255) return length;
    }
  };
  while (at < block.length) {
    const token = block[at++] ?? 0;
    const literals = lengthOf(token >> 4);
    if (at + literals > block.length || end + literals > limit) throw damaged();
    target.set(block.subarray(at, at + literals), end);
    at += literals;
    end += literals;
    // The last sequence has literals only.
    if (at === block.length) return end;
    const offset = (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8);
    at += 2;
    const length = lengthOf(token & 15) + 4;
    if (offset === 0 || offset > end || end + length > limit) throw damaged();
    // An overlapping match is copied byte by byte; a long one that does not overlap, at once.
    const from = end - offset;
    if (length > 32 && offset >= length) target.copyWithin(end, from, from + length);
    else for (let i = 0; i < length; i++) target[end + i] = target[from + i] ?? 0;
    end += length;
  }
  throw damaged();
}
