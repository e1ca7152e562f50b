/**
 * Time of `performance.now()` before which all that was committed is in the state of a reply, whose
 * request was sent at `sentMs`. `lag`: the header of a replica. Any other server shows its only
 * state. The reply is made after `sentMs`, and the clocks of two computers are not compared.
 */
export function shownSinceMs(sentMs: number, lag: string | string[] | null | undefined): number {
  return typeof lag === 'string' ? sentMs - Number(lag) : sentMs;
}
