/**
 * `orrery fuzz` as used: results independent of the number of workers, interrupts, resumption,
 * journals.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CampaignState } from '../../src/cli/fuzz/campaign-state.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'dist', 'cli', 'main.js');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-fuzz-cli-'));

function orrery(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: scratch,
    encoding: 'utf8',
    // A command whose threads keep it alive ends without a status.
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  return { status, out: stdout, err: stderr };
}

const SMALL = ['fuzz', '--seed', 'cli', '--commands', '300', '--json'];

beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('the outcome of a number of runs does not depend on the workers', () => {
  const outcomeOf = (workers: number): unknown => {
    const { status, out, err } = orrery(
      ...SMALL,
      '--runs',
      '20',
      '--workers',
      String(workers),
      '--out',
      `w${workers}`,
    );
    expect(err).toBe('');
    expect(status).toBe(0);
    const summary = JSON.parse(out) as Record<string, unknown>;
    const log = readFileSync(join(scratch, String(summary['log'])), 'utf8')
      .trim()
      .split('\n');
    return { ...summary, log: log.sort(), seconds: 0, commandsPerSecond: 0, workers: 0 };
  };
  const one = outcomeOf(1);
  expect(one).toMatchObject({ runs: 20, commands: 6000, failures: [], interrupted: false });
  expect(outcomeOf(3)).toEqual(one);
  const { log } = one as { log: string[] };
  expect(log).toHaveLength(20);
  expect(log).toContainEqual(
    expect.stringMatching(
      /^run 3 {2}stress, 300 commands; triggers \w+; index\/mark .*; mix \w+ \d+ /,
    ),
  );
});

test('a campaign resumes, and one of its runs is repeated by its number', () => {
  expect(orrery(...SMALL, '--runs', '4', '--out', 'r').status).toBe(0);
  const resumed = JSON.parse(
    orrery('fuzz', '--json', '--runs', '9', '--out', 'r', '--resume').out,
  ) as object;
  expect(resumed).toMatchObject({ runs: 9, commands: 2700 });
  const again = orrery('fuzz', '--seed', 'cli', '--commands', '300', '--run', '3');
  expect(again.out).toMatch(/^profile stress, seed cli\/3, 300 commands\n/);
  expect(again.out).toMatch(/300 commands: all checks pass \(time, /);
});

test('a resumed campaign names the runs that failed before, in all its files', async () => {
  const out = join(scratch, 'killed');
  const [, , seed] = SMALL;
  const plan = {
    seed: seed ?? '',
    profile: 'all',
    commands: 300,
    oracle: true,
    every: 64,
  } as const;
  const killed = new CampaignState(plan);
  const violation = { invariant: 'conservation', rule: 'R-1.6', says: 'cash sums', detail: 'off' };
  const failed = { run: 0, commands: 7, violation };
  killed.add({ from: 0, to: 1, commands: 7, counts: {}, failed });
  mkdirSync(out);
  await killed.save(out);
  const files = ['--junit', 'killed.xml', '--sarif', 'killed.sarif'];
  const resumed = orrery('fuzz', '--resume', '--runs', '2', '--out', 'killed', ...files);
  expect(resumed.status).toBe(1);
  const again = 'orrery fuzz --seed cli --run 0 --commands 300';
  expect(resumed.out).toContain(`failed      before this session; again: ${again}`);
  for (const file of ['killed.xml', 'killed.sarif']) {
    expect(readFileSync(join(scratch, file), 'utf8'), file).toContain(again);
  }
  expect(readFileSync(join(scratch, 'killed.xml'), 'utf8')).toContain('failures="1"');
});

test('without --seed the seed is ORRERY_SEED', () => {
  const seedOf = (...options: string[]): unknown => {
    const fuzz = ['fuzz', '--runs', '1', '--commands', '20', '--json', ...options];
    const env = { ...process.env, ORRERY_SEED: 'pipeline' };
    const { stdout } = spawnSync(process.execPath, [main, ...fuzz], { cwd: scratch, env });
    return (JSON.parse(String(stdout)) as { seed: string }).seed;
  };
  expect(seedOf()).toBe('pipeline');
  expect(seedOf('--seed', 'other')).toBe('other');
});

test('an economic search does not depend on the number of workers', () => {
  const outcomeOf = (workers: string): unknown => {
    const args = ['--plans', '40', '--arena', 'still', '--seed', 'cli', '--workers', workers];
    const { status, out, err } = orrery('economic', ...args, '--json');
    expect(err).toBe('');
    expect(status).toBe(0);
    return JSON.parse(out);
  };
  const one = outcomeOf('1');
  expect(one).toMatchObject({ found: false, plans: 40, arenas: 1, seed: 'cli' });
  expect(outcomeOf('2')).toEqual(one);
});

test('an interrupt ends a campaign and keeps its results', async () => {
  const child = spawn(
    process.execPath,
    [main, ...SMALL, '--seconds', '600', '--workers', '1', '--out', 'i'],
    {
      cwd: scratch,
    },
  );
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const code = new Promise((resolve) => child.on('close', resolve));
  setTimeout(() => child.kill('SIGINT'), 3000);
  expect(await code).toBe(130);
  expect(err).toBe('interrupted\n');
  expect(JSON.parse(out)).toMatchObject({ interrupted: true, failures: [] });
  // Another campaign does not replace it.
  const other = orrery(...SMALL, '--runs', '1', '--out', 'i');
  expect(other.err).toMatch(
    /i: its campaign of seed cli was stopped after \d+ runs? \(continue it with --resume, /,
  );
  expect(other.status).toBe(2);
});

test('a campaign that is killed at once can be resumed, and not the one before it', async () => {
  expect(orrery(...SMALL, '--runs', '1', '--out', 'killed').status).toBe(0);
  const log = join(scratch, 'killed', 'runs.log');
  rmSync(log);
  const args = ['fuzz', '--seed', 'next', '--seconds', '600', '--out', 'killed'];
  const child = spawn(process.execPath, [main, ...args], { cwd: scratch, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (!existsSync(log)) await new Promise((resolve) => setTimeout(resolve, 10));
  child.kill('SIGKILL');
  await ended;
  const { out } = orrery('fuzz', '--resume', '--runs', '1', '--out', 'killed');
  expect(out).toContain('seed        next, profile all\nresumed     after 0 runs\n');
});

test('--verbose prints the options of a run before it starts', () => {
  const args = ['--seed', 'cli', '--commands', '300', '--runs', '9', '--workers', '1'];
  const { out } = orrery('fuzz', ...args, '--verbose', '--out', 'v');
  const lines = out.split('\n');
  expect(lines[0]).toBe('seed        cli, profile all');
  expect(lines[1]).toMatch(/^run 0 {2}swarm, 300 commands; /);
  expect(lines.slice(1, 10)).toEqual(
    readFileSync(join(scratch, 'v', 'runs.log'), 'utf8')
      .trim()
      .split('\n'),
  );
  expect(lines[10]).toMatch(/^runs {8}9, 2,700 commands/);
});

test('states of a user are counted, also after a resumption, and are on the page', () => {
  const file = join(scratch, 'states.ts');
  writeFileSync(
    file,
    `import type { EngineEvent } from 'orrery';
     export const states = {
       'a fill | of any size': { event: (event: EngineEvent) => event.kind === 'orderFilled' },
       'a million commands': { after: (engine: { seq: number }) => engine.seq >= 1_000_000 },
     };`,
  );
  const fuzz = ['fuzz', '--seed', 'cli', '--commands', '300', '--workers', '2', '--out', 's'];
  const first = orrery(...fuzz, '--runs', '2', '--states', file, '--json');
  const { ownStates } = JSON.parse(first.out) as { ownStates: Record<string, number> };
  expect(ownStates).toEqual({
    'a fill | of any size': expect.any(Number) as number,
    'a million commands': 0,
  });
  // The campaign keeps the states.
  rmSync(file);
  const { out, status } = orrery('fuzz', '--resume', '--runs', '4', '--out', 's');
  expect(status).toBe(0);
  expect(out).toContain('own states  1 of 2 reached\n  never     a million commands (--states)\n');
  const page = readFileSync(join(scratch, 's', 'coverage.md'), 'utf8');
  const row = /^\| a fill \\\| of any size \| (\d+) \|\n\| a million commands \| never \|$/m.exec(
    page,
  );
  expect(Number(row?.[1])).toBeGreaterThan(ownStates['a fill | of any size'] ?? 0);
  expect(page.match(/^\| cli \| all \| [24] .* \| 1 of 2 \|/gm)).toHaveLength(2);
});

test.each([
  ['export const other = {};', 'must export `states`'],
  ['export const states = { a: {} };', 'states["a"]: needs a function event or after'],
  ['export const states = { a: { event: 1 } };', 'states["a"].event: must be a function'],
  ['export const states = { a: { when: 1 } };', 'states["a"].when: unknown'],
  ['export const states = {', 'Expected'],
  [
    'export const states = { a: { event: () => { throw new Error("mine"); } } };',
    '--states: states["a"] throws: mine',
  ],
])('a file of states that cannot be used is reported: %s', (text, message) => {
  const file = join(scratch, 'wrong.ts');
  writeFileSync(file, text);
  const { status, err } = orrery('fuzz', '--runs', '1', '--states', file, '--out', 'wrong');
  expect(err).toContain(message);
  expect(status).toBe(2);
});

test('a journal is checked against every invariant', () => {
  const journal = join(scratch, 'fees.orrery');
  expect(orrery('run', join(root, 'scenarios', 'cascade.yaml'), '--journal', journal).status).toBe(
    0,
  );
  const { status, out } = orrery('fuzz', '--journal', journal);
  expect(out).toMatch(/^\d+ commands: all checks pass \(state, stream, oracle, restore, /);
  expect(status).toBe(0);
});

test.each([
  ['--runs 0', '--runs must be a whole number from 1 to 1000000000, got 0'],
  ['--runs 1e99', '--runs must be a whole number from 1 to 1000000000, got 1e+99'],
  ['--commands 1e9', '--commands must be a whole number from 1 to 10000000, got 1000000000'],
  ['--seconds -1', '--seconds must be above 0 and at most 604800'],
  [
    '--seconds 1e99',
    '--seconds must be above 0 and at most 604800 (a week; continue with --resume), got 1e+99',
  ],
  ['--workers 1.5', '--workers must be a whole number from 1 to 256, got 1.5'],
  ['--shrink-seconds 0', '--shrink-seconds must be above 0 and at most 604800, got 0'],
  ['--run 3', '--run needs the --seed of its campaign'],
  ['--profile none', '--profile must be one of swarm, matching'],
  ['--resume --out nowhere', '--resume: nowhere/campaign.json: no such file or folder'],
  ['--journal nowhere.orrery', 'nowhere.orrery'],
  ['--journal text.txt', 'text.txt: not a journal'],
  ['--target nowhere --sim-token dev', '--target must be an address that starts with http://'],
  ['--target http://127.0.0.1:9', '--target needs --sim-token'],
  ['--config none.yaml --runs 1', '--config needs --target'],
  ['--sim-token dev --runs 1', '--sim-token needs --target'],
  ['--resume --seed other', '--resume and --seed exclude each other'],
  ['--resume --profile money', '--resume and --profile exclude each other'],
  ['--resume --commands 5', '--resume and --commands exclude each other'],
  ['--resume --no-oracle', '--resume and --oracle exclude each other'],
  ['--runs 1 --out blocked', 'blocked/runs.log: is a folder'],
])('bad input is reported: %s', (args, message) => {
  writeFileSync(join(scratch, 'text.txt'), 'no journal');
  mkdirSync(join(scratch, 'blocked', 'runs.log'), { recursive: true });
  const { status, err } = orrery('fuzz', ...args.split(' '));
  expect(err).toContain(message);
  expect(status).toBe(2);
});
