/** A handler that does not return ends its run, or its trial, with its line. */
import { execFileSync, spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServe } from './serve-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(root, 'dist', 'cli', 'main.js');
const DATA = join(root, 'data', 'btcusdt-20240808');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-limit-'));
const strategy = join(scratch, 'odd.ts');

const STRATEGY = `import { choice, defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'odd',
  parameters: { what: choice('fine', ['fine', 'loop', 'await', 'caught', 'flood', 'regexp', 'start', 'native']) },
  create: ({ what }) => ({ onStart() { while (what === 'start'); }, // line 5
    async onBook(_book, context) {
      if (what === 'await') { await context.sleep(1000); for (;;); } // line 7
      while (what === 'caught') { try { for (;;); } finally { continue; } } // line 8
      const again = (): void => void Promise.resolve().then(again); // line 9
      if (what === 'flood') again();
      if (what === 'regexp') /^(a+)+$/.test('a'.repeat(40) + 'b'); // line 11
      while (what === 'loop'); // line 12
      if (what === 'native') [].indexOf.call({ length: 2 ** 53 - 1 } as never, 1 as never);
    },
  }),
});
`;

beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
  writeFileSync(strategy, STRATEGY);
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const of = (what: string, ...more: string[]): string[] => [
  ...[MAIN, 'backtest', strategy, '--data', DATA, '--param', `what=${what}`],
  ...['--out', join(scratch, what), ...more],
];

test.each([
  ['loop', 'onBook', 12],
  ['await', 'onBook', 7],
  ['caught', 'onBook', 8],
  ['flood', 'again', 9],
  ['regexp', 'onBook', 11],
  ['start', 'onStart', 5],
])('%s ends in %s, line %i', (what, handler, line) => {
  const run = spawnSync(process.execPath, of(what, '--handler-limit', '1s'), {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  expect(run.stderr).toContain(`'odd.ts': ${handler} did not return within 1 s (odd.ts:${line}:`);
  expect(run.status).toBe(1);
  expect(existsSync(join(scratch, what, 'journal.orrery.partial'))).toBe(false);
});

const NATIVE =
  /^orrery: strategy 'odd\.ts': onBook at 2024-08-08 23:54:1\d\.\d{6} did not return within 1 s: it is inside a built-in function\n$/;

test('a built-in function that does not return ends the run with the handler and its time', () => {
  const run = spawnSync(process.execPath, of('native', '--handler-limit', '1s'), {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  expect(run.stderr).toMatch(NATIVE);
  expect([run.status, run.signal]).toEqual([1, null]);
});

test('lookahead ends at the limit', () => {
  const run = spawnSync(
    process.execPath,
    [
      ...[MAIN, 'lookahead', strategy, '--data', DATA, '--param', 'what=loop'],
      ...['--handler-limit', '1s'],
    ],
    { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
  );
  expect(run.stderr).toContain(`'odd.ts': onBook did not return within 1 s (odd.ts:12:`);
  expect(run.status).toBe(1);
});

test.each([
  ['in real time', [], 'start', 'onStart', 5],
  ['in a replay', ['--replay', DATA, '--clock', 'virtual'], 'loop', 'onBook', 12],
])('a live run %s ends at the limit', async (_name, flags, what, handler, line) => {
  const data = join(scratch, `served-${what}`);
  const served = await startServe([...flags, '--sim-token', 'dev', '--data-dir', data], scratch);
  try {
    const run = spawn(
      process.execPath,
      [
        ...[MAIN, 'live', strategy, '--url', served.url, '--param', `what=${what}`],
        ...['--sim-token', 'dev', '--deposit', '10000', '--handler-limit', '1s'],
      ],
      { env: { ...process.env, ORRERY_KEY: `0x${'7'.repeat(64)}` } },
    );
    let stderr = '';
    run.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const stuck = setTimeout(() => run.kill('SIGKILL'), 40_000);
    const [status] = (await once(run, 'exit')) as unknown[];
    clearTimeout(stuck);
    expect(stderr).toContain(`'odd.ts': ${handler} did not return within 1 s (odd.ts:${line}:`);
    expect(status).toBe(1);
  } finally {
    await served.stop();
  }
});

test('SIGTERM ends a run without a limit', async () => {
  const run = spawn(process.execPath, of('loop', '--handler-limit', 'none', '--overwrite'), {
    stdio: 'ignore',
  });
  const ended = once(run, 'exit');
  const partial = join(scratch, 'loop', 'journal.orrery.partial');
  while (!existsSync(partial)) await pause(50);
  await pause(6000);
  expect(run.exitCode).toBeNull();
  run.kill('SIGTERM');
  const [, signal] = (await Promise.race([ended, pause(5000, [null, 'none'])])) as unknown[];
  run.kill('SIGKILL');
  expect(signal).toBe('SIGTERM');
});

test('such a trial fails, and the search goes on', () => {
  const out = join(scratch, 'search');
  const limited = (limit: string): SpawnSyncReturns<string> => {
    const search = [MAIN, 'sweep', strategy, '--data', DATA, '--vary', 'what=loop,native,fine'];
    const more = ['--method', 'grid', '--no-ledger', '--handler-limit', limit, '--workers', '1'];
    const settings = { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' } as const;
    return spawnSync(process.execPath, [...search, ...more, '--out', out], settings);
  };
  const run = limited('1s');
  expect(run.stdout).toContain('onBook did not return within 1 s (odd.ts:12:');
  const trials = readFileSync(join(out, 'trials.jsonl'), 'utf8').trim().split('\n').slice(1);
  const errors = trials.map((text) => (JSON.parse(text) as { error: string | null }).error);
  expect(errors).toEqual([
    expect.stringContaining('onBook did not return within 1 s (odd.ts:12:'),
    'the strategy did not return within 1 s: it is inside a built-in function',
    null,
  ]);
  // Another limit would have ended other trials.
  const other = limited('2s');
  expect(other.status).toBe(2);
  expect(other.stderr).toContain('is the log of another search');
  expect(limited('1000ms').stdout).toBe(run.stdout);
});

test('a limit that is not a duration is refused', () => {
  const run = spawnSync(process.execPath, of('fine', '--handler-limit', 'soon'), {
    encoding: 'utf8',
  });
  expect(run.stderr).toContain("--handler-limit 'soon': must be a duration from 100ms, or none");
  expect(run.status).toBe(2);
});
