/** The example scripts run against a started server, as for a user. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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

const failureOf = async (command: string, args: readonly string[], at: string) => {
  const env = { ...environment(), URL: at };
  const failed = await run(command, args, { cwd: ROOT, env }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(Error);
  return failed as { readonly code: number; readonly stdout: string; readonly stderr: string };
};

const SCRIPTS = ['library/client.ts', 'wallet-order.ts', 'market-maker-ws.ts'];

test('an example names a server that does not answer, without a stack', async () => {
  const shell = await failureOf('sh', ['examples/walk-through.sh'], 'http://127.0.0.1:9');
  expect(shell.stderr).toMatch(/^curl: \(7\) .* 127\.0\.0\.1 port 9/);
  expect(shell.code).toBe(7);
  for (const script of SCRIPTS) {
    const args = ['--import', 'tsx', join('examples', script)];
    const { code, stderr } = await failureOf(process.execPath, args, 'http://127.0.0.1:9');
    expect(stderr).toMatch(/^.*http:\/\/127\.0\.0\.1:9\/\S+: .*\n$/);
    expect(code).toBe(1);
  }
}, 60_000);

test('walk-through.sh ends with the refusal of a server, such as one with the wall clock', async () => {
  const refusing = createServer((_request, response) => {
    response.writeHead(400).end('"clock: is the wall clock; start with --clock virtual"');
  });
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  const { port } = refusing.address() as AddressInfo;
  const at = `http://127.0.0.1:${String(port)}`;
  const { code, stdout } = await failureOf('sh', ['examples/walk-through.sh'], at);
  refusing.close();
  expect(stdout).toMatch(/"clock: is the wall clock; start with --clock virtual"\n$/);
  expect(code).toBe(22);
});
