/** The error of a run whose span has no data. */
import { StrategyError } from '../strategy/definition.ts';
import type { TapeSource } from './tape-source.ts';

/** Nothing of the data is in the span of a run. */
export function spanError(
  data: string,
  { firstUs, lastUs }: Pick<TapeSource, 'firstUs' | 'lastUs'>,
): StrategyError {
  return new StrategyError(
    firstUs === lastUs
      ? `${data}: all data are of one time, ${timeText(firstUs)}; a run needs data of two times`
      : `${data}: no data between --from and --to; the data are from ${timeText(firstUs)} to ${timeText(lastUs)}`,
  );
}

function timeText(us: number): string {
  return `${new Date(us / 1000).toISOString().slice(0, 19)}Z`;
}
