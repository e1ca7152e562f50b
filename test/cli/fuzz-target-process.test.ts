/**
 * `orrery fuzz --target` as its users start it, against a server that they started: alike ends with
 * 0; a host that is wrong in one field with 1, its first divergence and the rule that it breaks;
 * what is no host, or none of one's own, with 2.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkJournal } from '../../src/fuzz/check-journal.ts';
import { changingProxy } from '../http/changing-proxy.ts';
import { CLI, startServe } from './serve-process.ts';

let scratch = '';
const ends: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'orrery-target-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  rmSync(scratch, { recursive: true, force: true });
});

async function serve(config?: string): Promise<string> {
  const flags = ['--clock', 'virtual', '--trust-signatures', '--sim-token', 'dev'];
  if (config !== undefined) flags.push('--config', config);
  const data = mkdtempSync(join(scratch, 'data-'));
  const server = await startServe([...flags, '--data-dir', data]);
  ends.push(server.stop);
  return server.url;
}

function drive(
  url: string,
  token = 'dev',
  ...more: string[]
): Promise<{ status: number; out: string; err: string }> {
  const args = ['fuzz', '--target', url, '--seed', 'cli', '--commands', '200', '--out', scratch];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [CLI, ...args, '--sim-token', token, '--profile', 'stress', ...more],
      { cwd: scratch },
      (error, out, err) => {
        resolve({ status: error === null ? 0 : Number(error.code), out, err });
      },
    );
  });
}

test('a host that follows the rules', async () => {
  const { status, out, err } = await drive(await serve());
  expect(err).toBe('');
  expect(out).toMatch(/^profile stress, seed cli, 200 commands\n/);
  expect(out).toMatch(/\n\d+ requests: host and twin respond equally\n$/);
  expect(status).toBe(0);
});

test('a host that is wrong in one field: the first divergence, its rule, and a journal', async () => {
  const wrongGain = (text: string): string => text.replace(/("upnl":")-?(\d)/, '$11$2');
  const proxy = await changingProxy(await serve(), '/account/positions', wrongGain);
  ends.push(proxy.stop);
  const { status, out } = await drive(proxy.url, 'dev', '--json');
  expect(status).toBe(1);
  const { divergence, requests, written } = JSON.parse(out) as Record<string, unknown>;
  expect(divergence).toMatchObject({ invariant: 'host getPositions', rule: 'R-5.2' });
  expect((divergence as { detail: string }).detail).toMatch(
    /^request \d+, getPositions of \{.*\}: body\[\d+\]\.upnl is "1\d.*", expected ".*" by the rules$/,
  );
  expect(requests).toBeGreaterThan(10);
  expect(written).toBe(join(scratch, 'host-getPositions-cli'));
  const folder = String(written);
  // The twin was correct throughout.
  expect(checkJournal(readFileSync(join(folder, 'journal.orrery')))).toBeNull();
  // New servers have no such proxy, so they show nothing to shrink.
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain('as they were found');

  const other = await changingProxy(await serve(join(folder, 'serve.yaml')), '/none', (t) => t);
  ends.push(other.stop);
  expect(await drive(other.url, 'dev', '--repeat', folder)).toMatchObject({ status: 0 });
  const again = await changingProxy(
    await serve(join(folder, 'serve.yaml')),
    '/account/positions',
    wrongGain,
  );
  ends.push(again.stop);
  const repeated = await drive(again.url, 'dev', '--repeat', folder, '--json');
  expect(repeated.status).toBe(1);
  expect(JSON.parse(repeated.out)).toMatchObject({
    divergence: { invariant: 'host getPositions', rule: 'R-5.2' },
  });
  const stale = await drive(again.url, 'dev', '--repeat', folder);
  expect(stale).toMatchObject({ status: 2, err: expect.stringContaining('not new') as string });

  // A host that was used has a state that the twin does not know.
  expect(await drive(proxy.url)).toMatchObject({ status: 2 });
  const fresh = await changingProxy(await serve(), '/account/positions', wrongGain);
  ends.push(fresh.stop);
  const words = await drive(fresh.url);
  expect(words.status).toBe(1);
  expect(words.out).toContain('DIVERGED    request');
  expect(words.out).toMatch(/\n {2}rule {6}R-/);
});

test('a host that gives no reply to a request differs from the rules', async () => {
  let replies = 0;
  const proxy = await changingProxy(
    await serve(),
    '/account/stats',
    (text) => text,
    (response) => {
      replies += 1;
      if (replies > 3) response.destroy();
    },
  );
  ends.push(proxy.stop);
  const { status, out } = await drive(proxy.url, 'dev', '--json', '--no-shrink');
  expect(status).toBe(1);
  const { divergence, written } = JSON.parse(out) as Record<string, unknown>;
  expect(divergence).toMatchObject({ invariant: 'host getStats' });
  expect((divergence as { detail: string }).detail).toMatch(
    /: status is 0 .*socket hang up.*, expected 200 by the rules$/,
  );
  expect(readFileSync(join(String(written), 'requests.sh'), 'utf8')).toContain('/account/stats');
});

test('a server without this API, or with another token', async () => {
  const nothing: Server = createServer((_request, response) => {
    response.statusCode = 404;
    response.end('nothing here');
  });
  await new Promise<void>((resolve) => nothing.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => nothing.close(resolve)));
  const url = `http://127.0.0.1:${(nothing.address() as AddressInfo).port}`;
  expect(await drive(url)).toMatchObject({
    status: 2,
    err: expect.stringContaining(url) as string,
  });
  const stranger = await drive(await serve(), 'wrong');
  expect(stranger.status).toBe(2);
  expect(stranger.err).toContain('start the host with --sim-token');
});
