/**
 * Shapes: what a scenario's document may hold, as data. One shape table (`language.ts`) checks documents with the place of
 * every fault, and writes the JSON Schema that editors use, so the two cannot differ.
 */
import { parseDecimal } from '../num/decimal.ts';
import { childPath, describeNode, itemPath, type Problem, type SourceNode } from './source-node.ts';
import { suggest } from './suggest.ts';

export interface Field {
  readonly shape: Shape;
  readonly doc: string;
  readonly required?: true;
}

export type Fields = Readonly<Record<string, Field>>;

export type Shape =
  /** Text of a form; `what` names it in errors. A number is text too: its own. */
  | { readonly kind: 'text'; readonly what: string; readonly pattern?: RegExp }
  | { readonly kind: 'word'; readonly what: string; readonly words: readonly string[] }
  | { readonly kind: 'decimal'; readonly what: string }
  | { readonly kind: 'whole'; readonly what: string; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  /** Whatever the author writes; its meaning is checked where it is used. */
  | { readonly kind: 'anything' }
  | { readonly kind: 'list'; readonly of: Shape; readonly min?: number; readonly max?: number }
  | {
      readonly kind: 'map';
      readonly of: Shape;
      readonly keys: { readonly what: string; readonly pattern: RegExp };
    }
  | { readonly kind: 'record'; readonly fields: Fields }
  /** Text or something else: the node's kind decides which. */
  | { readonly kind: 'textOr'; readonly text: Shape; readonly other: Shape }
  /** A shape that may contain itself; `name` is its place under `$defs`. */
  | { readonly kind: 'named'; readonly name: string; readonly shape: () => Shape };

/** Appends every fault of `node` to `problems`. */
export function checkShape(
  node: SourceNode,
  shape: Shape,
  path: string,
  problems: Problem[],
): void {
  const refuse = (message: string): void => {
    problems.push({ place: node.place, path, message });
  };
  const wanted = (what: string): void => refuse(`expected ${what}, found ${describeNode(node)}`);
  switch (shape.kind) {
    case 'anything':
      return;
    case 'named':
      return checkShape(node, shape.shape(), path, problems);
    case 'textOr':
      return checkShape(node, node.kind === 'scalar' ? shape.text : shape.other, path, problems);
    case 'text':
      if (!isText(node) || (shape.pattern?.test(node.text) ?? true) === false) wanted(shape.what);
      return;
    case 'word':
      if (!isText(node)) wanted(shape.what);
      else if (!shape.words.includes(node.text)) {
        refuse(`${describeNode(node)} is not ${shape.what}${suggest(node.text, shape.words)}`);
      }
      return;
    case 'decimal':
      if (!isText(node) || parseDecimal(node.text) === null) wanted(shape.what);
      return;
    case 'whole':
      if (!isWholeWithin(node, shape.min, shape.max)) {
        wanted(`${shape.what} from ${String(shape.min)} to ${String(shape.max)}`);
      }
      return;
    case 'boolean':
      if (node.kind !== 'scalar' || node.type !== 'boolean') wanted('true or false');
      return;
    case 'list': {
      if (node.kind !== 'list') return wanted('a list');
      const { min = 0, max = MAX_ITEMS } = shape;
      if (node.items.length < min || node.items.length > max) {
        const span = min === max ? String(min) : `${String(min)} to ${String(max)}`;
        refuse(`expected ${span} items, found ${String(node.items.length)}`);
      }
      node.items.forEach((item, i) => checkShape(item, shape.of, itemPath(path, i), problems));
      return;
    }
    case 'map':
      if (node.kind !== 'map') return wanted(`a map of ${shape.keys.what}s`);
      for (const [key, { keyPlace, value }] of node.entries) {
        if (!shape.keys.pattern.test(key)) {
          const message = `${JSON.stringify(key)} is not ${article(shape.keys.what)}`;
          problems.push({ place: keyPlace, path, message });
        }
        checkShape(value, shape.of, childPath(path, key), problems);
      }
      return;
    case 'record': {
      if (node.kind !== 'map') return wanted('a map');
      for (const [key, { keyPlace, value }] of node.entries) {
        const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
        if (field === undefined) {
          const hint = suggest(key, Object.keys(shape.fields));
          const message = `unknown key ${JSON.stringify(key)}${hint}`;
          problems.push({ place: keyPlace, path, message });
        } else {
          checkShape(value, field.shape, childPath(path, key), problems);
        }
      }
      for (const [key, field] of Object.entries(shape.fields)) {
        if (field.required === true && !node.entries.has(key)) refuse(`"${key}" is missing`);
      }
    }
  }
}

/** The most items of any list. */
const MAX_ITEMS = 10_000;

const isText = (node: SourceNode): node is Extract<SourceNode, { kind: 'scalar' }> =>
  node.kind === 'scalar' && (node.type === 'text' || node.type === 'number');

function isWholeWithin(node: SourceNode, min: number, max: number): boolean {
  if (!isText(node) || !/^-?\d{1,16}$/.test(node.text)) return false;
  const value = Number(node.text);
  return value >= min && value <= max;
}

const article = (what: string): string => `${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what}`;
