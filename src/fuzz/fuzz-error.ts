/** Arguments of `orrery/fuzz` of a wrong kind, found before anything runs. */
import { UserError } from '../base/user-error.ts';

/** `field`: the argument. */
export class FuzzError extends UserError {
  override readonly name = 'FuzzError';
  readonly code = 'fuzz';
}

export function mustBeOneOf(field: string, value: unknown, known: readonly string[]): void {
  if (known.some((name) => name === value)) return;
  const limit = known.join(', ');
  throw new FuzzError(`${field}: must be one of ${limit}, not ${shown(value)}`, { field, limit });
}

export function mustBeCount(field: string, value: unknown): void {
  if (Number.isSafeInteger(value) && Number(value) >= 1) return;
  const limit = 'a whole number from 1';
  throw new FuzzError(`${field}: must be ${limit}, not ${shown(value)}`, { field, limit });
}

/** Commands between two checks; `Infinity`: only at the end. */
export function mustBeInterval(field: string, value: unknown): void {
  if (value !== Infinity) mustBeCount(field, value);
}

export function mustBeFunction(field: string, value: unknown): void {
  if (typeof value === 'function') return;
  throw new FuzzError(`${field}: must be a function, not ${shown(value)}`, { field });
}

/** An object with these properties. */
export function mustHave(field: string, value: unknown, properties: readonly string[]): void {
  const isObject = typeof value === 'object' && value !== null;
  if (isObject && properties.every((name) => Reflect.get(value, name) !== undefined)) return;
  const wanted = `an object${properties.length === 0 ? '' : ` with ${properties.join(' and ')}`}`;
  throw new FuzzError(`${field}: must be ${wanted}, not ${shown(value)}`, { field });
}

/** Options may be omitted. */
export function mustBeOptional(
  field: string,
  value: unknown,
  check: (field: string, value: unknown) => void,
): void {
  if (value !== undefined) check(field, value);
}

/** An object that is no list. */
export function mustBeObject(field: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new FuzzError(`${field}: must be an object, not ${shown(value)}`, { field });
}

export function mustBeText(field: string, value: unknown): void {
  if (typeof value === 'string') return;
  throw new FuzzError(`${field}: must be text, not ${shown(value)}`, { field });
}

/** A list of objects with these properties. */
export function mustBeList(field: string, value: unknown, properties: readonly string[]): void {
  if (!Array.isArray(value)) {
    throw new FuzzError(`${field}: must be a list, not ${shown(value)}`, { field });
  }
  for (const [i, one] of value.entries()) mustHave(`${field}[${String(i)}]`, one, properties);
}

export function mustBeTexts(field: string, value: unknown): void {
  if (!Array.isArray(value)) {
    throw new FuzzError(`${field}: must be a list, not ${shown(value)}`, { field });
  }
  for (const [i, one] of value.entries()) mustBeText(`${field}[${String(i)}]`, one);
}

/** Numbers by name. */
export function mustBeCounts(field: string, value: unknown): void {
  mustBeObject(field, value);
  for (const [name, count] of Object.entries(value as object)) {
    if (typeof count === 'number') continue;
    throw new FuzzError(`${field}: ${name} must be a number, not ${shown(count)}`, { field });
  }
}

export function mustBeConfig(field: string, value: unknown): void {
  mustHave(field, value, ['genesisTimeUs', 'chainId']);
}

export function mustBeMarkets(field: string, value: unknown): void {
  mustBeList(field, value, ['symbol', 'tickSize', 'lotSize']);
}

export function mustBeCommands(field: string, value: unknown): void {
  mustBeList(field, value, ['kind', 'timeUs']);
}

/** A profile as `drawProfile` draws it. */
export function mustBeProfile(field: string, value: unknown): void {
  mustHave(field, value, ['name', 'seed', 'commands', 'config', 'markets']);
  const { seed, commands, markets, ...others } = value as Readonly<Record<string, unknown>>;
  mustBeText(`${field}.seed`, seed);
  mustBeCount(`${field}.commands`, commands);
  mustBeList(`${field}.markets`, markets, []);
  for (const name of ['config', 'mix', 'prices', 'time', 'crisis']) {
    mustBeObject(`${field}.${name}`, others[name]);
  }
  for (const name of ['openingTicks', 'deposits']) {
    if (Array.isArray(others[name])) continue;
    throw new FuzzError(`${field}.${name}: must be a list, not ${shown(others[name])}`, { field });
  }
}

export function mustBeScript(field: string, value: unknown): void {
  mustHave(field, value, ['config', 'names', 'steps']);
  const { config, names, steps } = value as Readonly<Record<string, unknown>>;
  mustBeConfig(`${field}.config`, config);
  mustHave(`${field}.names`, names, ['subaccounts', 'accounts', 'markets', 'orders']);
  mustBeList(`${field}.steps`, steps, ['command']);
}

export function mustBeViolation(field: string, value: unknown): void {
  mustHave(field, value, ['invariant', 'rule', 'says', 'detail']);
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return `{ ${Object.keys(value).join(', ')} }`;
  if (typeof value === 'function') return 'a function';
  return String(value);
}
