/**
 * `npm run prove`: the proofs that take longer than `npm test` may. The same tests with larger numbers: random lives under stress, engine and
 * reference in lockstep, kill -9 under load, one life told in two ways, planted bugs that shrink, a fuzzing campaign. Writes what held, and how
 * long it took, to reports/prove.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = join(root, 'reports', 'prove');
const raw = join(folder, 'vitest.json');
const TIMES = process.env.ORRERY_PROVE ?? '20';
const FILES = [
  'test/risk/lives.test.ts',
  'test/property/lockstep.test.ts',
  'test/property/oracle.test.ts',
  'test/http/durability.test.ts',
  'test/metamorphic/metamorphic.test.ts',
  'test/economic/economic.test.ts',
  'test/faults/journal.test.ts',
  'test/faults/delivery.test.ts',
  'test/fuzz/generator.test.ts',
  'test/fuzz/planted.test.ts',
  'test/fuzz/target.test.ts',
];
/** A campaign on all cores beside these, in seconds. */
const SOAK_SECONDS = process.env.ORRERY_SOAK ?? '300';

mkdirSync(folder, { recursive: true });
const run = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    ...FILES,
    '--testTimeout=1800000',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${raw}`,
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ORRERY_PROVE: TIMES } },
);
const report = JSON.parse(readFileSync(raw, 'utf8'));
rmSync(raw);
const rows = report.testResults.flatMap(({ assertionResults }) =>
  assertionResults.map(
    ({ status, fullName, duration }) =>
      `| ${status === 'passed' ? 'holds' : status} | ${fullName} | ${(duration / 1000).toFixed(1)} |`,
  ),
);
const page = [
  '# Last proof',
  '',
  `\`npm run prove\` with ${TIMES} times the numbers of \`npm test\`, Node ${process.versions.node}: ${report.numPassedTests} of ${report.numTotalTests} hold.`,
  '',
  '| | proof | s |',
  '| --- | --- | --- |',
  ...rows,
  '',
].join('\n');
writeFileSync(join(folder, 'last.md'), page);
console.log(`written: reports/prove/last.md`);

const soak = spawnSync(
  process.execPath,
  [
    join(root, 'dist', 'cli', 'main.js'),
    'fuzz',
    '--seed',
    'prove',
    '--seconds',
    SOAK_SECONDS,
    '--json',
  ],
  { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
);
writeFileSync(join(folder, 'fuzz.json'), soak.stdout);
console.log('written: reports/prove/fuzz.json');
process.exitCode = run.status === 0 && soak.status === 0 ? 0 : 1;
