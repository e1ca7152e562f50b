/** `--handler-limit`: max time of a call of a strategy. */
import { closeSync } from 'node:fs';
import { parseDuration } from '../num/time-text.ts';
import { watchHandlers } from '../strategy-loader/handler-watch.ts';
import { EXIT, InputError, letSignalsEnd, printError } from './cli-support.ts';

export interface HandlerLimitArguments {
  readonly 'handler-limit': string;
}

export const HANDLER_LIMIT_OPTION = {
  'handler-limit': {
    type: 'string',
    default: '30s',
    describe: 'end the run if a handler does not return within this time; none: no limit',
  },
} as const;

/** null: none. Throws `InputError`. */
export function handlerLimitMs(text: string): number | null {
  if (text === 'none' || text === '0') return null;
  const us = parseDuration(text);
  if (us === null || us < 100_000) {
    throw new InputError(`--handler-limit '${text}': must be a duration from 100ms, or none`);
  }
  return us / 1000;
}

/** Ends the process with the line of the strategy when a handler exceeds the limit. */
export function limitHandlers({ 'handler-limit': text }: HandlerLimitArguments): void {
  watchHandlers(handlerLimitMs(text), {
    exitCode: EXIT.failed,
    overdue: (message) => {
      printError(`orrery: ${message}`);
      // The platform reports there that it waits for the thread's session.
      closeSync(2);
      process.exit(EXIT.failed);
    },
    blocked: letSignalsEnd,
  });
}
