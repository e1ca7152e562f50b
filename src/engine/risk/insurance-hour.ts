/**
 * The UTC hour of the insurance limit. It is rolled before any change of insurance cash, so that what counts as held
 * is the cash at the hour's start.
 */
import { floorTo } from '../../num/arithmetic.ts';
import { quanta, timeUs } from '../../num/units.ts';
import type { State } from '../state.ts';

const HOUR_US = 3_600_000_000;

export function rollInsuranceHour(state: State): void {
  if (state.nowUs < state.insuranceHourUs + HOUR_US) return;
  state.insuranceHourUs = timeUs(floorTo(state.nowUs, HOUR_US));
  state.insuranceBase = state.insurance.cash;
  state.insurancePaid = quanta(0n);
  for (const market of state.markets) market.insurancePaid = quanta(0n);
}
