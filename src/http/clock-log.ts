/** Log lines of a system clock that is behind the exchange: it was ahead, and came back. */
import type { Host } from './exchange-host.ts';
import type { OperatorLog } from './operator-log.ts';

const CHECK_EVERY_MS = 1000;
/** Corrections of a time server are smaller. */
const MIN_BEHIND_MS = 1000;

/** Checks now and every second; returns a function that ends it. */
export function logClock(
  host: Pick<Host, 'clockBehindMs' | 'nowUs'>,
  log: OperatorLog,
): () => void {
  let isBehind = false;
  const check = (): void => {
    const behindMs = host.clockBehindMs;
    if (!isBehind && behindMs >= MIN_BEHIND_MS) {
      isBehind = true;
      const until = new Date(host.nowUs() / 1000).toISOString();
      log(
        'clock_behind',
        `the system clock is ${(behindMs / 1000).toFixed(1)} s behind the time of the exchange, ` +
          `which stands still until ${until}`,
        { behindMs, until },
      );
    } else if (isBehind && behindMs === 0) {
      isBehind = false;
      log('clock_caught_up', 'the system clock has reached the time of the exchange');
    }
  };
  check();
  const timer = setInterval(check, CHECK_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
  };
}
