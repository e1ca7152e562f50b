/** Chain hash of a record by its schema (`field-types.ts`). The hand-written functions of `hash.ts` hash the same words. */
import { unreachable } from '../../base/assert.ts';
import { codeOf } from '../../base/code-of.ts';
import type { RollingHash } from '../../base/rolling-hash.ts';
import type { HashStep, OptionalShape, RecordShape, Shape } from '../schema/field-types.ts';

type Row = Readonly<Record<string, unknown>>;

export function hashRecord(hash: RollingHash, { hashed }: RecordShape, value: object): void {
  for (const step of hashed) hashStep(hash, step, value as Row);
}

function hashStep(hash: RollingHash, step: HashStep, row: Row): void {
  switch (step.merge) {
    case 'none':
      hashValue(hash, step.field.shape, row[step.field.name]);
      return;
    case 'bits': {
      let bits = 0;
      for (const { name, shape, shift } of step.codes) bits |= codeIn(shape, row[name]) << shift;
      hash.int(bits);
      return;
    }
    case 'sign': {
      const value = row[step.of.name] as number;
      hash.int(codeIn(step.sign.shape, row[step.sign.name]) === 1 ? value : -value);
      return;
    }
    default:
      unreachable(step);
  }
}

function hashValue(hash: RollingHash, shape: Shape, value: unknown): void {
  switch (shape.type) {
    case 'number':
      if (shape.wide) hash.num(value as number);
      else hash.int(value as number);
      return;
    case 'bigint':
      hash.bigint(value as bigint);
      return;
    case 'boolean':
      hash.int(codeIn(shape, value));
      return;
    case 'text':
      hash.text(value as string);
      return;
    case 'word':
      if (shape.hashedAs === 'text') hash.text(value as string);
      else hash.int(codeIn(shape, value));
      return;
    case 'optional':
      hashOptional(hash, shape, value);
      return;
    case 'list':
      hash.int((value as readonly unknown[]).length);
      for (const item of value as readonly unknown[]) hashValue(hash, shape.of, item);
      return;
    case 'record':
      hashRecord(hash, shape, value as object);
      return;
    default:
      unreachable(shape);
  }
}

/** Null is a value that none of its type has; a record comes after a word that says whether there is one. */
function hashOptional(hash: RollingHash, { of, none }: OptionalShape, value: unknown): void {
  if (of.type === 'record') hash.int(value === null ? 0 : 1);
  if (value !== null) hashValue(hash, of, value);
  else if (of.type === 'number') hashValue(hash, of, none);
  else if (of.type === 'bigint') hash.bigint(BigInt(none));
  else if (of.type !== 'record') hash.int(none);
}

/** A boolean is 0 or 1, a literal its code. */
function codeIn(shape: Shape, value: unknown): number {
  if (shape.type === 'word') return codeOf(shape.words, value as string) + shape.base;
  return value === true ? 1 : 0;
}
