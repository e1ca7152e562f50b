/**
 * Search space: named dimensions, each a finite list of values as text, ordered if they are
 * numbers. A point is one index per dimension. Finite lists keep values exact and searches
 * repeatable.
 */
import { UserError } from '../../base/user-error.ts';
import { formatDecimal, parseDecimal, powerOfTen } from '../../num/decimal.ts';
import { pow } from '../../num/special/pow.ts';

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
const DEFAULT_STEPS = 100;

/** How a range without a step is divided. */
export interface Division {
  /** Decimal text; steps are a multiple of it. Any number is a value unless given. */
  readonly leastStep?: string;
  /** `log`: neighbours have one ratio, rounded to six digits. Default `linear`. */
  readonly scale?: 'linear' | 'log';
}

/**
 * Parses `name=low:high:step`, `name=low:high` or `name=a,b,c`. A range without a step has a
 * hundred steps, or all values of the parameter if there are fewer.
 *
 * @param divisionOf of a parameter by its name
 * @throws SearchError naming the fault
 */
export function parseDimension(
  text: string,
  divisionOf: (name: string) => Division = () => ({}),
): Dimension {
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
  const values = rangeValues(parts, divisionOf(name), bad);
  return { name, values: values.map((value) => formatDecimal(value, DECIMALS)), ordered: true };
}

/** In units of 1e-12. */
function rangeValues(
  parts: readonly string[],
  { leastStep = '', scale }: Division,
  bad: (why: string) => SearchError,
): bigint[] {
  const [low, high, step] = parts.map((part) => decimal(part));
  if (low === null || low === undefined || high === null || high === undefined || step === null) {
    throw bad('low, high and step must be decimal numbers of at most 12 decimals');
  }
  if (high < low) throw bad('high is below low');
  if (step === undefined && scale === 'log') {
    if (low <= 0n) throw bad('the scale of the parameter is logarithmic, so low must be above 0');
    return logValues(low, high);
  }
  const width = high - low;
  const least = decimal(leastStep) ?? 1n;
  const by = step ?? (width / (BigInt(DEFAULT_STEPS) * least) || 1n) * least;
  if (by <= 0n) throw bad('step must be above 0');
  if (width / by >= BigInt(MAX_VALUES)) {
    throw bad(`more than ${MAX_VALUES} values; take a larger step`);
  }
  const values: bigint[] = [];
  for (let value = low; value <= high; value += by) values.push(value);
  return values;
}

/** Values of one ratio from low to high, both included. */
function logValues(low: bigint, high: bigint): bigint[] {
  const values = [low];
  const ratio = Number(high) / Number(low);
  for (let i = 1; i < DEFAULT_STEPS; i++) {
    const value = sixDigits(Number(low) * pow(ratio, i / DEFAULT_STEPS));
    if (value > (values.at(-1) ?? low) && value < high) values.push(value);
  }
  return high > low ? [...values, high] : values;
}

/** A whole number with at most six digits that are not 0. */
function sixDigits(value: number): bigint {
  const [digits = '', exponent] = value.toExponential(5).split('e');
  const places = Number(exponent) - 5;
  const whole = BigInt(digits.replace('.', ''));
  return places < 0 ? whole / powerOfTen(-places) : whole * powerOfTen(places);
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
