/**
 * A journal for the time machine from whatever has one: a journal file, the folder of a run, of a
 * failure or of a served exchange, or a scenario, which is run.
 */
import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Exchange } from '../../engine/exchange.ts';
import { JournalReader, JournalWriter, type TornTail } from '../../journal/format/frames.ts';
import { headerBytes } from '../../journal/format/header.ts';
import {
  openJournal,
  startOfFolder,
  type FolderJournal,
} from '../../journal-files/folder-journal.ts';
import { asSegment, listSegments } from '../../journal-files/segments.ts';
import { plainJournal } from '../../journal-files/plain-journal.ts';
import { fileError } from '../../platform/file-error.ts';
import { decodeText } from '../../scenario/decode-text.ts';
import { parseScenario } from '../../scenario/parse.ts';
import { runScenario } from '../../scenario/run-scenario.ts';
import { formatProblem } from '../../scenario/source-node.ts';
import { addressOfName, keccak } from '../../wallet/crypto-ports.ts';
import { endable, InputError } from '../cli-support.ts';
import { readInput } from '../read-file.ts';

export interface JournalFound {
  readonly name: string;
  readonly journal: Uint8Array;
  /** Snapshot before the first command; null if the journal has its first command. */
  readonly base: Uint8Array | null;
  /** Set if the journal ends within a record, as after a crash. */
  readonly torn: TornTail | null;
}

const SCENARIO_FILE = /\.ya?ml$/i;
/** More does not fit into one page: its text is base64. */
export const MOST_EMBEDDED = 256 << 20;

/**
 * Files of a journal that is too large for one page, in order; null for others. A compacted folder
 * has the snapshot before its first command. Throws `FileError` without one.
 */
export function tooLargeForPage(path: string): readonly string[] | null {
  if (SCENARIO_FILE.test(path)) return null;
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const segments = isFolder ? listSegments(path) : [asSegment(path)];
  const size = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (segments.reduce((sum, segment) => sum + size(segment.path), 0) <= MOST_EMBEDDED) return null;
  const { snapshot, segments: needed } = startOfFolder(path, segments);
  const files = needed.map((segment) => segment.path);
  return snapshot === null ? files : [join(path, snapshot), ...files];
}

/** Throws `InputError`, `FileError` or `JournalError`. */
export async function findJournal(path: string): Promise<JournalFound> {
  const found = await stat(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  const name = nameOf(path);
  if (!found.isDirectory() && SCENARIO_FILE.test(path)) {
    const bytes = await readInput(path);
    const journal = endable(() => scenarioJournal(path, bytes));
    return { name, journal, base: null, torn: null };
  }
  const source = openJournal(path);
  return { name, ...endable(() => bytesOf(source)), torn: source.torn };
}

/** The frames of a journal, or of the run of a scenario; throws as `findJournal`. */
export async function framesOf(path: string): Promise<FolderJournal | JournalReader> {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder || !SCENARIO_FILE.test(path)) return openJournal(path);
  return new JournalReader(scenarioJournal(path, await readInput(path)));
}

/** The file without its extension; the folder of a `journal.orrery`. */
function nameOf(path: string): string {
  const name = basename(resolve(path));
  if (name === 'journal.orrery') return basename(dirname(resolve(path)));
  return name.replace(/\.(orrery|ya?ml)$/i, '');
}

function bytesOf(source: FolderJournal): Pick<JournalFound, 'journal' | 'base'> {
  const { base, fromSeq, header } = source;
  if (base === null) return { journal: Buffer.concat([...plainJournal(source)]), base: null };
  const { nowUs, seq } = Exchange.restore(base);
  if (seq !== fromSeq) throw new InputError('the snapshot of the folder is of another command');
  const after = { seq, timeUs: nowUs };
  const writer = new JournalWriter(after);
  const parts = [headerBytes(header.config, after, header.semanticsVersion)];
  const take = (): void => {
    for (let group = writer.takeGroup(); group !== null; group = writer.takeGroup()) {
      parts.push(group.bytes);
    }
  };
  for (let frame = source.next(); frame !== null; frame = source.next()) {
    if (frame.kind === 'command') writer.append(frame.seq, frame.command);
    else if (frame.kind === 'chain') writer.chain(frame.seq, frame.timeUs, frame.chainHash);
    else if (frame.kind === 'checkpoint') {
      writer.checkpoint(frame.seq, frame.timeUs, frame.stateHash);
    }
    if (writer.size > GROUP_BYTES) take();
  }
  take();
  return { journal: Buffer.concat(parts), base };
}

const GROUP_BYTES = 1 << 20;

function scenarioJournal(path: string, bytes: Uint8Array): Uint8Array {
  const text = decodeText(bytes);
  if (typeof text !== 'string') throw new InputError(formatProblem(path, text));
  const parsed = parseScenario(text, path, keccak);
  if (!parsed.ok) {
    const lines = parsed.problems.map((problem) => formatProblem(path, problem));
    throw new InputError(lines.join('\n        '));
  }
  return runScenario(parsed.scenario, { keccak, addressOf: addressOfName }).journal;
}
