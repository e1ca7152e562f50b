import type { Step } from './scenario.ts';

/** Title of a step: its note, or what it does. */
export function titleOf({ note, action }: Step): string {
  if (note !== null) return note;
  if (action === null) return 'time passes';
  if (action.kind !== 'call') return action.kind;
  return action.as === null ? action.endpoint : `${action.as}: ${action.endpoint}`;
}
