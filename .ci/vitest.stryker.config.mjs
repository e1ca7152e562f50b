/**
 * Tests that Stryker runs on the mutants of a module (ORRERY_ROOM): fast ones without random runs.
 */
import { defineConfig } from 'vitest/config';
import { ROOMS } from './stryker-rooms.mjs';

export default defineConfig({
  test: {
    include: ROOMS[process.env['ORRERY_ROOM'] ?? 'num'].tests,
    // Another seed would change the names of tests, and with them the coverage per test.
    setupFiles: ['test/setup/seed.ts'],
    testTimeout: 60_000,
  },
});
