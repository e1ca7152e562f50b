/**
 * A scenario's document with its source text: scalars keep their text, so a price is never a float,
 * and every node has its line and column. Keys are in a Map, so `__proto__` is an ordinary key.
 */

/** Line and column, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Place of a fault of the document. */
export const START_OF_TEXT: Place = { line: 1, column: 1 };

export interface ScalarNode {
  readonly kind: 'scalar';
  /** `number` is plain decimal text; `text` is other plain text, and all quoted text. */
  readonly type: 'text' | 'number' | 'boolean' | 'null';
  readonly text: string;
  readonly place: Place;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly SourceNode[];
  readonly place: Place;
}

export interface MapEntry {
  readonly keyPlace: Place;
  readonly value: SourceNode;
}

export interface MapNode {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, MapEntry>;
  readonly place: Place;
}

export type SourceNode = ScalarNode | ListNode | MapNode;

/**
 * A fault in a scenario's text. `path` names the field, such as `steps[2].with`; empty for the
 * document.
 */
export interface Problem {
  readonly place: Place;
  readonly path: string;
  readonly message: string;
}

/** `path` of a map's value. */
export const childPath = (path: string, key: string): string =>
  path === '' ? key : `${path}.${key}`;

/** `path` of a list's item. */
export const itemPath = (path: string, index: number): string => `${path}[${String(index)}]`;

/** Name of a node in error messages. */
export function describeNode(node: SourceNode): string {
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a map';
  if (node.type === 'null') return 'nothing';
  if (node.type === 'text') return `the text ${JSON.stringify(shorten(node.text))}`;
  return shorten(node.text);
}

/** `file:line:column: path: message`, one line. */
export function formatProblem(file: string, { place, path, message }: Problem): string {
  const where = path === '' ? '' : `${path}: `;
  return `${file}:${String(place.line)}:${String(place.column)}: ${where}${message}`;
}

const SHOWN_CHARACTERS = 60;

function shorten(text: string): string {
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
