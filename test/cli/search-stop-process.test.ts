/**
 * Early ends of a search: interrupts, endless strategies, killed processes. Results are kept, and
 * no process remains.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(root, 'dist', 'cli', 'main.js');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-stop-'));
const strategy = join(scratch, 'odd.ts');

/** Runs that end, throw, exhaust memory, or never end; each trial logs its start. */
const STRATEGY = `
import { choice, defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'odd',
  parameters: { what: choice('fine', ['fine', 'throw', 'memory', 'loop']) },
  create: ({ what }) => ({
    onBook() {
      if (what === 'throw') throw new Error('had enough');
      const kept: number[][] = [];
      while (what === 'memory') kept.push(new Array(100_000).fill(1.5));
      while (what === 'loop');
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

const argsOf = (out: string, whats: string): string[] => [
  ...[MAIN, 'sweep', strategy, '--data', join(root, 'data', 'btcusdt-20240808'), '--out', out],
  ...['--to', '2024-08-08T23:55:10Z', '--vary', `what=${whats}`, '--method', 'grid'],
  ...['--workers', '1', '--objective', 'totalReturn', '--json', '--no-robustness'],
];

interface Search {
  readonly process: ChildProcess;
  readonly worker: number;
  readonly errors: () => string;
}

/** A search that has logged its first trial and is running its second. */
async function searchIn(out: string, whats: string, env = process.env): Promise<Search> {
  // In its own process group, as started by a terminal.
  const child = spawn(process.execPath, argsOf(out, whats), {
    cwd: scratch,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
  });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  await until(() => logged(out).length === 2);
  const [worker = 0] = childrenOf(child.pid ?? 0);
  return { process: child, worker, errors: () => errors };
}

function logged(out: string): string[] {
  const log = join(scratch, out, 'trials.jsonl');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
}

function childrenOf(parent: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  return rows
    .filter(([, ppid, ...args]) => Number(ppid) === parent && args.join(' ').includes('worker.js'))
    .map(([pid]) => Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Expects only `trials.jsonl`, without partial output. */
function expectOnlyTheLog(out: string): void {
  expect(readdirSync(join(scratch, out))).toEqual(['trials.jsonl']);
}

test('an interrupt from the keyboard ends an endless strategy, and the log is kept', async () => {
  const search = await searchIn('interrupted', 'fine,loop,throw');
  const before = logged('interrupted');
  process.kill(-(search.process.pid ?? 0), 'SIGINT');
  const at = performance.now();
  expect((await once(search.process, 'exit')) as unknown[]).toEqual([130, null]);
  expect(performance.now() - at).toBeLessThan(15_000);
  expect(isAlive(search.worker)).toBe(false);
  expect(search.errors()).toBe(
    'stopped after 1 trial; rerun the command to continue\ninterrupted\n',
  );
  expect(logged('interrupted')).toEqual(before);
  expectOnlyTheLog('interrupted');
});

test('after a second interrupt or a kill no worker remains', async () => {
  const [twice, killed] = await Promise.all([
    searchIn('twice', 'fine,loop'),
    searchIn('killed', 'fine,loop'),
  ]);
  killed.process.kill('SIGKILL');
  twice.process.kill('SIGINT');
  await until(() => !isAlive(killed.worker));
  twice.process.kill('SIGINT');
  await until(() => !isAlive(twice.worker));
  expect(logged('killed')).toHaveLength(2);
});

test('a killed worker ends the search with a message, and finished trials stay in the log', async () => {
  const search = await searchIn('lost', 'fine,loop,throw');
  process.kill(search.worker, 'SIGKILL');
  expect((await once(search.process, 'exit')) as unknown[]).toEqual([1, null]);
  expect(search.errors()).toBe(
    'orrery: a worker was ended from outside or ran out of memory (SIGKILL) while it ran what=loop; ' +
      'trials that had ended are in the log, rerun the command to continue\n',
  );
  expect(logged('lost')).toHaveLength(2);
  expectOnlyTheLog('lost');
});

test('a run out of memory ends the search with a message', async () => {
  const room = { ...process.env, NODE_OPTIONS: '--max-old-space-size=100' };
  const search = await searchIn('memory', 'fine,memory', room);
  expect((await once(search.process, 'exit')) as unknown[]).toEqual([1, null]);
  expect(search.errors()).toContain('ran out of memory (SIGABRT) while it ran what=memory');
  expect(logged('memory')).toHaveLength(2);
});

test('a run that throws is a failed trial, with handler, time and line', () => {
  const { status, stdout } = spawnSync(process.execPath, argsOf('thrown', 'fine,throw'), {
    cwd: scratch,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  const { failed, all } = JSON.parse(stdout) as {
    failed: number;
    all: { error: string | null }[];
  };
  expect(failed).toBe(1);
  expect(all.map(({ error }) => error)).toEqual([
    null,
    "strategy 'odd' failed in onBook at 2024-08-08 23:54:16.495000: had enough (odd.ts:8:35)",
  ]);
});

test('a search without a result prints no probability of its best trial', () => {
  const args = argsOf('no-result', 'throw').filter((arg) => arg !== '--json');
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: scratch, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toContain('trials       1, 1 failed: strategy');
  expect(stdout).not.toContain('deflated');
});
