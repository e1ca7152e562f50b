/**
 * The constructors of JSON Schemas that the contract uses, with the types of their values. Results
 * equal those of `typebox`; a test compares schemas and types. Its own types take a compiler three
 * seconds for each program that names a record of the contract (decision record 0098), and its
 * module is 370 files, which every command would load for a table of schemas.
 */

type Keywords = Readonly<Record<string, unknown>>;

declare const VALUE: unique symbol;
declare const IS_OPTIONAL: unique symbol;

/** A schema of values of type `T`. The field exists for the compiler only. */
export interface Schema<out T = unknown> {
  readonly [VALUE]: T;
}

/** Of a field that may be absent. */
export interface OptionalSchema<out T = unknown> extends Schema<T> {
  readonly [IS_OPTIONAL]: true;
}

export type Fields = Readonly<Record<string, Schema>>;

export interface ObjectSchema<F extends Fields = Fields> extends Schema<ObjectOf<F>> {
  readonly properties: F;
}

/** Type of the values of a schema. */
export type Static<S> = S extends Schema<infer T> ? T : never;

type OptionalName<F> = { [K in keyof F]: F[K] extends OptionalSchema ? K : never }[keyof F];

type ObjectOf<F> = [keyof F] extends [never]
  ? object
  : Flat<
      { [K in Exclude<keyof F, OptionalName<F>>]: Static<F[K]> } & {
        [K in OptionalName<F>]?: Static<F[K]>;
      }
    >;

type Flat<T> = { [K in keyof T]: T[K] };

interface Constructors {
  Array<T>(items: Schema<T>, options?: Keywords): Schema<T[]>;
  Boolean(): Schema<boolean>;
  Integer(options?: Keywords): Schema<number>;
  Literal<const T extends string | number | boolean>(value: T): Schema<T>;
  Null(): Schema<null>;
  Number(): Schema<number>;
  Object<F extends Fields>(properties: F, options?: Keywords): ObjectSchema<F>;
  Optional<T>(schema: Schema<T>): OptionalSchema<T>;
  /** Of text to values. */
  Record<T>(key: Schema<string>, value: Schema<T>): Schema<Record<string, T>>;
  String(options?: Keywords): Schema<string>;
  Union<const S extends readonly Schema[]>(anyOf: S): Schema<Static<S[number]>>;
  Unknown(): Schema;
  /** The schema with another type of its values. */
  Unsafe<T>(schema: Schema): Schema<T>;
}

/** Marks a schema whose field may be absent; not enumerable, so that no document shows it. */
const OPTIONAL = '~optional';

function optional(schema: Keywords): Keywords {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

function object(properties: Readonly<Record<string, Keywords>>, options: Keywords = {}): Keywords {
  const names = Object.keys(properties).filter((name) => !(OPTIONAL in (properties[name] ?? {})));
  const required = names.length > 0 ? { required: names } : {};
  return { type: 'object', ...required, properties, ...options };
}

const constructors = {
  Array: (items: Keywords, options: Keywords = {}) => ({ type: 'array', items, ...options }),
  Boolean: () => ({ type: 'boolean' }),
  Integer: (options: Keywords = {}) => ({ type: 'integer', ...options }),
  Literal: (value: unknown) => ({ type: typeof value, const: value }),
  Null: () => ({ type: 'null' }),
  Number: () => ({ type: 'number' }),
  Object: object,
  Optional: optional,
  Record: (_key: Keywords, value: Keywords) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
  }),
  String: (options: Keywords = {}) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Keywords[]) => ({ anyOf }),
  Unknown: () => ({}),
  Unsafe: (schema: Keywords) => schema,
} satisfies Record<keyof Constructors, unknown>;

export const Type = constructors as unknown as Constructors;
