/**
 * What is written about a failure, used as its readers use it: the shell script against a started
 * server, the scenario by `orrery run`, the journal by `orrery fuzz --journal`, the test by vitest.
 * The failure is one of a judge that forbids what a sound exchange does, so that all of them show
 * how it came about.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import type { Checker } from '../../src/fuzz/checker.ts';
import { failureFiles } from '../../src/fuzz/report/failure-files.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { shrink } from '../../src/fuzz/shrink/shrink.ts';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { CLI, startServe } from './serve-process.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-failure-'));
const folder = join(scratch, 'failure');

/**
 * Fails when a taker is partially filled by another user; needs no recorded history, which HTTP
 * cannot send.
 */
function forbidsPartialFills(): Checker {
  let found: string | null = null;
  let matched: number | null = null;
  return {
    onEvent: (event: EngineEvent) => {
      if (event.kind !== 'orderFilled') return;
      if (event.role === 'maker') matched = event.tradeId;
      else if (event.tradeId === matched && event.remainingLots !== 0) {
        found ??= `order ${String(event.orderId)} is left with ${String(event.remainingLots)} lots`;
      }
    },
    after: () =>
      found === null
        ? null
        : {
            invariant: 'wholeFills',
            rule: 'R-2.5',
            says: 'a taker is filled whole',
            detail: found,
          },
  };
}

beforeAll(async () => {
  await run(process.execPath, [join(ROOT, '.ci', 'setup.mjs')]);
  const { failure } = runFuzz(
    drawProfile('failure-files 4', { name: 'matching', commands: 3000 }),
    forbidsPartialFills(),
  );
  const createEngine = (config: ConstructorParameters<typeof Exchange>[0]): Exchange =>
    new Exchange(config);
  const shrunk = shrink(failure!, { createEngine, createChecker: forbidsPartialFills });
  expect(shrunk.to).toBeLessThan(12);
  mkdirSync(folder);
  const files = failureFiles(shrunk, { createEngine, keccak, origin: ['a test'] });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('requests.sh starts a server, and fails if an answer is not the required one', async () => {
  const env = { ...process.env, URL: '', ORRERY: `${process.execPath} ${CLI}` };
  const { stdout } = await run('bash', ['requests.sh'], { cwd: folder, env });
  expect(stdout.trim().split('\n').at(-1)).toMatch(/^\d+ commands: all checks pass/);
  const other = join(scratch, 'other');
  cpSync(folder, other, { recursive: true });
  const script = readFileSync(join(other, 'requests.sh'), 'utf8');
  writeFileSync(join(other, 'requests.sh'), script.replace('call ok POST', 'call refused POST'));
  const failed = run('bash', ['requests.sh'], { cwd: other, env });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the rules require: refused') as string,
  });
});

test('requests.sh outside of the project runs the package of the current folder', async () => {
  const project = join(scratch, 'project');
  const bin = join(project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{}');
  writeFileSync(join(bin, 'orrery'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`, {
    mode: 0o755,
  });
  // Empty is as unset.
  const env = { ...process.env, URL: '', ORRERY: '' };
  const script = join(folder, 'requests.sh');
  const { stdout } = await run('bash', [script], { cwd: project, env });
  expect(stdout.trim().split('\n').at(-1)).toMatch(/^\d+ commands: all checks pass/);
});

test('requests.sh reproduces all responses and events on a served exchange', async () => {
  const script = readFileSync(join(folder, 'requests.sh'), 'utf8');
  const printed = /#\s+orrery serve (.*?)--data-dir/s.exec(script)?.[1] ?? '';
  const flags = printed
    .replaceAll(/[\\\n#]/g, ' ')
    .trim()
    .split(/\s+/);
  expect(flags).toContain('--trust-signatures');
  const server = await startServe([...flags, '--data-dir', join(scratch, 'data')], folder);
  try {
    const { stdout } = await run('bash', ['requests.sh'], {
      cwd: folder,
      env: { ...process.env, URL: server.url, ORRERY: `${process.execPath} ${CLI}` },
    });
    const answers = stdout.trim().split('\n');
    expect(answers.at(-1)).toMatch(/^\d+ commands: all checks pass/);
    const [taken] = JSON.parse(answers.at(-2) ?? '') as Record<string, string>[];
    expect(taken).toMatchObject({ status: 'partiallyFilled' });
    expect(Number(taken?.['remaining'])).not.toBe(0);
  } finally {
    await server.stop();
  }
  const { stdout } = await run(process.execPath, [
    CLI,
    'diff',
    join(folder, 'journal.orrery'),
    join(scratch, 'data'),
    '--events',
  ]);
  expect(stdout).toContain('\nsame: configuration, commands and events\n');
});

test('the scenario and the journal run, and satisfy every real invariant', async () => {
  const ran = await run(process.execPath, [CLI, 'run', join(folder, 'scenario.yaml')]);
  expect(ran.stdout).toMatch(/^pass /);
  const judged = await run(process.execPath, [
    CLI,
    'fuzz',
    '--journal',
    join(folder, 'journal.orrery'),
  ]);
  expect(judged.stdout).toMatch(/^\d+ commands: all checks pass \(/);
});

test('the vitest file runs where orrery is installed', async () => {
  const own = mkdtempSync(join(ROOT, 'reports', 'failure-test-'));
  try {
    cpSync(folder, own, { recursive: true });
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    writeFileSync(join(own, 'vitest.config.mjs'), 'export default {};\n');
    const args = [vitest, 'run', '--root', own, '--reporter', 'json'];
    const runTests = async (): Promise<unknown> => {
      const { stdout } = await run(process.execPath, args, { cwd: own }).catch(
        (error: unknown) => error as { stdout: string },
      );
      return JSON.parse(stdout);
    };
    expect(await runTests()).toMatchObject({ numPassedTests: 1, numFailedTests: 0 });
    // An invalid journal fails it.
    writeFileSync(join(own, 'journal.orrery'), 'not a journal');
    expect(await runTests()).toMatchObject({ numPassedTests: 0, numFailedTests: 1 });
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
});

test('its journal has the commands of its README', () => {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const reader = new JournalReader(readFileSync(join(folder, 'journal.orrery')));
  let i = 0;
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind !== 'command') continue;
    i += 1;
    expect(readme).toContain(`${String(i)} ${frame.command.kind} {`);
  }
});
