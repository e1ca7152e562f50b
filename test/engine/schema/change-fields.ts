/**
 * Every value that one field of a record can be changed to, field by field: the fields are those of
 * the record itself, and the schema says only what else a field may hold.
 */
import { must } from '../../../src/base/assert.ts';
import type { RecordShape, Shape } from '../../../src/engine/schema/field-types.ts';

export interface Change<T> {
  /** `orders.0.lots`, and what it became. */
  readonly path: string;
  readonly text: string;
  readonly record: T;
}

/** All records that differ from this one in one field. */
export function* changesOf<T extends object>(
  shape: RecordShape,
  record: T,
  at = '',
): Generator<Change<T>> {
  for (const [name, value] of Object.entries(record) as [string, unknown][]) {
    if (ENVELOPE.has(name)) continue;
    const field = must(
      shape.fields.find((known) => known.name === name),
      'the schema has every field of an example',
    );
    for (const { path, changed } of changedValues(field.shape, value, `${at}${name}`)) {
      yield { path, text: textOf(changed), record: { ...record, [name]: changed } };
    }
  }
}

const ENVELOPE = new Set(['kind', 'seq', 'index', 'timeUs', 'cause']);

function* changedValues(
  shape: Shape,
  value: unknown,
  path: string,
): Generator<{ readonly path: string; readonly changed: unknown }> {
  switch (shape.type) {
    case 'number': {
      const number = value as number;
      const far = shape.wide ? [number > 2 ** 40 ? number - 2 ** 32 : number + 2 ** 32] : [];
      const near = number > 2 ** 31 - 2 ? number - 1 : number + 1;
      for (const changed of [near, ...far, ...(shape.signed ? [-number] : [])]) {
        yield { path, changed };
      }
      return;
    }
    case 'bigint':
      for (const by of [1n, 1n << 40n]) {
        yield {
          path,
          changed: (value as bigint) > 1n << 61n ? (value as bigint) - by : (value as bigint) + by,
        };
      }
      return;
    case 'boolean':
      yield { path, changed: value !== true };
      return;
    case 'text': {
      const text = value as string;
      yield { path, changed: `${text}1` };
      yield { path, changed: Array.from(text).slice(1).join('') };
      yield { path, changed: `${Array.from(text).slice(0, -1).join('')}~` };
      return;
    }
    case 'word':
      for (const changed of shape.words) if (changed !== value) yield { path, changed };
      return;
    case 'optional':
      if (value === null) {
        for (const changed of present(shape.of)) yield { path, changed };
        return;
      }
      yield { path, changed: null };
      yield* changedValues(shape.of, value, path);
      return;
    case 'list': {
      const items = value as readonly unknown[];
      const [first, second, ...rest] = items;
      yield { path, changed: items.slice(0, -1) };
      yield { path, changed: [...items, first] };
      yield { path, changed: [second, first, ...rest] };
      for (const [i, item] of items.entries()) {
        for (const { path: inside, changed } of changedValues(shape.of, item, `${path}.${i}`)) {
          yield { path: inside, changed: items.map((other, j) => (j === i ? changed : other)) };
        }
      }
      return;
    }
    case 'record':
      for (const { path: inside, record } of changesOf(shape, value as object, `${path}.`)) {
        yield { path: inside, changed: record };
      }
  }
}

/** Values in place of null. */
function present(shape: Shape): readonly unknown[] {
  switch (shape.type) {
    case 'number':
      return [1, 2];
    case 'bigint':
      return [0n, 1n];
    case 'text':
      return ['', '1'];
    case 'word':
      return shape.words;
    default:
      return [];
  }
}

/** The record as text, for comparing: bigints and −0 are not lost. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? `${String(field)}n` : field,
  );

/** Names of the fields of a schema, with those of records inside. */
export function pathsOf(shape: RecordShape, at = ''): string[] {
  return shape.fields.flatMap(({ name, shape: of }) => innerPaths(of, `${at}${name}`));
}

export function innerPaths(shape: Shape, path: string): string[] {
  // A literal without alternative cannot change.
  if (shape.type === 'word' && shape.words.length === 1) return [];
  if (shape.type === 'optional') {
    return [...(shape.of.type === 'record' ? [path] : []), ...innerPaths(shape.of, path)];
  }
  if (shape.type === 'list')
    return [path, ...(shape.of.type === 'record' ? innerPaths(shape.of, path) : [])];
  return shape.type === 'record' ? pathsOf(shape, `${path}.`) : [path];
}
