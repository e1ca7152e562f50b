/** Files in pieces, by the SHA-256 of their content. A file is there once all its pieces are. */
import type { Session } from '../session.ts';
import { patiently, type Patience } from './patience.ts';

const PIECE_BYTES = 4_194_304;

export class FileStore {
  private readonly session: Session;
  private readonly patience: Patience;

  constructor(session: Session, patience: Patience) {
    this.session = session;
    this.patience = patience;
  }

  async has(sha256: string): Promise<boolean> {
    const rows = await this.ask('has-file', 'select from orrery_jobs.files where sha256 = $1', [
      sha256,
    ]);
    return rows.length > 0;
  }

  /** `content`: buffers of any lengths; it throws if it does not have the hash. */
  async put(sha256: string, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    let place = 0;
    for await (const bytes of piecesOf(content)) {
      await this.ask(
        'put-piece',
        `insert into orrery_jobs.pieces (sha256, place, bytes) values ($1, $2, $3)
         on conflict (sha256, place) do update set bytes = excluded.bytes`,
        [sha256, place, bytes],
      );
      place += 1;
    }
    await this.ask(
      'put-file',
      'insert into orrery_jobs.files (sha256, pieces) values ($1, $2) on conflict do nothing',
      [sha256, place],
    );
  }

  /** Null if the file is not there. The receiver verifies its hash. */
  async get(sha256: string): Promise<AsyncIterable<Buffer> | null> {
    const [file] = await this.ask<{ pieces: number }>(
      'get-file',
      'select pieces from orrery_jobs.files where sha256 = $1',
      [sha256],
    );
    return file === undefined ? null : this.pieces(sha256, file.pieces);
  }

  private async *pieces(sha256: string, count: number): AsyncGenerator<Buffer> {
    for (let place = 0; place < count; place++) {
      const [row] = await this.ask<{ bytes: Buffer }>(
        'get-piece',
        'select bytes from orrery_jobs.pieces where sha256 = $1 and place = $2',
        [sha256, place],
      );
      if (row === undefined) return;
      yield row.bytes;
    }
  }

  private ask<R extends object>(name: string, text: string, values: unknown[]): Promise<R[]> {
    return patiently(() => this.session.query<R>(name, text, values), this.patience);
  }
}

/** Pieces of equal size, so that the same file always has the same ones. */
async function* piecesOf(
  content: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + PIECE_BYTES - size);
      kept.push(part);
      size += part.length;
      from += part.length;
      if (size < PIECE_BYTES) continue;
      yield Buffer.concat(kept);
      kept = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(kept);
}
