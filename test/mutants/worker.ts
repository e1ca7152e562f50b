/** The program that is bundled with a mutant: hunts, and says what it found. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { HUNTERS, hunt, type Hunter } from './hunters.ts';

// Each run of a hunter says that it is over, so that a slow computer is told from a mutant that never ends.

const { budget, profile } = workerData as {
  readonly budget: Readonly<Record<Hunter, number>>;
  readonly profile: ProfileName;
};
let killed = false;
for (const hunter of HUNTERS) {
  if (budget[hunter] === 0) continue;
  // The last two hold the exchange against itself: for what the others let live.
  if (killed && (hunter === 'restore' || hunter === 'cut')) continue;
  const kill = hunt(hunter, budget[hunter], profile, () => {
    parentPort?.postMessage('alive');
  });
  if (kill !== null) killed = true;
  parentPort?.postMessage({ hunter, kill });
}
