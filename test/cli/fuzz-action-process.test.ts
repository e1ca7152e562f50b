/** The script of the GitHub action: it fuzzes the server that it started, and leaves no process. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLI } from './serve-process.ts';

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, '../../.github/actions/fuzz-target/fuzz-target.sh');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-action-'));
const project = join(scratch, 'project');

/** A project that has the package, so that `npx orrery` starts another process. */
beforeAll(() => {
  const bin = join(project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{}');
  const lines = ['#!/bin/sh', `'${process.execPath}' '${CLI}' "$@"`, ''];
  writeFileSync(join(bin, 'orrery'), lines.join('\n'), { mode: 0o755 });
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const inputs = (out: string) => ({
  ...process.env,
  URL: '',
  SIM_TOKEN: 'dev',
  CONFIG: '',
  SECONDS_LIMIT: '1',
  SEED: 'ci',
  ORRERY: 'npx orrery',
  OUT: join(scratch, out),
});

test('it fuzzes a server of its own, and ends it', async () => {
  const { stdout } = await run('bash', [SCRIPT], { cwd: project, env: inputs('own') });
  expect(stdout).toMatch(/\n\d+ requests: host and twin respond equally\n$/);
  expect(readFileSync(join(scratch, 'own', 'junit.xml'), 'utf8')).toContain('failures="0"');
  const log = readFileSync(join(scratch, 'own', 'server.log'), 'utf8');
  const url = /^orrery listens on (.*)$/m.exec(log)?.[1] ?? '';
  await expect(fetch(`${url}/time`)).rejects.toThrow('fetch failed');
  // Another turn in the same folder has a new server.
  const again = await run('bash', [SCRIPT], { cwd: project, env: inputs('own') });
  expect(again.stdout).toContain('host and twin respond equally');
});

test('a server that does not start ends it, whatever else answers at the port', async () => {
  const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const env = { ...inputs('taken'), PORT: String(port) };
  await expect(run('bash', [SCRIPT], { cwd: project, env })).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/EADDRINUSE[^]*the server does not start/) as string,
  });
  other.close();
});
