/** Texts of hashes that a replay does not reach, or that a journal does not have. */
import type { Mismatch, Unproven } from '../journal/replay/replay.ts';

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

/** Why a start refuses commands of earlier rules that no hash follows. */
export function unprovenText({ fromSeq, toSeq, release }: Unproven): string {
  const range =
    fromSeq === toSeq
      ? `command ${String(fromSeq)} was`
      : `commands ${String(fromSeq)} to ${String(toSeq)} were`;
  return `${range} applied by the rules of orrery ${release}, some of which have changed, and no hash follows to compare`;
}

export const unprovenHint = ({ release }: Unproven): string =>
  `start and stop orrery ${release} on the folder: it writes a hash at its end`;
