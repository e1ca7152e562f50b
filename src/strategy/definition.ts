/**
 * Default export of a strategy file: name, typed parameters with ranges, subscriptions and a
 * factory. Searches read the ranges; command lines set the values.
 */
import { UserError } from '../base/user-error.ts';
import { parseDecimal, stepsExact } from '../num/decimal.ts';
import type { Strategy } from './strategy.ts';

const MAX_KEPT_BARS = 100_000;

interface SpecBase {
  readonly describe?: string;
}

export interface IntegerSpec extends SpecBase {
  readonly kind: 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

export interface NumberSpec extends SpecBase {
  readonly kind: 'number';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** Scale on which a search divides the range; `log` needs a range above 0. Default `linear`. */
  readonly scale?: 'linear' | 'log';
}

/** Exact decimal text, such as an order's size. */
export interface DecimalSpec extends SpecBase {
  readonly kind: 'decimal';
  readonly default: string;
  readonly min: string;
  readonly max: string;
  /** Values are whole steps above 0. */
  readonly step: string;
}

export interface ChoiceSpec<T extends string = string> extends SpecBase {
  readonly kind: 'choice';
  readonly default: T;
  readonly of: readonly T[];
}

export interface FlagSpec extends SpecBase {
  readonly kind: 'flag';
  readonly default: boolean;
}

export type ParameterSpec = IntegerSpec | NumberSpec | DecimalSpec | ChoiceSpec | FlagSpec;
export type ParameterSpecs = Readonly<Record<string, ParameterSpec>>;
export type ParameterValue = number | string | boolean;
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

export type ParametersOf<P extends ParameterSpecs> = string extends keyof P
  ? ParameterValues
  : {
      readonly [Name in keyof P]: P[Name] extends { kind: 'integer' | 'number' }
        ? number
        : P[Name] extends { kind: 'flag' }
          ? boolean
          : P[Name] extends ChoiceSpec<infer T>
            ? T
            : string;
    };

/** A whole number in [min, max]. */
export function integer(
  value: number,
  range: { readonly min: number; readonly max: number; readonly describe?: string },
): IntegerSpec {
  return { kind: 'integer', default: value, ...range };
}

/** A number in [min, max]. */
export function number(
  value: number,
  range: {
    readonly min: number;
    readonly max: number;
    readonly scale?: 'linear' | 'log';
    readonly describe?: string;
  },
): NumberSpec {
  return { kind: 'number', default: value, ...range };
}

/** Exact decimal text in [min, max], in whole steps. */
export function decimal(
  value: string,
  range: {
    readonly min: string;
    readonly max: string;
    readonly step: string;
    readonly describe?: string;
  },
): DecimalSpec {
  return { kind: 'decimal', default: value, ...range };
}

/** One of several words. */
export function choice<const T extends string>(
  value: NoInfer<T>,
  of: readonly T[],
  describe?: string,
): ChoiceSpec<T> {
  return { kind: 'choice', default: value, of, ...(describe === undefined ? {} : { describe }) };
}

export function flag(value: boolean, describe?: string): FlagSpec {
  return { kind: 'flag', default: value, ...(describe === undefined ? {} : { describe }) };
}

export interface Keeps {
  /** Bars of each market and length for `history`, 1 to 100,000; default 500 with `onBar`. */
  readonly bars?: number;
  /** Books for `book`; default with `onBook`. */
  readonly book?: boolean;
  /** Account and marks for `equity`. */
  readonly equity?: boolean;
}

export interface StrategyDefinition<P extends ParameterSpecs = ParameterSpecs> {
  readonly name: string;
  readonly describe?: string;
  readonly parameters: P;
  /** Lengths of the bars for `onBar`, µs; default: one minute. */
  barsUs?(parameters: ParametersOf<P>): readonly number[];
  /** Levels per side in `onBook`, 1 to 1000; default 1. */
  readonly bookDepth?: number;
  /** Updates that the context keeps without a handler for them. */
  readonly keeps?: Keeps;
  /** Time before trading may start, µs; default 0. */
  warmUpUs?(parameters: ParametersOf<P>): number;
  create(parameters: ParametersOf<P>): Strategy;
}

/** A definition with any parameters: for lists of strategies of several types. */
export interface AnyStrategyDefinition extends Omit<
  StrategyDefinition,
  'barsUs' | 'warmUpUs' | 'create'
> {
  barsUs?(parameters: never): readonly number[];
  warmUpUs?(parameters: never): number;
  create(parameters: never): Strategy;
}

/** Infers the types of a definition; used for a strategy file's default export. */
export function defineStrategy<const P extends ParameterSpecs>(
  definition: StrategyDefinition<P>,
): StrategyDefinition<P> {
  return definition;
}

/** A fault of a definition or a parameter, with a message for its author. */
export class StrategyError extends UserError {
  override readonly name = 'StrategyError';
  readonly code = 'strategy';
}

/**
 * Values of all parameters: given as text (`--param fast=12`) or as values; others have their
 * defaults. Throws `StrategyError` that names the parameter and its limits.
 */
export function parseParameters<P extends ParameterSpecs>(
  specs: P,
  supplied: Readonly<Record<string, ParameterValue>>,
): ParametersOf<P> {
  const values: Record<string, ParameterValue> = {};
  for (const name of Object.keys(supplied)) {
    if (!Object.hasOwn(specs, name)) {
      const known = Object.keys(specs);
      throw new StrategyError(
        `unknown parameter '${name}'; the strategy has ${known.length === 0 ? 'none' : known.join(', ')}`,
      );
    }
  }
  for (const [name, spec] of Object.entries(specs)) {
    values[name] = parseOne(name, spec, supplied[name] ?? spec.default);
  }
  // Each value has the type of its spec.
  return values as ParametersOf<P>;
}

function parseOne(name: string, spec: ParameterSpec, supplied: ParameterValue): ParameterValue {
  const fail = (must: string): never => {
    throw new StrategyError(`parameter '${name}' is '${String(supplied)}': must be ${must}`);
  };
  switch (spec.kind) {
    case 'integer':
    case 'number': {
      const whole = spec.kind === 'integer';
      const value = typeof supplied === 'string' && supplied.trim() === '' ? NaN : Number(supplied);
      const range = `${whole ? 'a whole number' : 'a number'} from ${String(spec.min)} to ${String(spec.max)}`;
      if (typeof supplied === 'boolean' || !Number.isFinite(value)) return fail(range);
      if (whole && !Number.isInteger(value)) return fail(range);
      return value >= spec.min && value <= spec.max ? value : fail(range);
    }
    case 'decimal': {
      const text = String(supplied);
      const range = `decimal text from ${spec.min} to ${spec.max} in steps of ${spec.step}`;
      const [value, minimum, maximum, step] = [text, spec.min, spec.max, spec.step].map(
        parseDecimal,
      );
      if (value == null || minimum == null || maximum == null || step == null) return fail(range);
      const steps = stepsExact(value, step);
      if (steps === null) return fail(range);
      const within =
        steps * step.digits * 10n ** BigInt(minimum.scale) >=
          minimum.digits * 10n ** BigInt(step.scale) &&
        steps * step.digits * 10n ** BigInt(maximum.scale) <=
          maximum.digits * 10n ** BigInt(step.scale);
      return within ? text : fail(range);
    }
    case 'choice':
      return spec.of.includes(String(supplied)) ? supplied : fail(`one of ${spec.of.join(', ')}`);
    case 'flag':
      if (supplied === true || supplied === 'true') return true;
      return supplied === false || supplied === 'false' ? false : fail('true or false');
    default:
      throw new StrategyError(`parameter '${name}': unknown kind`);
  }
}

/** Validates the export of a strategy file. Throws `StrategyError` that names the fault. */
export function mustDefinition(exported: unknown, file: string): StrategyDefinition {
  const fail = (problem: string): never => {
    throw new StrategyError(`${file}: ${problem}`);
  };
  if (typeof exported !== 'object' || exported === null) {
    return fail('must export a strategy by default: `export default defineStrategy({ … })`');
  }
  const definition = exported as Partial<StrategyDefinition>;
  if (typeof definition.name !== 'string' || definition.name === '') {
    return fail("the strategy's `name` must be text");
  }
  if (typeof definition.create !== 'function') return fail('the strategy has no `create` function');
  const { parameters } = definition as { readonly parameters?: unknown };
  if (typeof parameters !== 'object' || parameters === null) {
    return fail('the strategy has no `parameters`; give {} for none');
  }
  const { bookDepth } = definition;
  if (
    bookDepth !== undefined &&
    (!Number.isInteger(bookDepth) || bookDepth < 1 || bookDepth > 1000)
  ) {
    return fail('`bookDepth` must be a whole number from 1 to 1000');
  }
  checkKeeps(definition.keeps, fail);
  return definition as StrategyDefinition;
}

/** What `create` of a program in JavaScript returned; throws `StrategyError` for no handlers. */
export function mustHandlers(created: Strategy): Strategy {
  const given: unknown = created;
  if (typeof given !== 'object' || given === null) {
    throw new StrategyError('`create` must return an object of handlers');
  }
  if ('then' in given) {
    throw new StrategyError('`create` must return its handlers at once, and not a promise of them');
  }
  return created;
}

function checkKeeps(keeps: unknown, fail: (problem: string) => never): void {
  if (keeps === undefined) return;
  if (typeof keeps !== 'object' || keeps === null) return fail('`keeps` must be an object');
  const given = keeps as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(given)) {
    if (!['bars', 'book', 'equity'].includes(name)) {
      return fail(`\`keeps.${name}\` is not known; there are bars, book and equity`);
    }
  }
  const { bars = 1, book = true, equity = true } = given;
  if (!Number.isInteger(bars) || Number(bars) < 1 || Number(bars) > MAX_KEPT_BARS) {
    return fail(`\`keeps.bars\` must be a whole number from 1 to ${String(MAX_KEPT_BARS)}`);
  }
  if (typeof book !== 'boolean' || typeof equity !== 'boolean') {
    return fail('`keeps.book` and `keeps.equity` must be true or false');
  }
}
