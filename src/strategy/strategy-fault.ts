import { dateText } from '../base/date-text.ts';

/** What a strategy threw, with whose it was, which handler and when. */
export interface Failure {
  readonly error: unknown;
  readonly handler: string;
  readonly timeUs: number;
}

export class StrategyFault extends Error {
  override readonly name = 'StrategyFault';
  /** The strategy's id in its run. */
  readonly strategy: string;
  /** Of what it threw; empty without one. */
  readonly thrownStack: string;

  constructor(strategy: string, { error, handler, timeUs }: Failure) {
    const { message, stack } = wordsOf(error);
    const at = dateText(timeUs);
    super(`strategy '${strategy}' failed in ${handler} at ${at}: ${message}`, { cause: error });
    this.strategy = strategy;
    this.thrownStack = stack;
  }
}

/** Of an Error of any realm. */
function wordsOf(error: unknown): { readonly message: string; readonly stack: string } {
  if (typeof error !== 'object' || error === null || !('message' in error)) {
    return { message: `it threw ${String(error)}, which is no Error`, stack: '' };
  }
  const { name = 'Error', message, stack } = error as Partial<Error>;
  const isPlain = name === 'Error' || name === 'MatcherError';
  return {
    message: isPlain ? String(message) : `${name}: ${String(message)}`,
    stack: typeof stack === 'string' ? stack : '',
  };
}
