/**
 * Search space: named dimensions, each a finite list of values as text, ordered if they are
 * numbers. A point is one index per dimension. Finite lists keep values exact and searches
 * repeatable.
 */
import { UserError } from '../../base/user-error.ts';
import { formatDecimal, parseDecimal, powerOfTen } from '../../num/decimal.ts';

/** An invalid search, with a message for the user. */
export class SearchError extends UserError {
  override readonly name = 'SearchError';
  readonly code = 'search';
}

export interface Dimension {
  readonly name: string;
  /** At least one value, all distinct. */
  readonly values: readonly string[];
  /** Whether neighbours in the list are similar: a numeric range, not a choice of words. */
  readonly ordered: boolean;
}

export type Space = readonly Dimension[];

/** One index per dimension. */
export type Point = readonly number[];

/** Values by name, as in `--param`. */
export type Assignment = Readonly<Record<string, string>>;

/** Max number of trials of one search. */
export const MAX_TRIALS = 1_000_000;
/** Max number of values of a range. */
const MAX_VALUES = 100_000;
/** Number of steps of a range without a step. */
const DEFAULT_STEPS = 100n;

/** Least step of a parameter's values, as decimal text; null if any number is a value. */
export type LeastStep = (name: string) => string | null;

/**
 * Parses `name=low:high:step`, `name=low:high` or `name=a,b,c`. A range without a step has a
 * hundred steps of whole least steps, or all values if there are fewer.
 *
 * @throws SearchError naming the fault
 */
export function parseDimension(text: string, leastStep: LeastStep = () => null): Dimension {
  const equals = text.indexOf('=');
  const name = text.slice(0, Math.max(0, equals)).trim();
  const spec = text.slice(equals + 1).trim();
  const bad = (why: string): SearchError => new SearchError(`--vary '${text}': ${why}`);
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name) || spec === '') {
    throw bad('must be name=low:high:step or name=a,b,c');
  }
  const parts = spec.split(':');
  if (parts.length === 1) {
    const values = spec.split(',').map((value) => value.trim());
    if (values.includes('')) throw bad('a value is empty');
    // 0.1 and 0.10 are one value.
    const distinct = new Set(values.map((value) => decimal(value) ?? value));
    if (distinct.size < values.length) throw bad('a value occurs twice');
    const ordered = values.every((value) => decimal(value) !== null);
    return { name, values: ordered ? ascending(values) : values, ordered };
  }
  if (parts.length > 3) throw bad('a range must be low:high:step');
  return { name, values: rangeValues(parts, leastStep(name), bad), ordered: true };
}

function rangeValues(
  parts: readonly string[],
  leastStep: string | null,
  bad: (why: string) => SearchError,
): string[] {
  const [low, high, step] = parts.map((part) => decimal(part));
  if (low === null || low === undefined || high === null || high === undefined || step === null) {
    throw bad('low, high and step must be decimal numbers of at most 12 decimals');
  }
  if (high < low) throw bad('high is below low');
  const width = high - low;
  const least = decimal(leastStep ?? '') ?? 1n;
  const by = step ?? (width / (DEFAULT_STEPS * least) || 1n) * least;
  if (by <= 0n) throw bad('step must be above 0');
  if (width / by >= BigInt(MAX_VALUES)) {
    throw bad(`more than ${MAX_VALUES} values; take a larger step`);
  }
  const values: string[] = [];
  for (let value = low; value <= high; value += by) values.push(formatDecimal(value, DECIMALS));
  return values;
}

const DECIMALS = 12;

/** In units of 1e-12; null unless it is a decimal number with at most 12 decimals. */
function decimal(text: string): bigint | null {
  const parsed = parseDecimal(text.trim());
  if (parsed === null || parsed.scale > DECIMALS) return null;
  return parsed.digits * powerOfTen(DECIMALS - parsed.scale);
}

function ascending(values: readonly string[]): string[] {
  const key = (value: string): bigint => decimal(value) ?? 0n;
  return [...values].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Number of points; exact up to 2^53. */
export function sizeOf(space: Space): number {
  return space.reduce((size, { values }) => size * values.length, 1);
}

export function assignmentOf(space: Space, point: Point): Assignment {
  const entries = space.map(({ name, values }, i) => [name, values[point[i] ?? 0] ?? ''] as const);
  return Object.fromEntries(entries);
}

/** Key of a point within its space: equal points have equal keys. */
export function keyOf(point: Point): string {
  return point.join(',');
}

/** The point at these fractions of the dimensions, each in [0, 1). */
export function pointAt(space: Space, fractions: readonly number[]): Point {
  return space.map(({ values }, i) =>
    Math.min(values.length - 1, Math.floor((fractions[i] ?? 0) * values.length)),
  );
}

/** The point of an index in the grid; the last dimension varies fastest. */
export function gridPoint(space: Space, number: number): Point {
  let rest = number;
  const point = space.map(() => 0);
  for (let i = space.length - 1; i >= 0; i--) {
    const count = space[i]?.values.length ?? 1;
    point[i] = rest % count;
    rest = Math.floor(rest / count);
  }
  return point;
}

/** `fast=5 slow=20` */
export function assignmentText(values: Assignment): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
