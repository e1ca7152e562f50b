/**
 * `npm run bench:instructions`: instructions per command of the three core paths, counted by
 * callgrind (package `valgrind`). Counts do not depend on the load of the machine, so a change of
 * one percent is seen. Code runs in V8's interpreter on one thread: the compiler's decisions depend
 * on time, and would change the counts. Start-up cancels out, because each path runs twice, with N
 * and 2 N commands.
 *
 * `-- 4000` sets N. Writes `reports/bench/instructions.json`; `--compare <file>` fails when a path
 * needs 3 % more.
 */
import { buildSync } from 'esbuild';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const PATHS = ['orders', 'levels', 'bars'] as const;
const MARGIN = 0.03;
const FLAGS = [
  ...['--single-threaded', '--no-opt', '--no-sparkplug', '--regexp-interpret-all'],
  ...['--hash-seed=1', '--random-seed=1'],
];

const { values, positionals } = parseArgs({
  options: { compare: { type: 'string' }, out: { type: 'string' } },
  allowPositionals: true,
});
const count = Number(positionals[0] ?? 2000);
if (!Number.isInteger(count) || count < 100) throw new Error('N must be a whole number from 100');
if (spawnSync('valgrind', ['--version']).status !== 0) {
  console.error('bench:instructions needs callgrind: install the package valgrind');
  process.exit(2);
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-bench-'));
try {
  const script = join(folder, 'paths.mjs');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  // One file, because each module is read and compiled under valgrind.
  buildSync({
    entryPoints: [fileURLToPath(new URL('./core-paths.ts', import.meta.url))],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const found = Object.fromEntries(PATHS.map((path) => [path, perCommand(script, path)]));
  for (const [path, each] of Object.entries(found)) {
    console.log(`${path}: ${each.toLocaleString('en')} instructions a command`);
  }
  const before =
    values.compare === undefined
      ? {}
      : (JSON.parse(readFileSync(values.compare, 'utf8')) as Record<string, number>);
  for (const [path, each] of Object.entries(found)) {
    const old = before[path];
    if (old === undefined) continue;
    const change = each / old - 1;
    console.log(`${path}: ${(change * 100).toFixed(2)} %`);
    if (change > MARGIN) process.exitCode = 1;
  }
  const file = values.out ?? join(root, 'reports', 'bench', 'instructions.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function perCommand(script: string, path: string): number {
  const [once = 0, twice = 0] = [count, 2 * count].map((commands) =>
    instructions([script, path, String(commands)]),
  );
  return Math.round((twice - once) / count);
}

function instructions(words: readonly string[]): number {
  const tool = ['--tool=callgrind', `--callgrind-out-file=${join(folder, 'out')}`];
  const text = execFileSync(
    'sh',
    ['-c', 'exec "$@" 2>&1', 'sh', 'valgrind', ...tool, process.execPath, ...FLAGS, ...words],
    { encoding: 'utf8' },
  );
  const collected = /Collected : (\d+)/.exec(text)?.[1];
  if (collected === undefined) throw new Error(`callgrind gave no count: ${text.slice(-500)}`);
  return Number(collected);
}
