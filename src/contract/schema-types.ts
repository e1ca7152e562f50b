/**
 * The constructors of JSON Schemas that the contract uses, with the types of `typebox` and equal
 * results. Its own module is 370 files, which every command would load for a table of schemas.
 */
import type * as Typebox from 'typebox/type';

type Schema = Readonly<Record<string, unknown>>;

/** Marks a schema whose field may be absent; not enumerable, so that no document shows it. */
const OPTIONAL = '~optional';

function optional(schema: Schema): Schema {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

function object(properties: Readonly<Record<string, Schema>>, options: Schema = {}): Schema {
  const names = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})));
  const required = names.length > 0 ? { required: names } : {};
  return { type: 'object', ...required, properties, ...options };
}

const constructors = {
  Array: (items: Schema, options: Schema = {}) => ({ type: 'array', items, ...options }),
  Boolean: () => ({ type: 'boolean' }),
  Integer: (options: Schema = {}) => ({ type: 'integer', ...options }),
  Literal: (value: unknown) => ({ type: typeof value, const: value }),
  Null: () => ({ type: 'null' }),
  Number: () => ({ type: 'number' }),
  Object: object,
  Optional: optional,
  /** Of text to values. */
  Record: (_key: Schema, value: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
  }),
  String: (options: Schema = {}) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[]) => ({ anyOf }),
  Unknown: () => ({}),
  Unsafe: (schema: Schema) => schema,
};

/** A test compares the results with those of `typebox`. */
export const Type = constructors as unknown as Pick<typeof Typebox, keyof typeof constructors>;
