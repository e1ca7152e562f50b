/** Tests for Stryker's mutants of a room (ORRERY_ROOM): the fast ones, without random runs. */
import { defineConfig } from 'vitest/config';

const TESTS = {
  num: [
    'test/num/*.test.ts',
    'test/property/money-paths.test.ts',
    'test/scenario/time-text.test.ts',
  ],
  risk: [
    'test/property/money-paths.test.ts',
    'test/engine/margin/isolated-margin.test.ts',
    'test/engine/liquidation/published.test.ts',
  ],
};

export default defineConfig({
  test: {
    include: TESTS[process.env['ORRERY_ROOM'] ?? 'num'],
    // A random seed would change test names, and with them the coverage map.
    setupFiles: ['test/setup/seed.ts'],
    testTimeout: 60_000,
  },
});
