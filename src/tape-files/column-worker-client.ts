/**
 * Row groups that a thread decodes while the caller works on the ones before. All streams that are
 * open share the thread, which ends with the last of them.
 */
import { FileError } from '../platform/file-error.ts';
import { startThread } from '../platform/start-thread.ts';
import type { PartManifest } from '../tape/manifest.ts';
import type { RecordColumns } from '../tape/record-columns.ts';
import { TapeError } from '../tape/record.ts';
import type { ColumnFailure, ColumnReply, ColumnRequest } from './column-worker.ts';

/** As `columnsOfParts`. */
export async function* columnsInThread(
  folder: string,
  parts: readonly PartManifest[],
  checked: Set<string>,
): AsyncGenerator<RecordColumns> {
  const thread = (current ??= new ColumnThread());
  const stream = thread.open(folder, parts, checked);
  try {
    let next = thread.next(stream);
    for (;;) {
      const columns = await next;
      if (columns === null) return;
      next = thread.next(stream);
      // An error of the next group is thrown when its rows are due.
      next.catch(() => undefined);
      yield columns;
    }
  } finally {
    thread.close(stream);
  }
}

let current: ColumnThread | null = null;

/** Starts the thread for the next stream, which need not wait then. It keeps no process alive. */
export function startColumnThread(): void {
  current ??= new ColumnThread();
}

interface Waiting {
  readonly resolve: (columns: RecordColumns | null) => void;
  readonly reject: (error: Error) => void;
}

class ColumnThread {
  private readonly worker = startThread('./column-worker', import.meta.url);
  private readonly checked = new Map<number, Set<string>>();
  private readonly waiting = new Map<number, Waiting>();
  private lastStream = 0;
  private failure: Error | null = null;

  constructor() {
    this.worker.on('message', (reply: ColumnReply) => {
      this.take(reply);
    });
    this.worker.on('error', (error: unknown) => {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    });
    this.worker.on('exit', () => {
      this.fail(new Error('the thread that reads data ended early'));
    });
    // Only a row group that is waited for keeps the process.
    this.worker.unref();
  }

  /** Returns the stream's number. */
  open(folder: string, parts: readonly PartManifest[], checked: Set<string>): number {
    const stream = (this.lastStream += 1);
    this.checked.set(stream, checked);
    this.send({ kind: 'open', stream, folder, parts, checked: [...checked] });
    return stream;
  }

  /** Null after the last row group. Not called again before it settles. */
  next(stream: number): Promise<RecordColumns | null> {
    return new Promise((resolve, reject) => {
      if (this.failure !== null) {
        reject(this.failure);
        return;
      }
      this.waiting.set(stream, { resolve, reject });
      this.worker.ref();
      this.send({ kind: 'next', stream });
    });
  }

  close(stream: number): void {
    this.checked.delete(stream);
    this.settle(stream);
    this.send({ kind: 'close', stream });
    if (this.checked.size > 0) return;
    this.forget();
    // It ends by itself: ended inside zlib, a thread would end the process with it.
    this.worker.ref();
  }

  private take(reply: ColumnReply): void {
    const waiting = this.settle(reply.stream);
    if ('failure' in reply) {
      waiting?.reject(errorOf(reply.failure));
      return;
    }
    const checked = this.checked.get(reply.stream);
    for (const name of reply.checked) checked?.add(name);
    waiting?.resolve(reply.columns);
  }

  private settle(stream: number): Waiting | undefined {
    const waiting = this.waiting.get(stream);
    this.waiting.delete(stream);
    if (this.waiting.size === 0) this.worker.unref();
    return waiting;
  }

  /** Streams that are open fail; a later one starts another thread. */
  private fail(error: Error): void {
    this.failure ??= error;
    this.forget();
    for (const stream of [...this.waiting.keys()]) this.settle(stream)?.reject(this.failure);
  }

  private forget(): void {
    if (current === this) current = null;
  }

  private send(request: ColumnRequest): void {
    this.worker.postMessage(request);
  }
}

function errorOf({ code, message, hint }: ColumnFailure): Error {
  const details = hint === undefined ? {} : { hint };
  if (code === 'tape') return new TapeError(message, details);
  return code === 'file' ? new FileError(message, details) : new Error(message);
}
