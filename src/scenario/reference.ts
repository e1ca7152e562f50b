/**
 * `$name.field[0].field`: a part of an answer that an earlier step saved. A field of a list is that field of its first
 * item, so `$order.orderId` reads the order of a submit's answer. `$$` at the start of a text is a plain `$`.
 */
import type { Place, SourceNode } from './source-node.ts';

export interface Reference {
  readonly name: string;
  readonly parts: readonly (string | number)[];
}

const REFERENCE = /^\$([a-z][A-Za-z0-9_-]*)((?:\.[A-Za-z0-9_]+|\[\d{1,6}\])*)$/;
const PART = /\.([A-Za-z0-9_]+)|\[(\d+)\]/g;

/** null when the text is not a reference. */
export function parseReference(text: string): Reference | null {
  const match = REFERENCE.exec(text);
  const [, name, tail] = match ?? [];
  if (name === undefined || tail === undefined) return null;
  const parts = [...tail.matchAll(PART)].map(([, field, index]) => field ?? Number(index));
  return { name, parts };
}

/** The part of `saved` that is named; undefined when there is none. */
export function followReference(saved: unknown, parts: Reference['parts']): unknown {
  let value = saved;
  for (const part of parts) {
    if (typeof part === 'string' && Array.isArray(value)) value = value[0];
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    // An own property of an object, by the line above.
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** A text that begins with `$$` means one `$`. */
export const unescapeDollar = (text: string): string =>
  text.startsWith('$$') ? text.slice(1) : text;

/** Every reference in a node, with its place. */
export function referencesIn(node: SourceNode): { name: string; place: Place }[] {
  switch (node.kind) {
    case 'scalar': {
      const reference = node.type === 'text' ? parseReference(node.text) : null;
      return reference === null ? [] : [{ name: reference.name, place: node.place }];
    }
    case 'list':
      return node.items.flatMap(referencesIn);
    case 'map':
      return [...node.entries.values()].flatMap(({ value }) => referencesIn(value));
  }
}
