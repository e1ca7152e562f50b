/**
 * The checkpoint of a search, in one file: the length of a JSON header, the header, then keys and
 * paths as bytes. Written whole or not at all. The header has the key of the opening and a hash of
 * the first level, so that a file of another version is refused.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExhaustPlan } from '../../fuzz/exhaust/expand.ts';
import { Search, type SavedSearch } from '../../fuzz/exhaust/search.ts';
import { fileError } from '../../platform/file-error.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { InputError } from '../cli-support.ts';

const FILE = 'checkpoint.bin';
const FORMAT = 'orrery-exhaust-1';

interface Header {
  readonly format: string;
  readonly plan: ExhaustPlan;
  readonly identity: string;
  readonly seconds: number;
  /** Whether the search is complete or failed. */
  readonly ended?: boolean;
  readonly search: SavedSearch;
  readonly lengths: readonly number[];
}

export interface Progressed {
  readonly search: Search;
  /** Of earlier sessions. */
  readonly seconds: number;
}

export async function saveCheckpoint(
  folder: string,
  search: Search,
  identity: string,
  seconds: number,
): Promise<void> {
  const { head, parts } = search.save();
  const header: Header = {
    format: FORMAT,
    plan: search.plan,
    identity,
    seconds,
    ended: search.isComplete,
    search: head,
    lengths: parts.map(({ length }) => length),
  };
  await writeFile(folder, header, parts);
}

async function writeFile(
  folder: string,
  header: Header,
  parts: readonly Uint8Array[],
): Promise<void> {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(new Uint32Array([text.length]).buffer);
  await writeWholeFile(join(folder, FILE), [length, text, ...parts]);
}

/** Marks the search as ended by a failure. `--resume` finds that again after the checkpoint. */
export async function endCheckpoint(folder: string): Promise<void> {
  const bytes = new Uint8Array(await readFile(join(folder, FILE)));
  const header = headerOf(bytes);
  if (header === null) return;
  await writeFile(folder, { ...header, ended: true }, [bytes.subarray(4 + textLength(bytes))]);
}

/** Throws `InputError` if a search of this version that can be continued would be lost. */
export async function mustNotReplace(
  folder: string,
  identityOf: (plan: ExhaustPlan) => { readonly identity: string },
): Promise<void> {
  const path = join(folder, FILE);
  const bytes = await readFile(path).catch(() => null);
  const header = bytes === null ? null : headerOf(new Uint8Array(bytes));
  if (header?.format !== FORMAT || header.ended !== false) return;
  const { plan, search, identity } = header;
  const edges = search.rows.reduce((sum, row) => sum + row.edges, search.current.edges);
  if (edges === 0 || identityOf(plan).identity !== identity) return;
  throw new InputError(
    `${folder}: its search of world ${plan.world} was stopped after ${edges.toLocaleString('en')} edges`,
    { hint: `continue it with --resume, name another folder with --out, or delete ${path}` },
  );
}

/** `identityOf` computes what the program of this version has for a plan. */
export async function loadCheckpoint(
  folder: string,
  identityOf: (plan: ExhaustPlan) => { readonly identity: string; readonly rootKey: Int32Array },
): Promise<Progressed> {
  const path = join(folder, FILE);
  let bytes: Uint8Array;
  try {
    // A copy with a buffer of its own: slices of a `Buffer` are views.
    bytes = new Uint8Array(await readFile(path));
  } catch (error) {
    throw new InputError(`--resume: ${fileError(path, error).message}`);
  }
  const header = headerOf(bytes);
  const isWhole =
    header?.format === FORMAT &&
    bytes.length === 4 + textLength(bytes) + header.lengths.reduce((sum, part) => sum + part, 0);
  if (!isWhole) throw new InputError(`--resume: ${path}: not the checkpoint of a search`);
  const { plan, identity, lengths } = header;
  const current = identityOf(plan);
  if (current.identity !== identity) {
    throw new InputError(`--resume: ${path}: its search belongs to another version of the engine`);
  }
  const search = new Search(plan, current.rootKey);
  let at = 4 + textLength(bytes);
  const parts = lengths.map((length) => bytes.slice(at, (at += length)));
  search.load(header.search, parts);
  return { search, seconds: header.seconds };
}

const textLength = (bytes: Uint8Array): number =>
  bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

function headerOf(bytes: Uint8Array): Header | null {
  try {
    const text = new TextDecoder().decode(bytes.subarray(4, 4 + textLength(bytes)));
    return JSON.parse(text) as Header;
  } catch {
    return null;
  }
}
