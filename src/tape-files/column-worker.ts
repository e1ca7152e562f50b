/**
 * Thread of `column-worker-client.ts`: decodes the parts of streams to columns. It sends a row
 * group for each request, which the client makes before it needs the group.
 */
import { parentPort } from 'node:worker_threads';
import { must } from '../base/assert.ts';
import { UserError } from '../base/user-error.ts';
import type { PartManifest } from '../tape/manifest.ts';
import type { RecordColumns } from '../tape/record-columns.ts';
import { columnsOfParts } from './part-files.ts';

/** A stream is opened, then asked for its row groups one by one, and closed. */
export type ColumnRequest =
  | {
      readonly kind: 'open';
      readonly stream: number;
      readonly folder: string;
      readonly parts: readonly PartManifest[];
      readonly checked: readonly string[];
    }
  | { readonly kind: 'next' | 'close'; readonly stream: number };

/**
 * `checked`: files whose hash was verified since the reply before. `columns` is null after the last
 * row group.
 */
export type ColumnReply = { readonly stream: number } & (
  | { readonly columns: RecordColumns | null; readonly checked: readonly string[] }
  | { readonly failure: ColumnFailure }
);

export interface ColumnFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

interface OpenStream {
  readonly groups: AsyncGenerator<RecordColumns>;
  /** Files whose hash was verified, in that order. */
  readonly checked: Set<string>;
  /** How many of them the client knows. */
  known: number;
}

const port = must(parentPort ?? undefined, 'this file is run as a thread');
const streams = new Map<number, OpenStream>();

port.on('message', (request: ColumnRequest) => {
  const { stream } = request;
  if (request.kind === 'open') {
    const checked = new Set(request.checked);
    const groups = columnsOfParts(request.folder, request.parts, checked);
    streams.set(stream, { groups, checked, known: checked.size });
    return;
  }
  const open = must(streams.get(stream), 'a stream is opened first');
  if (request.kind === 'close') {
    streams.delete(stream);
    void open.groups.return(undefined).catch(() => undefined);
    // The client sends no more after its last stream, and the thread ends.
    if (streams.size === 0) port.close();
    return;
  }
  void send(stream, open);
});

async function send(stream: number, open: OpenStream): Promise<void> {
  try {
    const { value } = (await open.groups.next()) as IteratorResult<RecordColumns, undefined>;
    const columns = value === undefined ? null : owned(value);
    const arrays = columns === null ? [] : (Object.values(columns) as Int32Array[]);
    const checked = [...open.checked].slice(open.known);
    open.known += checked.length;
    const reply: ColumnReply = { stream, columns, checked };
    port.postMessage(
      reply,
      arrays.map(({ buffer }) => buffer as ArrayBuffer),
    );
  } catch (error) {
    port.postMessage({ stream, failure: failureOf(error) } satisfies ColumnReply);
  }
}

/** Columns with buffers of their own, which can be moved to another thread. */
function owned(columns: RecordColumns): RecordColumns {
  const moved = Object.entries(columns).map(([name, values]: [string, Int32Array]) => [
    name,
    values.byteLength === values.buffer.byteLength ? values : values.slice(),
  ]);
  return Object.fromEntries(moved) as RecordColumns;
}

function failureOf(error: unknown): ColumnFailure {
  if (!(error instanceof UserError)) return { code: '', message: String(error) };
  const { code, message, hint } = error;
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
