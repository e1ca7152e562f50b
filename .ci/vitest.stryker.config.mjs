/**
 * Tests that Stryker runs on the mutants of a module (ORRERY_ROOM): fast ones without random runs.
 */
import { defineConfig } from 'vitest/config';

const TESTS = {
  num: [
    'test/num/*.test.ts',
    'test/property/money-paths.test.ts',
    'test/scenario/time-text.test.ts',
  ],
  risk: [
    'test/property/money-paths.test.ts',
    'test/engine/accounts/fees.test.ts',
    'test/engine/margin/isolated-fills.test.ts',
    'test/engine/margin/isolated-margin.test.ts',
    'test/engine/margin/requirement.test.ts',
    'test/engine/pricing/price-band.test.ts',
    'test/engine/liquidation/published.test.ts',
  ],
};

export default defineConfig({
  test: {
    include: TESTS[process.env['ORRERY_ROOM'] ?? 'num'],
    // Another seed would change the names of tests, and with them the coverage per test.
    setupFiles: ['test/setup/seed.ts'],
    testTimeout: 60_000,
  },
});
