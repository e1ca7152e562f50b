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
  const wanted = `an object with ${properties.join(' and ')}`;
  throw new FuzzError(`${field}: must be ${wanted}, not ${shown(value)}`, { field });
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'object' && value !== null) return `{ ${Object.keys(value).join(', ')} }`;
  return String(value);
}
