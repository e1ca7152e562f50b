import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const { exports: entries } = JSON.parse(
  readFileSync(new URL('package.json', import.meta.url), 'utf8'),
) as { exports: Record<string, string | { default: string }> };

const files = ['test', 'examples'].flatMap((folder) =>
  readdirSync(new URL(folder, import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file}`),
);
/** Tests in Chromium; a step of their own. */
const inBrowser = files.filter((file) => file.startsWith('test/browser/'));

/** Commands as users start them, many times; too long for `npm test`. */
const startProcesses = files.filter((file) => file.endsWith('-process.test.ts'));

/** All files of a process see a replaced module, so these files have processes of their own. */
const replaceModules = files.filter(
  (file) =>
    !startProcesses.includes(file) &&
    /\bvi\.(?:mock|doMock|resetModules)\(/.test(
      readFileSync(new URL(file, import.meta.url), 'utf8'),
    ),
);

/** Tests on a PostgreSQL server of their own; `npm run test:pg`. */
const onPostgres = files.filter((file) => file.endsWith('-pg.test.ts'));

/** Files of `deploy` with the programs that use them: nginx, promtool, systemd-analyze. */
const deploy = files.filter((file) => file.startsWith('test/deploy/'));

/** Searches and comparisons of whole runs, half a minute each; `npm run test:long`. */
const long = [
  'test/attacks/funding-sampling.test.ts',
  'test/economic/economic.test.ts',
  'test/fuzz/generator.test.ts',
  'test/fuzz/planted-records.test.ts',
  'test/fuzz/reproductions.test.ts',
  'test/fuzz/target.test.ts',
  'test/live/equality.test.ts',
  'test/run-plan/look-ahead.test.ts',
  'test/scenario/mutation.test.ts',
  'test/time-machine/served-folder.test.ts',
];
const unknown = long.filter((file) => !files.includes(file));
if (unknown.length > 0) throw new Error(`no such test: ${unknown.join(', ')}`);

/** The built site in Chromium; `npm run test:site`. */
const site = files.filter((file) => file.startsWith('test/site/'));

const apart = [site, replaceModules, startProcesses, inBrowser, onPostgres, deploy, long];
const isApart = (file: string): boolean => apart.some((list) => list.includes(file));

const project = (name: string, test: { include: string[]; isolate?: boolean }) => ({
  extends: true as const,
  test: { name, ...test },
});

export default defineConfig({
  resolve: {
    // Each entry of the package (`exports` of package.json) as its source.
    alias: Object.entries(entries).flatMap(([name, entry]) =>
      typeof entry === 'string'
        ? []
        : [
            {
              find: new RegExp(`^orrery${name.slice(1)}$`),
              replacement: new URL(
                entry.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'),
                import.meta.url,
              ).pathname,
            },
          ],
    ),
  },
  test: {
    globalSetup: ['.ci/assets.mjs'],
    setupFiles: ['test/setup/seed.ts', 'test/setup/poison.ts'],
    pool: 'forks',
    // Of commands that tests run; the user's own stays as it is.
    env: { ORRERY_STATE: new URL('dist/.state', import.meta.url).pathname },
    // The main process has little to do, and many tests wait for processes that they start.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A machine that others use as well is given time.
    expect: { poll: { timeout: 15_000 } },
    restoreMocks: true,
    projects: [
      // Modules are loaded once per process, which saves a fifth of the processor time.
      project('shared', { include: files.filter((file) => !isApart(file)), isolate: false }),
      project('isolated', { include: replaceModules }),
      // `npm run test:processes`; some replace modules.
      project('processes', { include: startProcesses }),
      // `npm run test:long`
      project('long', { include: long, isolate: false }),
      // `npm run test:browser`
      project('browser', { include: inBrowser, isolate: false }),
      // `npm run test:pg`
      project('postgres', { include: onPostgres, isolate: false }),
      project('site', { include: site, isolate: false }),
      // `npm run test:deploy`
      project('deploy', { include: deploy, isolate: false }),
    ],
  },
});
