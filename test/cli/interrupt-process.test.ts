/** Interrupts of a command that waits for input which never comes, in a child process. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { depositGroups, openIn } from '../journal-files/folder.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const DATA = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
const SCENARIOS = fileURLToPath(new URL('../../scenarios', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-interrupt-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'the second %s ends a command that opens a pipe without a writer',
  async (signal) => {
    const pipe = join(folder, `${signal}.yaml`);
    execFileSync('mkfifo', [pipe]);
    const child = spawn(process.execPath, [MAIN, 'run', pipe], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const twice = setInterval(() => child.kill(signal), 500);
    // Node reports the signal that ended it; a shell reports 130 or 143.
    expect((await ended) as unknown[]).toEqual([null, signal]);
    clearInterval(twice);
  },
  20_000,
);

test.each(['SIGINT', 'SIGTERM'] as const)(
  'one %s ends a server whose start waits',
  async (signal) => {
    const pipe = join(folder, `serve-${signal}.yaml`);
    execFileSync('mkfifo', [pipe]);
    const child = spawn(process.execPath, [MAIN, 'serve', '--config', pipe], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const ended = once(child, 'close');
    // Before that the process loads its program.
    setTimeout(() => child.kill(signal), 2000);
    expect((await ended) as unknown[]).toEqual([null, signal]);
    expect(log).toBe(
      `orrery: ${signal}: the start ends before it is complete; it has answered nothing\n`,
    );
  },
  20_000,
);

test.each(['SIGINT', 'SIGTERM'] as const)(
  'one %s ends a run of scenarios',
  async (signal) => {
    const child = spawn(process.execPath, [MAIN, 'run', SCENARIOS, '--prove'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = once(child, 'close');
    await once(child.stdout, 'data');
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
    expect(output).not.toContain('scenarios:');
  },
  20_000,
);

test.each(['SIGINT', 'SIGTERM'] as const)(
  'one %s ends a bridge that waits for a line',
  async (signal) => {
    const child = spawn(process.execPath, [MAIN, 'bridge'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    child.stdin.write('{"kind":"environment","agents":["a"],"stepUs":1000000,"maxPosition":0.1,');
    child.stdin.write(`"options":{"data":${JSON.stringify(DATA)}}}\n`);
    await once(child.stdout, 'data');
    child.kill(signal);
    expect((await ended) as unknown[]).toEqual([null, signal]);
  },
  20_000,
);

test('SIGTERM ends commands that replay a long journal', async () => {
  const path = join(folder, 'var');
  const exchange = await openIn(path, { durability: 'relaxed' });
  await depositGroups(
    exchange,
    Array.from({ length: 100 }, () => 5000),
  );
  await exchange.close();
  const doctor = ['--full', '--data-dir', path, '--port', '0', '--metrics-port', 'off'];
  const html = ['--html', join(folder, 'machine.html')];
  const commands = [
    ['doctor', ...doctor],
    ['inspect', path, ...html, '--seq', '500000'],
    ['inspect', path, ...html, '--mask'],
  ];
  for (const args of commands) {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    setTimeout(() => child.kill('SIGTERM'), 700);
    // By the signal in the replay, with its status before.
    expect([
      [130, null],
      [null, 'SIGTERM'],
    ]).toContainEqual(await ended);
  }
}, 60_000);
