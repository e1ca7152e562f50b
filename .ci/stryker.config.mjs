/**
 * Stryker's mutants of one room (ORRERY_ROOM): every operator, constant and branch of its files is changed, one at a time, and a test must notice. The
 * engine's larger lies are told by `npm run mutants`. What was found stays in an incremental file, so a second run looks at what changed.
 */
const FILES = {
  num: ['src/num/*.ts'],
  risk: [
    'src/engine/accounts/fees.ts',
    'src/engine/margin/isolated-margin.ts',
    'src/engine/margin/requirement.ts',
    'src/engine/pricing/price-band.ts',
  ],
};

const room = process.env['ORRERY_ROOM'] ?? 'num';
const cache = (name) => `node_modules/.cache/orrery/stryker-${room}${name}.json`;

export default {
  testRunner: 'vitest',
  vitest: { configFile: '.ci/vitest.stryker.config.mjs' },
  plugins: ['@stryker-mutator/vitest-runner'],
  coverageAnalysis: 'perTest',
  mutate: FILES[room],
  // Texts of assertions say nothing of what is computed.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 5_000,
  incremental: true,
  incrementalFile: cache(''),
  tempDirName: '.stryker-tmp',
  ignorePatterns: ['/data', '/dist', '/docs', '/examples', '/reports', '/scenarios'],
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: cache('-report') },
  allowConsoleColors: false,
  disableTypeChecks: false,
};
