/** Refuses a warm-up that is as long as the data. */
import { formatDuration } from '../num/time-text.ts';
import { durationUs } from '../num/units.ts';
import { StrategyError } from '../strategy/definition.ts';

/** Times in µs: start and end of the data, and the end of the warm-up. */
export function mustLeaveTime(run: {
  readonly genesisUs: number;
  readonly tradeFromUs: number;
  readonly endUs: number;
}): void {
  const { genesisUs, tradeFromUs, endUs } = run;
  if (tradeFromUs < endUs) return;
  throw new StrategyError(
    `the warm-up of ${lengthText(tradeFromUs - genesisUs)} leaves no time to trade: ` +
      `the data have ${lengthText(endUs - genesisUs)}; use more data, or set a shorter warm-up`,
  );
}

/** Rounded down to whole seconds where it has any. */
export function lengthText(us: number): string {
  return formatDuration(durationUs(us >= 1e6 ? Math.floor(us / 1e6) * 1e6 : Math.floor(us)));
}
