/** `orrery/fast-check`: random requests to a host and its reference, shrunk by fast-check. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  addressOfName,
  DEFAULT_EXCHANGE_CONFIG,
  DEFAULT_MARKETS,
  keccak,
  parseMarketSpec,
} from 'orrery';
import { fuzzProfiles, twinCommands } from 'orrery/fast-check';
import { allInvariants, InProcessHost, runFuzz, TwinModel, type TwinHost } from 'orrery/fuzz';

fc.assert(
  fc.property(fuzzProfiles('matching'), (profile) => {
    assert.equal(runFuzz(profile, allInvariants()).failure, null);
  }),
  { numRuns: 2, seed: 1 },
);

const markets = DEFAULT_MARKETS.map((market) => {
  const spec = parseMarketSpec(market, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
});
const setUp = {
  config: DEFAULT_EXCHANGE_CONFIG,
  markets,
  users: ['alice', 'bob'].map(addressOfName),
  keccak,
};
await fc.assert(
  fc.asyncProperty(twinCommands({ maxCommands: 30 }), async (commands) => {
    const host: TwinHost = new InProcessHost(setUp.config, markets, keccak);
    await fc.asyncModelRun(() => ({ model: new TwinModel(setUp), real: host }), commands);
  }),
  { numRuns: 5, seed: 1 },
);
console.log('the host replies as the reference exchange does');
