import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openJournal } from '../../src/journal-files/folder-journal.ts';
import { CLI } from '../cli/serve-process.ts';
import { DATASET, RECORDED_FROM_US } from '../run-plan/plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-restart-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function serve(path: string): Promise<{ child: ChildProcess; url: string }> {
  const flags = ['--replay', DATASET, '--to', '2024-08-08T23:54:20Z', '--clock', 'virtual'];
  const args = [CLI, 'serve', '--port', '0', '--sim-token', 'dev', '--data-dir', path, ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('exit', () => {
      reject(new Error(stderr));
    });
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const url = /listens on (\S+)/.exec(stdout)?.[1];
      if (url !== undefined) resolve({ child, url });
    });
  });
}

function moveTo(url: string, afterUs: number): Promise<unknown> {
  return fetch(`${url}/sim/clock`, {
    method: 'POST',
    headers: { authorization: 'Bearer dev', 'content-type': 'application/json' },
    body: JSON.stringify({ toMs: Math.floor((RECORDED_FROM_US + afterUs) / 1000) }),
  }).then((answer) => answer.text());
}

function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  return new Promise((resolve) => {
    child.on('exit', () => {
      resolve();
    });
    child.kill(signal);
  });
}

/** Recorded commands in the journal, in order. */
function historyOf(path: string): unknown[] {
  const journal = openJournal(path);
  const found: unknown[] = [];
  for (let frame = journal.next(); frame !== null; frame = journal.next()) {
    if (frame.kind === 'command' && frame.command.kind.startsWith('tape'))
      found.push(frame.command);
  }
  return found;
}

test('a replay killed at any point continues behind what it has played', async () => {
  const whole = join(folder, 'whole');
  const one = await serve(whole);
  await moveTo(one.url, 5_000_000);
  await end(one.child, 'SIGTERM');
  const killed = join(folder, 'killed');
  for (let i = 0; i < 4; i++) {
    const { child, url } = await serve(killed);
    await moveTo(url, 1_000_000 * i + 300_000);
    // Killed while it plays and writes.
    const moving = moveTo(url, 5_000_000).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 3 * i + 1));
    await end(child, 'SIGKILL');
    await moving;
  }
  const last = await serve(killed);
  await moveTo(last.url, 5_000_000);
  await end(last.child, 'SIGTERM');
  const expected = historyOf(whole);
  expect(expected.length).toBeGreaterThan(100);
  expect(historyOf(killed)).toEqual(expected);
}, 240_000);
