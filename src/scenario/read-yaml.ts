/**
 * Parses YAML text to source nodes. The failsafe schema resolves no numbers, dates or booleans: a
 * plain scalar of decimal text is a number; `true` and `false` are booleans; `null`, `~` and an
 * empty value are null. Aliases, tags and multiple documents are rejected. Cost: linear in the
 * text, which is at most `MAX_SOURCE_CHARACTERS` long and `MAX_DEPTH` deep.
 */
import {
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  parseAllDocuments,
  type Document,
  type Pair,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { parseDecimal } from '../num/decimal.ts';
import type { MapEntry, Place, Problem, ScalarNode, SourceNode } from './source-node.ts';
import { childPath, itemPath, START_OF_TEXT } from './source-node.ts';

export const MAX_SOURCE_CHARACTERS = 1_000_000;
export const MAX_DEPTH = 40;
/** Max spaces and block indicators before a line's text. */
export const MAX_INDENT = 120;

export type ReadResult =
  | { readonly ok: true; readonly root: SourceNode }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function readYaml(text: string): ReadResult {
  const refuse = (place: Place, message: string): ReadResult => ({
    ok: false,
    problems: [{ place, path: '', message }],
  });
  if (text.length > MAX_SOURCE_CHARACTERS) {
    return refuse(START_OF_TEXT, `longer than ${String(MAX_SOURCE_CHARACTERS)} characters`);
  }
  const tooDeep = firstTooDeep(text);
  if (tooDeep !== null) return { ok: false, problems: [tooDeep] };

  const lines = new LineCounter();
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const documents: readonly Document.Parsed[] = parseAllDocuments(text, {
    schema: 'failsafe',
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const [document, second] = documents;
  if (document === undefined || document.contents === null)
    return refuse(START_OF_TEXT, 'is empty');
  const faults = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const fault = firstOf(faults);
  if (fault !== null) return refuse(placeOf(fault.pos[0]), `not valid YAML: ${fault.message}`);
  if (second !== undefined) {
    return refuse(placeOf(second.range[0]), 'one file holds one scenario, not several documents');
  }
  const reader = new NodeReader(placeOf);
  const root = reader.read(document.contents, '', 0, 0);
  return reader.problems.length > 0 ? { ok: false, problems: reader.problems } : { ok: true, root };
}

/** The first fault of a text: one mistake has dozens of others after it. */
function firstOf(faults: readonly YAMLError[]): YAMLError | null {
  return faults.reduce<YAMLError | null>(
    (first, fault) => (first === null || fault.pos[0] < first.pos[0] ? fault : first),
    null,
  );
}

/** Visits the library's nodes once and records unsupported features. */
class NodeReader {
  readonly problems: Problem[] = [];
  private readonly placeOf: (offset: number) => Place;

  constructor(placeOf: (offset: number) => Place) {
    this.placeOf = placeOf;
  }

  /** `offset`: place of a value that is omitted in the text. */
  read(node: unknown, path: string, depth: number, offset: number): SourceNode {
    if (isAlias(node)) {
      const place = this.placeOf(node.range?.[0] ?? offset);
      this.problems.push({ place, path, message: 'aliases are not supported in scenarios' });
      return { kind: 'scalar', type: 'null', text: '', place };
    }
    if (isScalar(node)) return this.scalar(node, path, offset);
    const place = this.placeOf(rangeStart(node) ?? offset);
    if (depth >= MAX_DEPTH) {
      this.problems.push({ place, path, message: TOO_DEEP });
      return { kind: 'scalar', type: 'null', text: '', place };
    }
    if (isMap(node)) return this.map(node, path, depth, place);
    if (isSeqLike(node)) {
      this.refuseTag(node, place, path);
      const items = node.items.map((item, i) =>
        this.read(item, itemPath(path, i), depth + 1, rangeStart(node) ?? offset),
      );
      return { kind: 'list', items, place };
    }
    return { kind: 'scalar', type: 'null', text: '', place };
  }

  private map(node: YAMLMap, path: string, depth: number, place: Place): SourceNode {
    this.refuseTag(node, place, path);
    const entries = new Map<string, MapEntry>();
    for (const { key, value } of node.items as readonly Pair[]) {
      const keyOffset = rangeStart(key) ?? 0;
      const keyPlace = this.placeOf(keyOffset);
      if (!isScalar(key) || typeof key.value !== 'string') {
        this.problems.push({ place: keyPlace, path, message: 'a key is plain text' });
        continue;
      }
      this.refuseTag(key, keyPlace, path);
      const read = this.read(value, childPath(path, key.value), depth + 1, keyOffset);
      entries.set(key.value, { keyPlace, value: read });
    }
    return { kind: 'map', entries, place };
  }

  private scalar(node: Scalar, path: string, offset: number): ScalarNode {
    const place = this.placeOf(node.range?.[0] ?? offset);
    this.refuseTag(node, place, path);
    const text = typeof node.value === 'string' ? node.value : '';
    return { kind: 'scalar', type: node.type === 'PLAIN' ? typeOf(text) : 'text', text, place };
  }

  private refuseTag(node: { tag?: string; anchor?: string }, place: Place, path: string): void {
    if (node.tag !== undefined) {
      this.problems.push({
        place,
        path,
        message: `the tag ${node.tag} is not supported in scenarios`,
      });
    }
    if (node.anchor !== undefined) {
      this.problems.push({ place, path, message: 'anchors are not supported in scenarios' });
    }
  }
}

function typeOf(plain: string): ScalarNode['type'] {
  if (plain === '' || plain === 'null' || plain === '~') return 'null';
  if (plain === 'true' || plain === 'false') return 'boolean';
  return parseDecimal(plain) === null ? 'text' : 'number';
}

interface SeqLike {
  readonly items: readonly unknown[];
  readonly tag?: string;
  readonly anchor?: string;
}

const isSeqLike = (node: unknown): node is SeqLike =>
  typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items);

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null || !('range' in node)) return undefined;
  const { range } = node;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
}

/**
 * Rejects text before parsing that would exhaust the library, which parses recursively and builds
 * patterns for indentation. Brackets in quotes count too; scenarios never have forty open ones.
 */
function firstTooDeep(text: string): Problem | null {
  let depth = 0;
  let line = 1;
  let lineStart = 0;
  let indenting = true;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charAt(i);
    const column = i - lineStart + 1;
    if (c === '\n') {
      line += 1;
      lineStart = i + 1;
      indenting = true;
      continue;
    }
    indenting &&= INDENTING.includes(c);
    if (indenting && column > MAX_INDENT) {
      return problem(line, column, `indented further than ${String(MAX_INDENT)} columns`);
    }
    if (c === '[' || c === '{') depth += 1;
    else if ((c === ']' || c === '}') && depth > 0) depth -= 1;
    if (depth > MAX_DEPTH) return problem(line, column, TOO_DEEP);
  }
  return null;
}

const INDENTING = ' \t-?:';
const TOO_DEEP = `nested deeper than ${String(MAX_DEPTH)} levels`;

const problem = (line: number, column: number, message: string): Problem => ({
  place: { line, column },
  path: '',
  message,
});
