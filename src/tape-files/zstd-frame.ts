/**
 * Decompresses zstd frames one block at a time, several in a row and skippable frames among them.
 * The decoder (fzstd) reads no checksums: the content checksum of each frame is verified here.
 *
 * Source: RFC 8878, 3.1.
 */
import { Decompress } from 'fzstd';
import { createXXHash64 } from 'hash-wasm';
import { TapeError } from '../tape/record.ts';
import { plainData, wholeData, type FrameSteps, type Want } from './frame-steps.ts';

type Checksum = Awaited<ReturnType<typeof createXXHash64>>;

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
/** A skippable frame is passed over in pieces. */
const MOST_SKIPPED = 65_536;
/** The decoder keeps a window in memory; zstd itself refuses larger ones by default. */
const MOST_WINDOW = 1 << 27;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;
const SIZE_BYTES = [0, 2, 4, 8] as const;
/** Block that repeats one byte. */
const REPEATED = 1;
const RESERVED = 3;

/** Decompressed data of a stream of frames. Throws `TapeError` on damaged data. */
export async function* zstdPlain(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* plainData(source, frames(await createXXHash64()));
}

/**
 * Decompressed data of complete frames in memory, up to `most` bytes; checksums are not verified.
 * Throws `TapeError`.
 */
export function zstdWhole(bytes: Uint8Array, most: number): Uint8Array {
  return wholeData(bytes, frames(null), most);
}

function* frames(checksum: Checksum | null): FrameSteps {
  for (;;) {
    const head = yield 4;
    if (head.length === 0) return;
    const magic = numberOf(head);
    if (head.length === 4 && magic === MAGIC) yield* frame(head, checksum);
    else if (head.length === 4 && (magic & 0xfffffff0) >>> 0 === SKIPPABLE) {
      let left = numberOf(yield* exactly(4));
      for (; left > MOST_SKIPPED; left -= MOST_SKIPPED) yield* exactly(MOST_SKIPPED);
      yield* exactly(left);
    } else throw damaged('the magic number of a frame is missing');
  }
}

function* frame(magic: Uint8Array, checksum: Checksum | null): FrameSteps {
  let blocks: Uint8Array[] = [];
  const decoder = new Decompress((bytes) => blocks.push(bytes));
  const decode = function* (bytes: Uint8Array, isLast = false): FrameSteps {
    try {
      decoder.push(bytes, isLast);
    } catch (error) {
      throw damaged(error instanceof Error ? error.message : '');
    }
    for (const block of blocks) {
      checksum?.update(block);
      yield block;
    }
    blocks = [];
  };
  checksum?.init();
  const start = yield* exactly(1);
  const flags = start[0] ?? 0;
  const isSingle = (flags & 0x20) !== 0;
  const size = SIZE_BYTES[(flags >> 6) as 0 | 1 | 2 | 3] || (isSingle ? 1 : 0);
  const rest = (isSingle ? 0 : 1) + DICTIONARY_BYTES[(flags & 3) as 0 | 1 | 2 | 3] + size;
  const header = yield* exactly(rest);
  const window = isSingle ? numberOf(header.subarray(-size)) : windowOf(header[0] ?? 0);
  if (window > MOST_WINDOW) {
    throw new TapeError('the zstd data have a window above 128 MiB; compress them without --long');
  }
  yield* decode(Buffer.concat([magic, start, header]));
  for (let isLast = false; !isLast;) {
    const head = yield* exactly(3);
    const word = numberOf(head);
    const type = (word >> 1) & 3;
    if (type === RESERVED) throw damaged('unknown type of a block');
    const content = yield* exactly(type === REPEATED ? 1 : word >> 3);
    yield* decode(Buffer.concat([head, content]));
    isLast = (word & 1) === 1;
  }
  const hasSum = (flags & 4) !== 0;
  const sum = hasSum ? yield* exactly(4) : new Uint8Array(0);
  // The decoder begins with the last bytes of a frame that is shorter than a header may be.
  yield* decode(sum, true);
  if (
    hasSum &&
    checksum !== null &&
    Number.parseInt(checksum.digest().slice(-8), 16) !== numberOf(sum)
  ) {
    throw damaged('the content checksum differs');
  }
}

/** Bytes of the window, by its descriptor. */
function windowOf(descriptor: number): number {
  const base = ((1 << (descriptor >> 3)) >>> 0) * 1024;
  return base + (base / 8) * (descriptor & 7);
}

function* exactly(count: number): Generator<Want, Uint8Array, Uint8Array> {
  if (count === 0) return new Uint8Array(0);
  const taken = yield count;
  if (taken.length < count) throw new TapeError('the zstd data end early');
  return taken;
}

/** Little-endian. */
function numberOf(bytes: Uint8Array): number {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
}

const damaged = (what: string): TapeError => new TapeError(`damaged zstd data: ${what}`);
