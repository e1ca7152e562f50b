/** Assertions for programmer errors. Static messages: a template literal always costs time. */

/** A broken invariant of the program. The exchange fills in `context` with the sequence number. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** The `default:` of every switch over a union. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable value: ${String(value)}`);
}

/** Unwraps a value that cannot be undefined by construction. */
export function must<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new InvariantError(message);
  return value;
}
