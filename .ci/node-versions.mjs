/**
 * `npm run test:node`: tests the build under Node 22 and 24 from the npm package `node`: every
 * scenario with its golden hash, a campaign, a backtest, and the tests of numbers, journal, gateway
 * and tape. A command that sets a flag which this V8 does not know fails.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const MAJORS = ['22', '24'];
const TESTS = ['test/num', 'test/journal', 'test/gateway', 'test/engine/tape'];

function nodeOf(major, folder) {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  // The package's install script links the binary for this platform.
  execFileSync('npm', ['install', `node@${major}`, '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const binary = join(folder, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(binary)) throw new Error(`the npm package node@${major} has no binary`);
  return binary;
}

let failed = 0;
for (const major of MAJORS) {
  const folder = mkdtempSync(join(tmpdir(), `orrery-node-${major}-`));
  try {
    const node = nodeOf(major, folder);
    const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
    const main = join(root, 'dist', 'cli', 'main.js');
    const backtest = [
      'backtest',
      'examples/strategies/quotes.ts',
      '--data',
      'data/btcusdt-20240808',
    ];
    const runs = [
      ['scenarios', [main, 'run', 'scenarios']],
      ['campaign', [main, 'fuzz', '--seed', 'node', '--runs', '11', '--out', join(folder, 'fuzz')]],
      ['backtest', [main, ...backtest, '--out', join(folder, 'backtest')]],
      ['tests', [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...TESTS]],
    ];
    for (const [name, args] of runs) {
      console.log(`Node ${version}: ${name}`);
      const stdio = ['ignore', 'inherit', 'pipe'];
      const { status, stderr } = spawnSync(node, args, { cwd: root, stdio, encoding: 'utf8' });
      process.stderr.write(stderr);
      if (status === 0 && !stderr.includes('unrecognized flag')) continue;
      failed += 1;
      console.error(`Node ${version}: ${name} failed`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed === 0 ? 0 : 1;
