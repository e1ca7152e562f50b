import { once } from 'node:events';
import { createGzip, type Gzip } from 'node:zlib';

/**
 * A journal hardly shrinks further at zlib's default level, which takes twice as long
 * (docs/PERFORMANCE.md).
 */
export const GZIP_LEVEL = 2;
/** Larger journals are opened by `orrery inspect`, or as a file that the page reads in ranges. */
export const MOST_BYTES = 32 << 20;

/**
 * Compresses a journal for its page while the run goes on, in the thread pool. A page can be made
 * of it once.
 */
export class PackedJournal {
  private readonly pieces: Uint8Array[] = [];
  private readonly gzip: Gzip = createGzip({ level: GZIP_LEVEL });
  private readonly ended: Promise<unknown>;
  private readonly mostBytes: number;
  private bytes = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.mostBytes = mostBytes;
    this.gzip.on('data', (piece: Uint8Array) => {
      this.pieces.push(piece);
    });
    this.ended = once(this.gzip, 'end');
    // `end` throws the error; a journal that is too large has none.
    this.ended.catch(() => undefined);
  }

  /** The bytes must not change afterwards. */
  add(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    if (this.bytes <= this.mostBytes) {
      this.gzip.write(bytes);
      return;
    }
    this.gzip.destroy();
    this.pieces.length = 0;
  }

  /** The compressed journal as base64; null if the journal is too large for a page. */
  async end(): Promise<string | null> {
    if (this.bytes > this.mostBytes) return null;
    this.gzip.end();
    await this.ended;
    return Buffer.concat(this.pieces.splice(0)).toString('base64');
  }
}
