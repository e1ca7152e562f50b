/**
 * References to saved responses: `$name.field[0].field`. A field of a list is that of its first
 * item, so `$order.orderId` works on the response of a submit. `$$` at the start of a text is a
 * literal `$`.
 */
import { ABSENT, type Difference } from './match-expectation.ts';
import type { StateExpectation, Step } from './scenario.ts';
import type { Place, SourceNode } from './source-node.ts';

export interface Reference {
  readonly name: string;
  readonly parts: readonly (string | number)[];
}

const REFERENCE = /^\$([a-z][A-Za-z0-9_-]*)((?:\.[A-Za-z0-9_]+|\[\d{1,6}\])*)$/;
const PART = /\.([A-Za-z0-9_]+)|\[(\d+)\]/g;

/** Null if the text is not a reference. */
export function parseReference(text: string): Reference | null {
  const match = REFERENCE.exec(text);
  const [, name, tail] = match ?? [];
  if (name === undefined || tail === undefined) return null;
  const parts = [...tail.matchAll(PART)].map(([, field, index]) => field ?? Number(index));
  return { name, parts };
}

/** The referenced part of `saved`; undefined if it does not exist. */
export function followReference(saved: unknown, parts: Reference['parts']): unknown {
  let value = saved;
  for (const part of parts) {
    if (typeof part === 'string' && Array.isArray(value)) value = value[0];
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part))
      return undefined;
    // An own property of an object, by the check above.
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** References to parts that saved answers lack: a request would omit them, a match ignore them. */
export function lostReferences(
  nodes: readonly (SourceNode | null)[],
  saved: ReadonlyMap<string, { readonly body: unknown }>,
): Difference[] {
  return nodes
    .flatMap((node) => (node === null ? [] : referencesIn(node)))
    .filter(({ name, parts }) => followReference(saved.get(name)?.body, parts) === undefined)
    .map(({ text }) => ({ path: text, expected: 'a part of the saved answer', actual: ABSENT }));
}

/** The written values that a state is compared with. */
export const statePartsOf = (expect: StateExpectation): (SourceNode | null)[] => [
  expect.records,
  expect.positions,
  expect.book,
];

/** The written values of a step: its request, and what is expected. */
export const partsOf = ({ action, expect }: Step): (SourceNode | null)[] => [
  action?.kind === 'call' ? action.request : null,
  expect.body,
  expect.events,
  ...statePartsOf(expect),
];

/** Replaces a leading `$$` by `$`. */
export const unescapeDollar = (text: string): string =>
  text.startsWith('$$') ? text.slice(1) : text;

/** A reference as it is written. */
interface WrittenReference extends Reference {
  readonly text: string;
  readonly place: Place;
}

/** All references in a node, with their places. */
export function referencesIn(node: SourceNode): WrittenReference[] {
  switch (node.kind) {
    case 'scalar': {
      const { text, place } = node;
      const reference = node.type === 'text' ? parseReference(text) : null;
      return reference === null ? [] : [{ ...reference, text, place }];
    }
    case 'list':
      return node.items.flatMap(referencesIn);
    case 'map':
      return [...node.entries.values()].flatMap(({ value }) => referencesIn(value));
  }
}
