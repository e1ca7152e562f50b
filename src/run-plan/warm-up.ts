/** The warm-up of a run: refused if it is as long as the data, else described. */
import type { Note } from '../backtest/note.ts';
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

/** Lengths of what the strategies ask for, and of the data that they receive before trading. */
export interface WarmUp {
  readonly wantedUs: number;
  readonly receivedUs: number;
}

export function warmUpNote({ wantedUs, receivedUs }: WarmUp): Note[] {
  const us = Math.min(wantedUs, receivedUs);
  if (us <= 0) return [];
  const text = `Strategies received data for ${lengthText(us)} before trading started.`;
  return [{ title: 'Warm-up', text }];
}

/** Part of a warm-up that may be missing without a warning: a first bar ends after its start. */
const SMALL = 0.05;

/** A warning if the data begin too late for the start of trading that the run names. */
export function shortWarmUp({ wantedUs, receivedUs }: WarmUp): Note[] {
  if (receivedUs >= wantedUs * (1 - SMALL)) return [];
  const received = receivedUs <= 0 ? 'no data' : `${lengthText(receivedUs)} of data`;
  const text =
    `The warm-up is ${lengthText(wantedUs)}, and strategies received ${received} before trading ` +
    'started, since the recording begins there. A later start has all of it.';
  return [{ title: 'Short warm-up', text, isWarning: true }];
}
