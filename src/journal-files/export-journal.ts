/** A journal as one plain file, or as JSON lines. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describeCommand } from '../journal/format/codec.ts';
import type { JournalFrame } from '../journal/format/frame.ts';
import { JournalError } from '../journal/format/journal-error.ts';
import { FileError } from '../platform/file-error.ts';
import { realFolder } from '../platform/make-folder.ts';
import { writeOutput } from '../platform/whole-file.ts';
import { openJournal, openWholeJournal } from './folder-journal.ts';
import { plainJournal } from './plain-journal.ts';

const FRAMES_PER_STEP = 4096;

export interface ExportOptions {
  /** `plain`: the binary format, from the first command on. `jsonl`: one JSON object per frame. */
  readonly format?: 'plain' | 'jsonl';
  /** First command, from 1; `jsonl` only. Default 1. */
  readonly from?: number;
  /** Last command; all unless given. */
  readonly to?: number;
  /** Receives the fraction of the journal that was read, 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
  /** Stops the export; no file is left, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface Exported {
  readonly frames: number;
  readonly commands: number;
  /** Bytes of an incomplete last write, which are left out. */
  readonly tornBytes: number;
}

/**
 * Copies a journal file, or the folder of a served exchange, into one file.
 *
 * @throws JournalError naming `from` or `to`
 * @throws FileError when a file cannot be used, JournalError when the journal is damaged
 */
export async function exportJournal(
  path: string,
  out: string,
  options: ExportOptions = {},
): Promise<Exported> {
  const { format = 'plain', from = 1, to = Infinity, onProgress, signal } = options;
  signal?.throwIfAborted();
  mustBeWhole('from', from, 1);
  if (to !== Infinity) mustBeWhole('to', to, from);
  if (format === 'plain' && from > 1) {
    throw new JournalError(
      `from ${String(from)}: a plain journal begins with command 1; use jsonl`,
    );
  }
  refuseOwnFolder(path, out);
  const source = format === 'plain' ? openWholeJournal(path, to) : openJournal(path, to);
  const count = { frames: 0, commands: 0 };
  const onFrame = (frame: JournalFrame): void => {
    count.frames += 1;
    if (frame.kind === 'command') count.commands += 1;
    if (count.frames % FRAMES_PER_STEP > 0) return;
    signal?.throwIfAborted();
    onProgress?.(source.offset / source.size);
  };
  await writeOutput(
    out,
    format === 'plain'
      ? plainJournal(source, to, onFrame)
      : jsonLines(source, { from, to, onFrame }),
  );
  onProgress?.(1);
  return { ...count, tornBytes: source.torn?.bytes ?? 0 };
}

export interface LineRange {
  readonly from: number;
  readonly to: number;
  readonly onFrame?: (frame: JournalFrame) => void;
}

/** Frames of commands `from` to `to` as JSON lines, thousands per piece. */
export function* jsonLines(
  source: { next(): JournalFrame | null },
  { from, to, onFrame }: LineRange,
): Generator<string> {
  let lines: string[] = [];
  for (let frame = source.next(); frame !== null && frame.seq <= to; frame = source.next()) {
    if (frame.seq < from) continue;
    onFrame?.(frame);
    lines.push(`${frameText(frame)}\n`);
    if (lines.length < FRAMES_PER_STEP) continue;
    yield lines.join('');
    lines = [];
  }
  if (lines.length > 0) yield lines.join('');
}

/** A frame as plain data for JSON. */
export function describeFrame(frame: JournalFrame): Record<string, unknown> {
  if (frame.kind === 'command') return { seq: frame.seq, ...describeCommand(frame.command) };
  if (frame.kind !== 'orderIds') return { ...frame };
  const { kind, seq, timeUs, firstId, digests } = frame;
  return { kind, seq, timeUs, firstId, digests };
}

/** A frame as a line of JSON. */
export function frameText(frame: JournalFrame): string {
  return JSON.stringify(describeFrame(frame));
}

function mustBeWhole(name: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw new JournalError(`${name} ${String(value)}: must be a whole number from ${String(min)}`);
}

/** A file beside the segments would be read as a part of the journal; JSON would replace it. */
function refuseOwnFolder(journal: string, out: string): void {
  if (existsSync(out) && existsSync(journal) && realpathSync(out) === realpathSync(journal)) {
    throw new FileError(`${out}: is the journal itself`);
  }
  const folder = dirname(realFolder(resolve(out)));
  if (!existsSync(folder)) throw new FileError(`${folder}: no such file or folder`);
  if (!existsSync(journal) || realpathSync(folder) !== realpathSync(journal)) return;
  throw new FileError(`${out}: is in the folder of the journal itself`);
}
