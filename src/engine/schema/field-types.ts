/**
 * Type descriptors: what a field of a command, an event or a configuration holds, as data. Chain
 * hash, archive, journal, JSON and id mapping are interpreters of these; none keeps a list of
 * fields of its own.
 *
 * `FieldType<T>` carries the TypeScript type it stands for. It is invariant in `T`: a descriptor of
 * another unit, or a word list that lacks a literal of the union, does not compile. So does a
 * record that lacks a field or hashes one in no word.
 */
import { assert, must } from '../../base/assert.ts';

declare const carried: unique symbol;

/** Names of dense ids, which a shrunk script renumbers. */
export const ID_UNITS = ['marketId', 'subaccountId', 'accountId', 'orderId'] as const;
export type IdUnit = (typeof ID_UNITS)[number];
export type NumberUnit =
  IdUnit | 'tradeId' | 'ticks' | 'lots' | 'ppm' | 'ppb' | 'timeUs' | 'durationUs' | 'count';
export type BigintUnit = 'quanta' | 'shares' | 'nonce' | 'ms';

export interface NumberShape {
  readonly type: 'number';
  readonly unit: NumberUnit;
  /** True for two words in the chain hash, false for one: 32 bits. */
  readonly wide: boolean;
  /** Zigzag in the journal. */
  readonly signed: boolean;
}
export interface BigintShape {
  readonly type: 'bigint';
  readonly unit: BigintUnit;
}
export interface BooleanShape {
  readonly type: 'boolean';
}
export interface TextShape {
  readonly type: 'text';
  readonly isAddress: boolean;
}
/**
 * One of a list of literals; its code is its place in the list, counted from `base`. Lists are
 * append-only.
 */
export interface WordShape {
  readonly type: 'word';
  readonly words: readonly string[];
  /** The chain hash has the code, or the text of the literal. */
  readonly hashedAs: 'code' | 'text';
  readonly base: 0 | 1;
  /** Name of the boolean that stands for the literal in JSON: true for code 1. */
  readonly jsonFlag?: string;
}
/** The value or null. */
export interface OptionalShape {
  readonly type: 'optional';
  readonly of: Shape;
  /** Stands for null in the chain hash. */
  readonly none: number;
  /** Name of the boolean in JSON that says whether there is a value; null is left out then. */
  readonly jsonFlag?: string;
}
export interface ListShape {
  readonly type: 'list';
  readonly of: Shape;
}
export interface RecordShape {
  readonly type: 'record';
  /** In the order of bytes and JSON. */
  readonly fields: readonly Field[];
  /** Cloned and filled by what reads a record, so that all of a shape have one hidden class. */
  readonly template: Readonly<Record<string, unknown>>;
  /**
   * The words of the record in the chain hash; what is in none is fixed by what is hashed before.
   */
  readonly hashed: readonly HashStep[];
  /** The numbers of the record in the journal. */
  /** Marker before the record in an archive; the journal holds such a record as its archive. */
  readonly section?: string;
  readonly written: readonly WriteStep[];
  /** In JSON the record is the list of its values. */
  readonly jsonList?: true;
}
export type Shape =
  | NumberShape
  | BigintShape
  | BooleanShape
  | TextShape
  | WordShape
  | OptionalShape
  | ListShape
  | RecordShape;

export interface Field {
  readonly name: string;
  readonly shape: Shape;
}

/**
 * A field; codes side by side, by their shifts; a number that is negative unless the code of `sign`
 * is 1.
 */
export type HashStep =
  | { readonly merge: 'none'; readonly field: Field }
  | { readonly merge: 'bits'; readonly codes: readonly (Field & { readonly shift: number })[] }
  | { readonly merge: 'sign'; readonly sign: Field; readonly of: Field };

/** A field; when another field has its low bit, both are one number. */
export interface WriteStep {
  readonly field: Field;
  readonly lowBit?: Field & { readonly shape: WordShape };
}

export const isId = (unit: NumberUnit): unit is IdUnit =>
  (ID_UNITS as readonly NumberUnit[]).includes(unit);

interface Carries<T> {
  readonly [carried]?: (value: T) => T;
}
export type FieldType<T> = Shape & Carries<T>;
export type RecordType<T> = RecordShape & Carries<T>;

/** Fields of every command or event, which its interpreters treat by themselves. */
type Envelope = 'kind' | 'seq' | 'index' | 'timeUs' | 'cause';
/** A field that may be absent: a record that has it has a schema of its own. */
type Absent<T> = {
  [F in keyof T]-?: undefined extends T[F] ? F : never;
}[keyof T];
export type BodyField<T> = Exclude<keyof T & string, Envelope | Absent<T>>;

/**
 * How a schema writes a step, and the fields that are in none since what is hashed before fixes
 * them.
 */
type HashWord<F extends string> =
  | F
  | { readonly bits: { readonly [field in F]?: number } }
  | { readonly sign: F; readonly of: F }
  | { readonly fixed: readonly F[] };

type FieldsIn<W> = W extends string
  ? W
  : W extends { readonly bits: infer Bits }
    ? keyof Bits
    : W extends { readonly sign: infer Sign; readonly of: infer Of }
      ? Sign | Of
      : W extends { readonly fixed: readonly (infer Fixed)[] }
        ? Fixed
        : never;
/** `unknown` when every field of `T` is in a word, else a type that no list of words has. */
type Complete<T, W extends readonly unknown[]> = [
  Exclude<BodyField<T>, FieldsIn<W[number]>>,
] extends [never]
  ? unknown
  : { readonly fieldsInNoWord: Exclude<BodyField<T>, FieldsIn<W[number]>> };

/**
 * A record with the fields of `T` in the order of its bytes, each a word of the chain hash in that
 * order.
 */
export function record<T>(types: {
  readonly [F in BodyField<T>]-?: FieldType<T[F & keyof T]>;
}): RecordType<T> {
  const fields = Object.entries<Shape>(types).map(([name, shape]) => ({ name, shape }));
  const template = Object.fromEntries(fields.map(({ name }) => [name, null]));
  const hashed = fields.map((field): HashStep => ({ merge: 'none', field }));
  return { type: 'record', fields, template, hashed, written: fields.map((field) => ({ field })) };
}

/** The record with other words in the chain hash. Each field of `T` must be in one. */
export function hashedAs<T, const W extends readonly HashWord<BodyField<T>>[]>(
  type: RecordType<T>,
  words: W & Complete<T, W>,
): RecordType<T> {
  const fieldOf = (name: string): Field => fieldNamed(type, name);
  const stepsOf = (word: HashWord<string>): HashStep[] => {
    if (typeof word === 'string') return [{ merge: 'none', field: fieldOf(word) }];
    if ('fixed' in word) return [];
    if ('sign' in word) return [{ merge: 'sign', sign: fieldOf(word.sign), of: fieldOf(word.of) }];
    const codes = Object.entries<number | undefined>(word.bits).map(([name, shift = 0]) => ({
      ...fieldOf(name),
      shift,
    }));
    return [{ merge: 'bits', codes }];
  };
  return { ...type, hashed: (words as readonly HashWord<string>[]).flatMap(stepsOf) };
}

/**
 * The record with `flag`, a word of two, as the low bit of the number `of` in the journal, and as a
 * list in JSON.
 */
export function packedAs<T>(
  type: RecordType<T>,
  { flag, of }: { readonly flag: BodyField<T>; readonly of: BodyField<T> },
): RecordType<T> {
  const { name, shape } = fieldNamed(type, flag);
  assert(shape.type === 'word', 'the low bit is the code of a word');
  const written = type.written
    .filter(({ field }) => field.name !== name)
    .map((step) => (step.field.name === of ? { ...step, lowBit: { name, shape } } : step));
  return { ...type, written, jsonList: true };
}

function fieldNamed({ fields }: RecordShape, name: string): Field {
  return must(
    fields.find((field) => field.name === name),
    'the record has the field',
  );
}

export function number<T extends number>(
  unit: NumberUnit,
  { wide = false, signed = false } = {},
): FieldType<T> {
  return { type: 'number', unit, wide, signed };
}

export function bigint<T extends bigint>(unit: BigintUnit): FieldType<T> {
  return { type: 'bigint', unit };
}

export function word<const T extends string>(
  words: readonly T[],
  options: Partial<Pick<WordShape, 'hashedAs' | 'base' | 'jsonFlag'>> = {},
): FieldType<T> {
  return { type: 'word', words, hashedAs: 'code', base: 0, ...options };
}

export function optional<T>(
  of: FieldType<T>,
  options: Partial<Pick<OptionalShape, 'none' | 'jsonFlag'>> = {},
): FieldType<T | null> {
  return { type: 'optional', of, none: -1, ...options };
}

export function list<T>(of: FieldType<T>): FieldType<readonly T[]> {
  return { type: 'list', of };
}
