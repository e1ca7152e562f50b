/** Values of expressions and the operators on them. */
import { unreachable } from '../../base/assert.ts';
import { add, divide, multiply, subtract, type Rational } from './rational.ts';
import type { RecordName } from './value-types.ts';

export type Value = Rational | string | boolean | null | RecordValue | readonly Value[];

/** A record: its fields are computed when they are read. */
export interface RecordValue {
  readonly record: RecordName;
  readonly get: (field: string) => Value;
}

/** Values of names at an instant. */
export interface Scope {
  readonly name: (name: string) => Value;
  readonly lookup: (kind: string, key: Rational | string) => Value;
}

export const COMPARISONS = ['<', '<=', '>', '>='] as const;
export const EQUALITIES = ['==', '===', '!=', '!=='] as const;
export const ARITHMETIC = ['+', '-', '*', '/'] as const;
type Comparison = (typeof COMPARISONS)[number];
type Arithmetic = (typeof ARITHMETIC)[number];

export const isIn = <T extends string>(words: readonly T[], word: string): word is T =>
  (words as readonly string[]).includes(word);

export function isNumber(value: Value | undefined): value is Rational {
  return typeof value === 'object' && value !== null && 'n' in value;
}

export function isRecord(value: Value): value is RecordValue {
  return typeof value === 'object' && value !== null && 'record' in value;
}

export function areEqual(a: Value, b: Value): boolean {
  if (isNumber(a) && isNumber(b)) return a.n === b.n && a.d === b.d;
  return a === b;
}

export function holds(operator: Comparison, order: number): boolean {
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      return unreachable(operator);
  }
}

export function arithmetic(operator: Arithmetic, a: Rational, b: Rational): Rational | null {
  switch (operator) {
    case '+':
      return add(a, b);
    case '-':
      return subtract(a, b);
    case '*':
      return multiply(a, b);
    case '/':
      return divide(a, b);
    default:
      return unreachable(operator);
  }
}

/** null if any item is unknown, or of an empty list without a start. */
export function fold(
  items: Value,
  combine: (a: Rational, b: Rational) => Rational,
  start: Rational | null,
): Rational | null {
  let result = start;
  for (const item of Array.isArray(items) ? (items as readonly Value[]) : []) {
    if (!isNumber(item)) return null;
    result = result === null ? item : combine(result, item);
  }
  return result;
}
