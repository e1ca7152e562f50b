/** The example scripts run against a started server, as for a user. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

let server: ChildProcess;
let url = '';
let path = '';
beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'orrery-'));
  const cli = join(ROOT, 'dist/cli/main.js');
  const args = [
    'serve',
    '--port',
    '0',
    '--data-dir',
    path,
    '--sim-token',
    'dev',
    '--clock',
    'virtual',
  ];
  server = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  url = await new Promise((resolve, reject) => {
    server.stdout?.on('data', (chunk: Buffer) => {
      const found = /listens on (\S+)/.exec(chunk.toString())?.[1];
      if (found !== undefined) resolve(found);
    });
    server.on('exit', () => {
      reject(new Error('the server ended'));
    });
  });
});
afterAll(async () => {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.on('exit', resolve));
  await rm(path, { recursive: true, force: true });
});

const environment = (): NodeJS.ProcessEnv => ({ ...process.env, URL: url, no_proxy: '*' });

test('walk-through.sh', async () => {
  const { stdout } = await run('sh', [join(ROOT, 'examples/walk-through.sh')], {
    env: environment(),
  });
  expect(stdout).toContain('"index":"60000"');
  expect(stdout).toContain('"signing_payload"');
  expect(stdout).toContain('"Please add the JWT token to the header"');
  expect(stdout).toContain('"sequenceNumber"');
});

test.each([
  [
    'wallet-order.ts',
    /order [0-9a-f]{64} new\nstop-loss [0-9a-f]{64} pending\nfree collateral \d+/,
  ],
  ['market-maker-ws.ts', /round 3: 59978 new, 60022 new\n {2}best bid 59978\n/],
])(
  '%s',
  async (script, shown) => {
    const args = ['--import', 'tsx', join(ROOT, 'examples', script)];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, env: environment() });
    expect(stdout).toMatch(shown);
  },
  30_000,
);
