import { UserError } from '../base/user-error.ts';
import { dateText } from '../base/date-text.ts';

/** An error thrown by a strategy, with the strategy, the handler and the time. */
export interface Failure {
  readonly error: unknown;
  readonly handler: string;
  readonly timeUs: number;
}

export class StrategyFault extends UserError {
  override readonly name = 'StrategyFault';
  readonly code = 'strategy-failed';
  /** Id of the strategy in its run. */
  readonly strategy: string;
  readonly timeUs: number;
  /** Stack of the thrown error; empty if it has none. */
  readonly thrownStack: string;

  constructor(strategy: string, { error, handler, timeUs }: Failure) {
    const { message, stack } = messageOf(error);
    const at = dateText(timeUs);
    super(`strategy '${strategy}' failed in ${handler} at ${at}: ${message}`, { cause: error });
    this.strategy = strategy;
    this.timeUs = timeUs;
    this.thrownStack = stack;
  }
}

/**
 * A thrown value without objects of a strategy's realm, whose methods would run as part of this
 * program. Errors of this realm are unchanged.
 */
export function withoutGuest(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' || thrown === null) && typeof thrown !== 'function') {
    return thrown;
  }
  try {
    if (thrown instanceof Error) return thrown;
    const { name, message, stack } = thrown as Partial<
      Record<'name' | 'message' | 'stack', unknown>
    >;
    if (typeof message !== 'string') return 'an object';
    const copy = new Error(message);
    if (typeof name === 'string') copy.name = name;
    copy.stack = typeof stack === 'string' ? stack : '';
    return copy;
  } catch {
    return 'an object whose fields cannot be read';
  }
}

/** Message and stack of an Error of any realm. */
function messageOf(error: unknown): { readonly message: string; readonly stack: string } {
  if (typeof error !== 'object' || error === null || !('message' in error)) {
    return { message: `it threw ${String(error)}, which is not an Error`, stack: '' };
  }
  const { name = 'Error', message, stack } = error as Partial<Error>;
  const isPlain = name === 'Error' || name === 'MatcherError';
  return {
    message: isPlain ? String(message) : `${name}: ${String(message)}`,
    stack: typeof stack === 'string' ? stack : '',
  };
}
