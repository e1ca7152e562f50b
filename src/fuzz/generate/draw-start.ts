/** The time at which a run begins: minutes, hours and days end in it, with all their timers. */
import { Dice } from '../dice.ts';
import type { FuzzProfile } from '../profile.ts';

/** 2024-01-01, the default start of an exchange. */
const DEFAULT_MS = 1_704_067_200_000;
const DAY_MS = 86_400_000;

/** Most runs cross midnight. Drawn with dice of its own. */
export function drawStart(profile: FuzzProfile): FuzzProfile {
  const dice = Dice.of(profile.seed, `start ${profile.name}`);
  if (dice.chance(200)) return { ...profile, startMs: DEFAULT_MS };
  const { stillPermille, pauseUs, jumpPermille, jumpUs } = profile.time;
  const stepUs = (pauseUs * (1000 - jumpPermille) + jumpUs * jumpPermille) / 2000;
  const runMs = (profile.commands * stepUs * (1000 - stillPermille)) / 1_000_000;
  const before = 1 + dice.below(Math.max(2, Math.min(DAY_MS, Math.floor(runMs))));
  return { ...profile, startMs: DEFAULT_MS + DAY_MS - before };
}
