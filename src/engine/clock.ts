/**
 * The current time, of the exchange or of a request. Hot paths take its owner as argument instead
 * of the time: beyond 2^31 V8 boxes a number at each call that is not inlined.
 */
import type { Seq, TimeUs } from '../num/units.ts';

export interface Clock {
  readonly nowUs: TimeUs;
}

/** With the command. */
export interface CommandClock extends Clock {
  readonly seq: Seq;
}
