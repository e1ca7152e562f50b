/**
 * Clients that are generated from /openapi.json log in, sign and trade on a server that verifies
 * signatures: in TypeScript by openapi-typescript, in Python by test/clients/generate.py.
 *
 * Needs the network for openapi-typescript, and Debian's python3-ecdsa and python3-pycryptodome.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GENERATOR = 'openapi-typescript@7.13.0';
const TOKEN = 'clients';
const only = process.argv[2] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'orrery-clients-'));
const run = (file, args) =>
  execFileSync(file, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });

const server = spawn(
  process.execPath,
  [
    join(ROOT, 'dist/cli/main.js'),
    ...['serve', '--port', '0', '--data-dir', join(folder, 'data'), '--sim-token', TOKEN],
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const url = await new Promise((resolve, reject) => {
    server.stdout.on('data', (chunk) => {
      const found = /listens on (\S+)/.exec(chunk.toString())?.[1];
      if (found !== undefined) resolve(found);
    });
    server.on('exit', () => reject(new Error('the server ended')));
  });
  writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
  cpSync(join(ROOT, 'test/clients'), folder, { recursive: true });
  if (only !== 'typescript') {
    const python = process.env.PYTHON ?? '/usr/bin/python3';
    writeFileSync(join(folder, 'client.py'), run(python, ['generate.py', 'openapi.json']));
    process.stdout.write(run(python, ['trade.py', url, TOKEN]));
  }
  if (only !== 'python') {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    renameSync(join(folder, 'trade.ts.txt'), join(folder, 'trade.ts'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    run('npx', ['--yes', GENERATOR, 'openapi.json', '--output', 'api.d.ts']);
    const tsc = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
    const flags = [...tsc, '--skipLibCheck', '--types', 'node', 'trade.ts'];
    run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...flags]);
    process.stdout.write(run(process.execPath, ['--import', 'tsx', 'trade.ts', url, TOKEN]));
  }
} finally {
  server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
