/**
 * Stryker's mutants of one module (ORRERY_ROOM): each operator, constant and branch is changed, one
 * at a time, and a test must fail. `npm run mutants` has the mutants of whole rules. Results are
 * kept in an incremental file, so a second run tests only changed code.
 */
import { ROOMS } from './stryker-rooms.mjs';

const room = process.env['ORRERY_ROOM'] ?? 'num';
/** Paths of the files to mutate; default: all of the room. */
const files = process.env['ORRERY_FILES'];
const cache = (name) => `node_modules/.cache/orrery/stryker-${room}${name}.json`;

export default {
  testRunner: 'orrery',
  testRunnerNodeArgs: ['--import', 'tsx'],
  plugins: [new URL('stryker-runner.mjs', import.meta.url).href],
  coverageAnalysis: 'perTest',
  mutate: files?.split(',') ?? ROOMS[room].files,
  // Texts of assertions do not affect results.
  mutator: { excludedMutations: ['StringLiteral'] },
  ignoreStatic: true,
  concurrency: Number(process.env['ORRERY_WORKERS'] ?? 2),
  // A limit of hits ends most endless mutants. This one is for the others: a survivor needs 5 s of
  // processor time, and a machine under load must not make a time-out of it.
  timeoutMS: 30_000,
  // On a machine under load.
  dryRunTimeoutMinutes: 30,
  incremental: true,
  incrementalFile: cache(''),
  tempDirName: '.stryker-tmp',
  ignorePatterns: ['/data', '/dist', '/docs', '/examples', '/reports'],
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: cache('-report') },
  allowConsoleColors: false,
  disableTypeChecks: false,
};
