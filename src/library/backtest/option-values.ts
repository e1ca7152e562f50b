/** Checks of single values of options. */
import { parseDuration } from '../../num/time-text.ts';
import { StrategyError } from '../../strategy/definition.ts';

export function mustBeOneOf(
  name: string,
  value: string | undefined,
  allowed: readonly string[],
): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new StrategyError(`${name} '${value}': must be one of ${allowed.join(', ')}`);
}

export function lengthOf(name: string, value: string | number, minUs: number): number {
  const us = typeof value === 'number' ? wholeUs(value) : parseDuration(value);
  if (us !== null && us >= minUs) return us;
  throw new StrategyError(
    `${name} '${String(value)}': must be a length of time such as 1h30m, ` +
      `or whole microseconds, at least ${String(minUs)}`,
  );
}

export function wholeUs(value: number): number | null {
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}
