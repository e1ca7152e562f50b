/**
 * Merges ordered streams into one. Equal entries are ordered by the position of their stream, so
 * the result is independent of batch sizes.
 */

/**
 * Whether `a` comes before `b`; each stream is in this order. V8 boxes a difference of times, but
 * not a boolean.
 */
export type Precedes<T> = (a: T, b: T) => boolean;

/** Merges streams of batches. A batch may have any number of entries. */
export async function* mergeStreams<T>(
  streams: readonly AsyncIterable<readonly T[]>[],
  precedes: Precedes<T>,
): AsyncGenerator<readonly T[]> {
  const [only] = streams;
  if (streams.length === 1 && only !== undefined) {
    yield* only;
    return;
  }
  const cursors = streams.map((stream) => new Cursor(stream));
  try {
    for (;;) {
      for (const cursor of cursors) await cursor.fill();
      const batch: T[] = [];
      takeUntilEmpty(cursors, precedes, batch);
      if (batch.length === 0) return;
      yield batch;
    }
  } finally {
    for (const cursor of cursors) await cursor.close();
  }
}

/** Takes first entries until an unfinished stream has none left in memory. */
function takeUntilEmpty<T>(cursors: readonly Cursor<T>[], precedes: Precedes<T>, batch: T[]): void {
  for (;;) {
    let first: Cursor<T> | null = null;
    for (const cursor of cursors) {
      if (cursor.empty) continue;
      if (first === null || precedes(cursor.head, first.head)) first = cursor;
    }
    if (first === null) return;
    batch.push(first.take());
    if (first.empty) return;
  }
}

class Cursor<T> {
  ended = false;
  private readonly source: AsyncIterator<readonly T[]>;
  private batch: readonly T[] = [];
  private at = 0;

  constructor(stream: AsyncIterable<readonly T[]>) {
    this.source = stream[Symbol.asyncIterator]();
  }

  get empty(): boolean {
    return this.at >= this.batch.length;
  }

  /** Valid only while not empty. */
  get head(): T {
    return this.batch[this.at] as T;
  }

  async fill(): Promise<void> {
    while (this.empty && !this.ended) {
      const next = await this.source.next();
      if (next.done === true) this.ended = true;
      else {
        this.batch = next.value;
        this.at = 0;
      }
    }
  }

  take(): T {
    const entry = this.head;
    this.at += 1;
    return entry;
  }

  async close(): Promise<void> {
    await this.source.return?.();
  }
}
