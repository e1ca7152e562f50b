import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: [
      {
        find: 'orrery/strategy',
        replacement: new URL('src/strategy/index.ts', import.meta.url).pathname,
      },
      { find: 'orrery/fuzz', replacement: new URL('src/fuzz/index.ts', import.meta.url).pathname },
      { find: /^orrery$/, replacement: new URL('src/index.ts', import.meta.url).pathname },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    setupFiles: ['test/setup/seed.ts', 'test/setup/poison.ts'],
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A machine that others use as well is given time.
    expect: { poll: { timeout: 15_000 } },
  },
});
