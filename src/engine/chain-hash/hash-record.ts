/**
 * Chain hash of a record by its schema (`schema/field-types.ts`): one function a field, made when
 * the module loads. The hand-written functions of this room hash the same words, which a property
 * test checks.
 */
import { unreachable } from '../../base/assert.ts';
import { codeOf } from '../../base/code-of.ts';
import type { RollingHash } from '../../base/rolling-hash.ts';
import type { Field, HashStep, OptionalShape, RecordShape, Shape } from '../schema/field-types.ts';

type HashValue = (hash: RollingHash, value: never) => void;
type HashRow = (hash: RollingHash, row: Row) => void;
type Row = Readonly<Record<string, unknown>>;

export type HashRecord = (hash: RollingHash, record: object) => void;

/** Hashes every word of a record. */
export function recordHasher({ hashed }: RecordShape): HashRecord {
  const steps = hashed.map(stepHasher);
  return (hash, record) => {
    for (const step of steps) step(hash, record as Row);
  };
}

function stepHasher(step: HashStep): HashRow {
  switch (step.merge) {
    case 'none': {
      const { name, shape } = step.field;
      const hashValue = valueHasher(shape);
      return (hash, row) => {
        hashValue(hash, row[name] as never);
      };
    }
    case 'bits': {
      const codes = step.codes.map((field) => ({ code: codeReader(field), shift: field.shift }));
      return (hash, row) => {
        let bits = 0;
        for (const { code, shift } of codes) bits |= code(row) << shift;
        hash.int(bits);
      };
    }
    case 'sign': {
      const { name } = step.of;
      const sign = codeReader(step.sign);
      return (hash, row) => {
        const value = row[name] as number;
        hash.int(sign(row) === 1 ? value : -value);
      };
    }
    default:
      return unreachable(step);
  }
}

function valueHasher(shape: Shape): HashValue {
  switch (shape.type) {
    case 'number':
      return shape.wide
        ? (hash, value: number) => {
            hash.num(value);
          }
        : (hash, value: number) => {
            hash.int(value);
          };
    case 'bigint':
      return (hash, value: bigint) => {
        hash.bigint(value);
      };
    case 'boolean':
      return (hash, value: boolean) => {
        hash.int(value ? 1 : 0);
      };
    case 'text':
      return (hash, value: string) => {
        hash.text(value);
      };
    case 'word': {
      const { words, base } = shape;
      if (shape.hashedAs === 'text') return valueHasher({ type: 'text', isAddress: false });
      return (hash, value: string) => {
        hash.int(codeOf(words, value) + base);
      };
    }
    case 'optional':
      return optionalHasher(shape);
    case 'list': {
      const hashItem = valueHasher(shape.of);
      return (hash, items: readonly never[]) => {
        hash.int(items.length);
        for (const item of items) hashItem(hash, item);
      };
    }
    case 'record':
      return recordHasher(shape);
    default:
      return unreachable(shape);
  }
}

/**
 * Null is a value that none of its type has; a record comes after a word that says whether there is
 * one.
 */
function optionalHasher({ of, none }: OptionalShape): HashValue {
  const hashPresent = valueHasher(of);
  const isRecord = of.type === 'record';
  return (hash, value: unknown) => {
    if (isRecord) hash.int(value === null ? 0 : 1);
    if (value !== null) hashPresent(hash, value as never);
    else if (of.type === 'bigint') hash.bigint(BigInt(none));
    else if (of.type === 'number' && of.wide) hash.num(none);
    else if (!isRecord) hash.int(none);
  };
}

/** A boolean is 0 or 1, a literal its code. */
function codeReader({ name, shape }: Field): (row: Row) => number {
  if (shape.type !== 'word') return (row) => (row[name] === true ? 1 : 0);
  const { words, base } = shape;
  return (row) => codeOf(words, row[name] as string) + base;
}
