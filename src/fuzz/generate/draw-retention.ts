/** Short histories for some of the runs: their beginning is dropped. */
import { Dice } from '../dice.ts';
import type { ProfileName } from '../profile.ts';

/** Drawn with dice of its own: the rest of a profile does not depend on it. */
export function drawRetention(seed: string, name: ProfileName): Record<string, unknown> {
  const dice = Dice.of(seed, `retention ${name}`);
  if (!dice.chance(400)) return {};
  return {
    retention: {
      tradesPerMarket: dice.pick([1, 2, 5, 50]),
      candleMinutesPerMarket: dice.pick([64_800, 1, 2, 5, 70, 1500]),
      endedOrdersPerAccount: 1000,
      transfersPerSubaccount: dice.pick([3, 10]),
      vaultSnapshotsPerHolder: dice.pick([2, 10]),
    },
  };
}
