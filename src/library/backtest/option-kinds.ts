/** Kinds of values of options: a program in JavaScript may pass another one than the types say. */
import { StrategyError } from '../../strategy/definition.ts';

const FITS = {
  any: () => true,
  text: (value) => typeof value === 'string',
  decimal: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  length: (value) => typeof value === 'string' || typeof value === 'number',
  texts: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  objects: (value) => Array.isArray(value) && value.every(isObject),
  object: (value) => isObject(value),
  function: (value) => typeof value === 'function',
  flagOrFunction: (value) => typeof value === 'boolean' || typeof value === 'function',
  flagOrText: (value) => typeof value === 'boolean' || typeof value === 'string',
  signal: (value) => value instanceof AbortSignal,
} as const satisfies Record<string, (value: unknown) => boolean>;

export type OptionKind = keyof typeof FITS;

const WORDS: Readonly<Record<OptionKind, string>> = {
  any: 'any value',
  text: 'text',
  decimal: "decimal text, such as '0.1'",
  number: 'a number',
  length: 'text or a number',
  texts: 'a list of text',
  objects: 'a list of objects',
  object: 'an object',
  function: 'a function',
  flagOrFunction: 'true, false or a function',
  flagOrText: 'true, false or text',
  signal: 'an AbortSignal',
};

/** Kinds by the names of options. */
export type OptionKinds<Names extends string = string> = Readonly<Record<Names, OptionKind>>;

/**
 * Throws `StrategyError` for an option that does not exist, or whose value is of another kind.
 * `place` precedes the names in messages.
 */
export function checkOptions(options: unknown, kinds: OptionKinds, place = ''): void {
  if (!isObject(options)) {
    throw new StrategyError(`${place === '' ? 'options' : place}: must be an object`);
  }
  const prefix = place === '' ? '' : `${place}.`;
  mustBeKnown(options, Object.keys(kinds), prefix);
  for (const [name, kind] of Object.entries(kinds)) {
    const value = options[name];
    if (value === undefined || FITS[kind](value)) continue;
    throw new StrategyError(`${prefix}${name} '${shown(value)}': must be ${WORDS[kind]}`);
  }
}

export function mustBeKnown(options: object, known: readonly string[], prefix = ''): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new StrategyError(
    `option '${prefix}${unknown}' is not known; options are ${known.join(', ')}`,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return isObject(value) ? 'an object' : String(value);
}
