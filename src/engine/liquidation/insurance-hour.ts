/** The UTC hour of the insurance limit; rolls before every change of insurance cash. */
import { quanta, timeUs } from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';

export const HOUR_US = 3_600_000_000;

export function rollInsuranceHour(state: ExchangeState): void {
  if (!isPastInsuranceHour(state)) return;
  state.insuranceHourUs = timeUs(state.nowUs - (state.nowUs % HOUR_US));
  state.insuranceBase = state.insurance.cash;
  state.insurancePaid = quanta(0n);
  for (const market of state.markets) market.insurancePaid = quanta(0n);
}

/** Whether the limit's hour is over; insurance cash has not changed since then. */
export function isPastInsuranceHour(state: ExchangeState): boolean {
  return state.nowUs - state.insuranceHourUs >= HOUR_US;
}
