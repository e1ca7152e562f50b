import { UserError } from '../base/user-error.ts';
import { dateText } from '../base/date-text.ts';
import { partsOf } from './thrown-text.ts';

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
  } catch {
    // A proxy whose prototype cannot be read.
  }
  const { name, message, stack } = partsOf(thrown);
  const copy = new Error(message);
  if (name !== null) copy.name = name;
  copy.stack = stack;
  return copy;
}

/** Message and stack of what was thrown, in any realm. */
function messageOf(error: unknown): { readonly message: string; readonly stack: string } {
  const { name, message, stack } = partsOf(error);
  const isPlain = name === null || name === 'Error' || name === 'MatcherError';
  return { message: isPlain ? message : `${name}: ${message}`, stack };
}
