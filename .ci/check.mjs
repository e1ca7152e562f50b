/** Runs types, lint, format, dependency rules and dead code in parallel. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);

/** Cache file of a check, so that it reads only changed files. A fresh clone has none. */
const cache = (name) => join(root, 'node_modules', '.cache', 'orrery', name);
const types = (config, name) => [
  ...['-p', config, '--noEmit', '--incremental', '--tsBuildInfoFile', cache(`${name}.tsbuildinfo`)],
];

const CHECKS = [
  ['types', bin('tsc'), types('tsconfig.json', 'src')],
  ['types of the engine', bin('tsc'), types('tsconfig.engine.json', 'engine')],
  ['types of tests', bin('tsc'), types('tsconfig.test.json', 'test')],
  ['types of pages', bin('tsc'), types('src/web/tsconfig.json', 'web')],
  [
    'lint',
    bin('eslint'),
    [
      ...['--max-warnings=0', '--cache', '--cache-strategy=content'],
      ...[`--cache-location=${cache('eslint')}`, 'src', 'test', 'examples'],
    ],
  ],
  [
    'format',
    bin('prettier'),
    [
      ...['--check', '--log-level=warn', '--cache', '--cache-strategy=content'],
      ...[`--cache-location=${cache('prettier')}`, '.'],
    ],
  ],
  ['floors', bin('depcruise'), ['--config', '.dependency-cruiser.cjs', 'src']],
  ['dead code', bin('knip'), []],
  ['public API', process.execPath, ['.ci/public-api.mjs']],
];

function run([name, command, args]) {
  return new Promise((resolve) => {
    const started = Date.now();
    let output = '';
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
      if (code !== 0) console.log(output.trimEnd());
      resolve(code === 0);
    });
  });
}

const asked = process.argv.slice(2);
const chosen = CHECKS.filter(
  ([name]) => asked.length === 0 || asked.some((text) => name.startsWith(text)),
);
if (chosen.length === 0) {
  console.error(
    `check: unknown check ${asked.join(' ')}; available: ${CHECKS.map(([name]) => name).join(', ')}`,
  );
  process.exit(2);
}
const passed = await Promise.all(chosen.map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
