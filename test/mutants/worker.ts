/** Worker bundled with a mutant: hunts, and reports the result. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { HUNTERS, hunt, type Hunter } from './hunters.ts';

// Each hunter reports the end of a run, so that a slow computer differs from an endless mutant.

const { budget, profile } = workerData as {
  readonly budget: Readonly<Record<Hunter, number>>;
  readonly profile: ProfileName;
};
let killed = false;
for (const hunter of HUNTERS) {
  if (budget[hunter] === 0) continue;
  // The last two compare the exchange with itself; they run only for survivors of the others.
  if (killed && (hunter === 'restore' || hunter === 'cut')) continue;
  const kill = hunt(hunter, budget[hunter], profile, () => {
    parentPort?.postMessage('alive');
  });
  if (kill !== null) killed = true;
  parentPort?.postMessage({ hunter, kill });
}
