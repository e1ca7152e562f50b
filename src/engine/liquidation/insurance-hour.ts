/** The UTC hour by which payments of insurance are limited. Rolled before every change of its cash, so the base is what it held then. */
import { quanta, timeUs } from '../../num/units.ts';
import type { State } from '../state.ts';

export const HOUR_US = 3_600_000_000;

export function rollInsuranceHour(state: State): void {
  if (!isPastInsuranceHour(state)) return;
  state.insuranceHourUs = timeUs(state.nowUs - (state.nowUs % HOUR_US));
  state.insuranceBase = state.insurance.cash;
  state.insurancePaid = quanta(0n);
  for (const market of state.markets) market.insurancePaid = quanta(0n);
}

/** Whether the hour of the limit is over: nothing has changed the cash of insurance since. */
export function isPastInsuranceHour(state: State): boolean {
  return state.nowUs - state.insuranceHourUs >= HOUR_US;
}
