/**
 * Shapes: the structure of scenario documents as data. One table (`language.ts`) both validates
 * documents with places of faults and generates the JSON Schema for editors, so the two are
 * consistent.
 */
import { suggest } from '../base/suggest.ts';
import { parseDecimal } from '../num/decimal.ts';
import { childPath, describeNode, itemPath, type Problem, type SourceNode } from './source-node.ts';

export interface Field {
  readonly shape: Shape;
  readonly doc: string;
  readonly required?: true;
}

export type Fields = Readonly<Record<string, Field>>;

export type Shape =
  /** Text of a form; `what` names it in errors. A number is its own text. */
  | { readonly kind: 'text'; readonly what: string; readonly pattern?: RegExp }
  | { readonly kind: 'word'; readonly what: string; readonly words: readonly string[] }
  | { readonly kind: 'decimal'; readonly what: string }
  | { readonly kind: 'whole'; readonly what: string; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  /** Any value; its meaning is checked where it is used. */
  | { readonly kind: 'anything' }
  | { readonly kind: 'list'; readonly of: Shape; readonly min?: number; readonly max?: number }
  | {
      readonly kind: 'map';
      readonly of: Shape;
      readonly keys: { readonly what: string; readonly pattern: RegExp };
      readonly min?: number;
    }
  | { readonly kind: 'record'; readonly fields: Fields }
  /** Text or another shape, by the kind of the node. */
  | { readonly kind: 'textOr'; readonly text: Shape; readonly other: Shape }
  /** A recursive shape; `name` is its key under `$defs`. */
  | { readonly kind: 'named'; readonly name: string; readonly shape: () => Shape };

/** Appends all faults of `node` to `problems`. */
export function checkShape(
  node: SourceNode,
  shape: Shape,
  path: string,
  problems: Problem[],
): void {
  switch (shape.kind) {
    case 'anything':
      return;
    case 'named':
      checkShape(node, shape.shape(), path, problems);
      return;
    case 'textOr':
      checkShape(node, node.kind === 'scalar' ? shape.text : shape.other, path, problems);
      return;
    case 'list':
      checkList(node, shape, path, problems);
      return;
    case 'map':
      checkMap(node, shape, path, problems);
      return;
    case 'record':
      checkRecord(node, shape.fields, path, problems);
      return;
    default: {
      const message = scalarFault(node, shape);
      if (message !== null) problems.push({ place: node.place, path, message });
    }
  }
}

type ShapeOf<Kind extends Shape['kind']> = Extract<Shape, { kind: Kind }>;

function scalarFault(
  node: SourceNode,
  shape: ShapeOf<'text' | 'word' | 'decimal' | 'whole' | 'boolean'>,
): string | null {
  const found = describeNode(node);
  switch (shape.kind) {
    case 'text': {
      const isFine = isText(node) && (shape.pattern?.test(node.text) ?? true);
      return isFine ? null : `expected ${shape.what}, found ${found}`;
    }
    case 'word': {
      if (!isText(node)) return `expected ${shape.what}, found ${found}`;
      if (shape.words.includes(node.text)) return null;
      return `${found} is not ${shape.what}${suggest(node.text, shape.words)}`;
    }
    case 'decimal': {
      const isFine = isText(node) && parseDecimal(node.text) !== null;
      return isFine ? null : `expected ${shape.what}, found ${found}`;
    }
    case 'whole': {
      const { what, min, max } = shape;
      if (isWholeWithin(node, min, max)) return null;
      return `expected ${what} from ${String(min)} to ${String(max)}, found ${found}`;
    }
    case 'boolean': {
      const isFine = node.kind === 'scalar' && node.type === 'boolean';
      return isFine ? null : `expected true or false, found ${found}`;
    }
  }
}

function checkList(
  node: SourceNode,
  { of, min = 0, max = MAX_ITEMS }: ShapeOf<'list'>,
  path: string,
  problems: Problem[],
): void {
  const { place } = node;
  if (node.kind !== 'list') {
    problems.push({ place, path, message: `expected a list, found ${describeNode(node)}` });
    return;
  }
  const count = node.items.length;
  if (count < min || count > max) {
    const span = min === max ? String(min) : `${String(min)} to ${String(max)}`;
    problems.push({ place, path, message: `expected ${span} items, found ${String(count)}` });
  }
  for (const [i, item] of node.items.entries()) checkShape(item, of, itemPath(path, i), problems);
}

function checkMap(
  node: SourceNode,
  { of, keys, min = 0 }: ShapeOf<'map'>,
  path: string,
  problems: Problem[],
): void {
  if (node.kind !== 'map') {
    const message = `expected a map of ${keys.what}s, found ${describeNode(node)}`;
    problems.push({ place: node.place, path, message });
    return;
  }
  if (node.entries.size < min) {
    const message = `expected at least ${String(min)} ${keys.what}, found none`;
    problems.push({ place: node.place, path, message });
  }
  for (const [key, { keyPlace, value }] of node.entries) {
    if (!keys.pattern.test(key)) {
      const message = `${JSON.stringify(key)} is not ${article(keys.what)}`;
      problems.push({ place: keyPlace, path, message });
    }
    checkShape(value, of, childPath(path, key), problems);
  }
}

function checkRecord(node: SourceNode, fields: Fields, path: string, problems: Problem[]): void {
  const { place } = node;
  if (node.kind !== 'map') {
    problems.push({ place, path, message: `expected a map, found ${describeNode(node)}` });
    return;
  }
  for (const [key, { keyPlace, value }] of node.entries) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) {
      const hint = suggest(key, Object.keys(fields));
      const message = `unknown key ${JSON.stringify(key)}${hint}`;
      problems.push({ place: keyPlace, path, message });
    } else {
      checkShape(value, field.shape, childPath(path, key), problems);
    }
  }
  for (const [key, field] of Object.entries(fields)) {
    if (field.required !== true || node.entries.has(key)) continue;
    problems.push({ place, path, message: `"${key}" is missing` });
  }
}

/** Max number of items of a list. */
const MAX_ITEMS = 10_000;

const isText = (node: SourceNode): node is Extract<SourceNode, { kind: 'scalar' }> =>
  node.kind === 'scalar' && (node.type === 'text' || node.type === 'number');

function isWholeWithin(node: SourceNode, min: number, max: number): boolean {
  if (!isText(node) || !/^-?\d{1,16}$/.test(node.text)) return false;
  const value = Number(node.text);
  return value >= min && value <= max;
}

const article = (what: string): string => `${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}`;
