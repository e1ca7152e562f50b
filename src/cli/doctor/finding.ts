/** One result of `orrery doctor`. */

export type Verdict = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  readonly found: string;
  /** Action for the operator; null if none is needed. */
  readonly advice: string | null;
}

export const ok = (check: string, found: string): Finding => ({
  check,
  verdict: 'ok',
  found,
  advice: null,
});
export const warn = (check: string, found: string, advice: string): Finding => ({
  check,
  verdict: 'warn',
  found,
  advice,
});
export const fail = (check: string, found: string, advice: string): Finding => ({
  check,
  verdict: 'fail',
  found,
  advice,
});
