/**
 * A journal without what follows from the bytes before, as a page holds it. Frames of commands lack
 * length, checksum, kind and sequence number, and have the time since the last one. So a year of
 * bars takes half of the time to compress, and half of the space.
 *
 * Format: parts that each begin with a varint. An even one is twice the number of bytes that follow
 * as they are. An odd one is a command: half of it, rounded down, is the length of its payload.
 * Then come a varint with the time since the last such command, and the payload.
 */
import { crc32 } from '../../base/crc32.ts';
import { ByteReader, BytesError, ByteWriter } from './bytes.ts';
import { FRAME_BODY_HEAD, FRAME_HEAD, KIND_COMMAND } from './frames.ts';
import { headerSize } from './header.ts';

const HEAD = FRAME_HEAD + FRAME_BODY_HEAD;
/** High words of larger numbers are of no safe integer. */
const HIGH_END = 0x200000;

/** Makes frames bare, in parts of a journal one after the other. */
export class BareFrames {
  private readonly out = new ByteWriter();
  private seq = 0;
  private timeUs = 0;

  /** Bytes that `take` would return. */
  get size(): number {
    return this.out.length;
  }

  /** Whole frames, or the header and whole frames. Checksums must be right. */
  add(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let kept = 0;
    let at = headerSize(bytes);
    while (at < bytes.length) {
      const end = frameEnd(view, at, bytes.length);
      if (this.isNextCommand(view, at, end)) {
        this.keep(bytes, kept, at);
        this.strip(bytes, view, at, end);
        kept = end;
      }
      at = end;
    }
    this.keep(bytes, kept, bytes.length);
  }

  /** Returns and releases the bare bytes since the last call. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.out.bytes() as Uint8Array<ArrayBuffer>;
    this.out.length = 0;
    return bytes;
  }

  private isNextCommand(view: DataView, at: number, end: number): boolean {
    if (end - at < HEAD || view.getUint8(at + FRAME_HEAD) !== KIND_COMMAND) return false;
    if (view.getUint32(at + 21, true) >= HIGH_END) return false;
    return numberAt(view, at + 9) === this.seq + 1 && numberAt(view, at + 17) >= this.timeUs;
  }

  private keep(bytes: Uint8Array, from: number, to: number): void {
    if (to === from) return;
    this.out.uint(2 * (to - from));
    copy(this.out, bytes, from, to);
  }

  private strip(bytes: Uint8Array, view: DataView, at: number, end: number): void {
    const { out } = this;
    const timeUs = numberAt(view, at + 17);
    out.uint(2 * (end - at - HEAD) + 1);
    out.uint(timeUs - this.timeUs);
    this.seq += 1;
    this.timeUs = timeUs;
    copy(out, bytes, at + HEAD, end);
  }
}

/** The journal as it was. Throws `BytesError` if these are no bare bytes. */
export function wholeFrames(bare: Uint8Array): Uint8Array {
  const out = new ByteWriter(wholeSize(bare));
  const reader = new ByteReader(bare);
  let seq = 0;
  let timeUs = 0;
  while (reader.at < bare.length) {
    const word = reader.uint();
    const length = Math.floor(word / 2);
    if (word % 2 === 0) {
      copy(out, bare, reader.at, reader.at + length);
      reader.at += length;
      continue;
    }
    seq += 1;
    timeUs += reader.uint();
    const start = out.length;
    out.u32(FRAME_BODY_HEAD + length);
    out.u32(0);
    out.u8(KIND_COMMAND);
    out.u64(seq);
    out.u64(timeUs);
    copy(out, bare, reader.at, reader.at + length);
    reader.at += length;
    out.putU32(start + 4, crc32(out.view, start + FRAME_HEAD, out.length));
  }
  return out.bytes();
}

function wholeSize(bare: Uint8Array): number {
  const reader = new ByteReader(bare);
  let size = 0;
  while (reader.at < bare.length) {
    const word = reader.uint();
    const length = Math.floor(word / 2);
    size += length;
    if (word % 2 === 1) {
      reader.uint();
      size += HEAD;
    }
    reader.at += length;
    if (reader.at > bare.length) throw new BytesError(bare.length, 'the journal ends early');
  }
  return size;
}

/** Of any bytes: those that begin no frame, or an incomplete one, end with all. */
function frameEnd(view: DataView, at: number, end: number): number {
  if (at + FRAME_HEAD > end) return end;
  return Math.min(end, at + FRAME_HEAD + view.getUint32(at, true));
}

function numberAt(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 0x100000000 + view.getUint32(at, true);
}

/** A payload is short: a call of `set` would take longer than this loop. */
function copy(out: ByteWriter, bytes: Uint8Array, from: number, to: number): void {
  out.reserve(to - from);
  const { buffer } = out;
  let at = out.length;
  for (let i = from; i < to; i++) buffer[at++] = bytes[i] ?? 0;
  out.length = at;
}
