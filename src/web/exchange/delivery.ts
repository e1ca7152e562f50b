/**
 * Delivery of one request until its outcome is known. The same bytes are sent each time, so the
 * server carries a signed request out at most once.
 */
import { messageOf, NoAnswer, Refused } from './requests.ts';

export const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5000;

/** Failures of the server in a row (5xx other than 503), after which the outcome is read. */
const MAX_FAILURES = 5;

export type Progress = 'sending' | 'waiting' | 'login';

export interface Delivery<T> {
  /** Sends once. Throws `Refused` or `NoAnswer`. */
  readonly attempt: () => Promise<T>;
  /**
   * Outcome of a refusal after an uncertain attempt, which may have been carried out. Resolves to
   * null if it was not; throws `Refused` or `NoAnswer` if it cannot be read now.
   */
  readonly settle: (refusal: Refused) => Promise<T | null>;
  readonly report: (state: Progress, message?: string) => void;
  /** Resolves at the next login. */
  readonly login: () => Promise<void>;
  /** Ends the delivery between two attempts. */
  readonly withdrawn: AbortSignal;
  readonly pause?: (ms: number) => Promise<void>;
}

/** The person withdrew the request. */
export class Withdrawn extends Error {
  override readonly name = 'Withdrawn';
  /** Whether an attempt may have been carried out. */
  readonly isUncertain: boolean;

  constructor(isUncertain: boolean) {
    super(
      isUncertain
        ? 'withdrawn, but it may have been carried out before: see the account'
        : 'withdrawn before it was carried out',
    );
    this.isUncertain = isUncertain;
  }
}

/** The answer of a wallet, whose window may be lost. Throws `Withdrawn` if the wait ends first. */
export function answerOf<T>(wallet: Promise<T>, withdrawn: AbortSignal): Promise<T> {
  const end = new Promise<never>((_resolve, reject) => {
    withdrawn.addEventListener('abort', () => {
      reject(new Withdrawn(false));
    });
  });
  return Promise.race([wallet, end]);
}

/** The outcome cannot be read: the server fails, or refuses to show it to this login. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled';

  constructor(failure: string) {
    super(`${failure}; it may have been carried out: see the account`);
  }
}

const isFailure = (error: unknown): boolean =>
  error instanceof Refused && error.status >= 500 && error.status !== 503;

/** Whether the request may have been carried out in spite of this error. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof NoAnswer ||
  (error instanceof Refused &&
    (error.status === 408 || (error.status >= 500 && error.status !== 501)));

const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof Refused && error.status === status;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends until the outcome is known. Throws `Refused`, `Withdrawn` or `Unsettled`. */
export async function deliver<T>(delivery: Delivery<T>): Promise<T> {
  const { attempt, settle, report, login, withdrawn, pause = sleep } = delivery;
  let pauseMs = FIRST_PAUSE_MS;
  let mayBeDone = false;
  let failures = 0;
  /** A refusal after an uncertain attempt; its outcome is read until it is known. */
  let refusal: Refused | null = null;
  const ended = new Promise<void>((resolve) => {
    withdrawn.addEventListener('abort', () => {
      resolve();
    });
  });
  for (;;) {
    if (withdrawn.aborted) throw new Withdrawn(mayBeDone);
    try {
      report('sending');
      if (refusal === null) return await attempt();
      const found = await settle(refusal);
      if (found !== null) return found;
    } catch (error) {
      if (hasStatus(error, 401)) {
        report('login', 'the session has ended; it is sent after the next login');
        await Promise.race([login(), ended]);
        continue;
      }
      if (isUncertain(error) || hasStatus(error, 429)) {
        if (refusal === null && isUncertain(error)) mayBeDone = true;
        failures = isFailure(error) ? failures + 1 : 0;
        if (failures >= MAX_FAILURES && error instanceof Refused) {
          // It will fail again, and nothing else can be sent meanwhile.
          if (refusal !== null) throw new Unsettled(error.message);
          refusal = error;
          failures = 0;
          continue;
        }
        const isLost = error instanceof NoAnswer;
        report('waiting', isLost ? 'no connection; it is sent again' : messageOf(error));
        await Promise.race([pause(pauseMs), ended]);
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
        continue;
      }
      if (!mayBeDone || !(error instanceof Refused)) throw error;
      if (refusal !== null) throw new Unsettled(error.message);
      refusal = error;
      continue;
    }
    throw refusal;
  }
}
