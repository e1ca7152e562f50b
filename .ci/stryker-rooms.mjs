/**
 * The rooms of `npm run stryker`: their files, and the tests of vitest for those mutants that no
 * test of test/mutants/stryker/quick-tests.ts notices. `runs`: runs of the fuzzer by profile, where
 * two of each reach too little. `measuredOnly`: published, without a required score.
 */
import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Paths of a pattern: a folder and `*` with the end of a name, or one path. */
export function filesOf(pattern) {
  const folder = dirname(pattern);
  const [start, end] = basename(pattern).split('*');
  if (end === undefined) return [pattern];
  return readdirSync(folder)
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .map((name) => `${folder}/${name}`);
}

export const ROOMS = {
  num: {
    files: ['src/num/*.ts'],
    tests: [
      'test/num/*.test.ts',
      'test/property/money-paths.test.ts',
      'test/scenario/time-text.test.ts',
    ],
  },
  risk: {
    files: [
      'src/engine/accounts/fees.ts',
      'src/engine/margin/isolated-margin.ts',
      'src/engine/margin/requirement.ts',
      'src/engine/pricing/price-band.ts',
    ],
    tests: [
      'test/property/money-paths.test.ts',
      'test/engine/accounts/fees.test.ts',
      'test/engine/margin/isolated-fills.test.ts',
      'test/engine/margin/isolated-margin.test.ts',
      'test/engine/margin/requirement.test.ts',
      'test/engine/pricing/price-band.test.ts',
      'test/engine/liquidation/published.test.ts',
    ],
  },
  funding: {
    files: ['src/engine/funding/funding.ts', 'src/engine/accounts/order-fees.ts'],
    tests: ['test/engine/funding/*.test.ts'],
  },
  vault: {
    files: ['src/engine/vault/*.ts'],
    tests: ['test/engine/vault/*.test.ts'],
  },
  liquidation: {
    files: ['src/engine/liquidation/*.ts'],
    tests: [
      'test/engine/liquidation/*.test.ts',
      'test/attacks/insurance.test.ts',
      'test/attacks/unbacked-debt.test.ts',
      'test/attacks/vault-takeover.test.ts',
      'test/attacks/immunity.test.ts',
      'test/attacks/frozen-gain.test.ts',
      'test/attacks/frozen-exits.test.ts',
      'test/attacks/hostile-debt.test.ts',
      'test/attacks/hostile-funding.test.ts',
      'test/attacks/hostile-frozen-close.test.ts',
      'test/engine/invariants/solvency-invariants.test.ts',
      'test/engine/tape/bars.test.ts',
    ],
    runs: { solvency: 8, crisis: 8, bars: 5, stress: 5, swarm: 5, money: 3 },
  },
  orders: {
    files: ['src/engine/orders/*.ts'],
    tests: [
      'test/engine/refusals.test.ts',
      'test/engine/orders/*.test.ts',
      'test/tables/groups.test.ts',
      'test/tables/refusal-order.test.ts',
      'test/tables/rejections.test.ts',
      'test/gateway/groups.test.ts',
    ],
  },
  gateway: {
    files: ['src/gateway/*.ts'],
    tests: [
      'test/gateway/*.test.ts',
      'test/tables/rejections.test.ts',
      'test/engine/funding/rates.test.ts',
      'test/engine/liquidation/published.test.ts',
    ],
    measuredOnly: true,
  },
};
