import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { BareFrames } from '../journal/format/bare-frames.ts';
import { GZIP_LEVEL } from './gzip-level.ts';

/** Larger journals are opened by `orrery inspect`, or as a file that the page reads in ranges. */
export const MOST_BYTES = 32 << 20;
/** Bytes that are compressed together: 0.3 % larger than as a whole for the demo's recording. */
const PIECE_BYTES = 256 << 10;

/** Of gzip without a name and a time, on any system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/**
 * Compresses a journal for its page while the run goes on, in the thread pool. The run seldom
 * leaves its turn of the event loop, which a stream of zlib needs for each step. So each piece is
 * compressed by itself, to a whole byte; one after the other, they are the data of one gzip file.
 * A page can be made of it once.
 */
export class PackedJournal {
  private readonly mostBytes: number;
  private readonly pieceBytes: number;
  private waiting = new BareFrames();
  private packed: Promise<Uint8Array>[] = [];
  private bytes = 0;
  private bareBytes = 0;
  private crc = 0;

  constructor(mostBytes = MOST_BYTES, pieceBytes = PIECE_BYTES) {
    this.mostBytes = mostBytes;
    this.pieceBytes = pieceBytes;
  }

  /** Whole frames, at first with the header. */
  add(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    if (this.bytes > this.mostBytes) {
      this.waiting = new BareFrames();
      this.packed = [];
      return;
    }
    this.waiting.add(bytes);
    if (this.waiting.size >= this.pieceBytes) this.pack(constants.Z_SYNC_FLUSH);
  }

  /** The compressed journal, with bare frames, as base64; null if it is too large for a page. */
  async end(): Promise<string | null> {
    if (this.bytes > this.mostBytes) return null;
    this.pack(constants.Z_FINISH);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.crc, 0);
    trailer.writeUInt32LE(this.bareBytes, 4);
    const packed = await Promise.all(this.packed);
    return Buffer.concat([HEADER, ...packed, trailer]).toString('base64');
  }

  private pack(finishFlush: number): void {
    const piece = this.waiting.take();
    this.bareBytes += piece.length;
    this.crc = crc32(piece, this.crc);
    const packed = compressed(piece, finishFlush);
    // `end` throws the error; a journal that is too large has none.
    packed.catch(() => undefined);
    this.packed.push(packed);
  }
}

async function compressed(piece: Uint8Array, finishFlush: number): Promise<Uint8Array> {
  // Room for all of the output: otherwise zlib waits for a turn of the event loop.
  const chunkSize = piece.length + 1024;
  const packed = await promisify(deflateRaw)(piece, { level: GZIP_LEVEL, finishFlush, chunkSize });
  // Without the room that was left.
  return Uint8Array.from(packed);
}
