/** Texts of a recorded hash that a replay does not reach. */
import type { Mismatch } from '../journal/replay/replay.ts';

export function mismatchText(mismatch: Mismatch): string {
  const { what, seq, expected, actual } = mismatch;
  const hash = `${what === 'chainHash' ? 'chain' : 'state'} hash after command ${String(seq)}`;
  const note = rulesNote(mismatch);
  const text = `the ${hash} was ${expected}, but replays to ${actual}`;
  return note === null ? text : `${text}; ${note}`;
}

/** Why hashes of a journal of earlier rules may differ; null for present rules. */
export function rulesNote({ release }: Pick<Mismatch, 'release'>): string | null {
  if (release === null) return null;
  return `the journal begins by the rules of orrery ${release}, some of which have changed; replay it with that release`;
}
