/** Subscriptions of a live run beside a strategy that sends many requests. */
import { setTimeout as wait } from 'node:timers/promises';
import { FeedError } from '../http-client/feed.ts';

const TOO_MANY = 429;
/** The exchange's `Retry-After`. */
const PAUSE_MS = 1000;

/**
 * Subscribes, again each second while the account has sent too many requests. The orders of
 * `onStart` must not end their run.
 */
export async function listenPatiently(
  subscribe: () => Promise<void>,
  stop: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await subscribe();
      return;
    } catch (error) {
      if (!(error instanceof FeedError) || error.status !== TOO_MANY) throw error;
      if (stop.aborted) return;
      await wait(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}
