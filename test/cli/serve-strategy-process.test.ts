/** `orrery serve --strategy` as a process: how it stops, and what stops it before it listens. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeDataset } from '../live/made-up-dataset.ts';
import { CLI } from './serve-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-strategy-'));
const strategy = join(folder, 'stops.ts');
const flags = (data: string): string[] => [
  ...[CLI, 'serve', '--port', '0', '--metrics-port', 'off', '--data-dir', data],
  ...['--replay', join(folder, 'data'), '--clock', 'virtual', '--sim-token', 'dev'],
  ...['--strategy', strategy, '--no-check'],
];

beforeAll(async () => {
  await writeDataset(join(folder, 'data'), [{ symbol: 'AAA', steps: 600, everyUs: 100_000 }]);
  writeFileSync(
    strategy,
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'stops',
  parameters: {},
  create: () => ({
    onBook() {},
    onStop(context) { context.log('has stopped'); },
  }),
});
`,
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  readonly pid: number;
  readonly sim: (path: string, body?: object) => Promise<Record<string, unknown>>;
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** In a group of its own, as a terminal has it, with a strategy that drives the replay. */
async function started(data: string): Promise<Started> {
  const child = spawn(process.execPath, flags(data), {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, stderr });
    });
  });
  const url = await new Promise<string>((resolve, reject) => {
    let stdout = '';
    child.on('exit', () => {
      reject(new Error(stderr));
    });
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const found = /listens on (\S+)/.exec(stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const sim: Started['sim'] = async (path, body) => {
    const answer = await fetch(`${url}/sim/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: 'Bearer dev', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  // From its first answer on, the server has the strategy.
  expect(await sim('strategy')).toMatchObject({ name: 'stops.ts' });
  await expect
    .poll(async () => (await sim('replay'))['driven'], { timeout: 15_000, interval: 50 })
    .toBe(true);
  return { pid: child.pid!, sim, ended };
}

test('a Ctrl-C while the replay is paused runs the handlers of the stop', async () => {
  const data = join(folder, 'paused');
  const { pid, sim, ended } = await started(data);
  await sim('replay', { paused: true });
  const beganMs = performance.now();
  process.kill(-pid, 'SIGINT');
  const { code, stderr } = await ended;
  expect(stderr).not.toContain('has failed');
  expect(code).toBe(0);
  expect(performance.now() - beganMs).toBeLessThan(4500);
  const live = JSON.parse(readFileSync(join(data, 'strategy', 'live.json'), 'utf8')) as {
    log: { text: string }[];
  };
  expect(live.log.map(({ text }) => text)).toContain('has stopped');
}, 30_000);

/** Processes whose command line has these arguments. */
function processesOf(argumentsOf: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(argumentsOf)
      );
    } catch {
      return false;
    }
  }).length;
}

test('the strategy ends with a server that was killed', async () => {
  const { pid, sim, ended } = await started(join(folder, 'killed'));
  await sim('replay', { paused: true });
  const alive = (): number => processesOf(`live\0${strategy}`);
  expect(alive()).toBe(1);
  process.kill(pid, 'SIGKILL');
  await ended;
  await expect.poll(alive, { timeout: 60_000 }).toBe(0);
}, 30_000);

test.each([
  [
    'an empty key',
    (path: string) => {
      writeFileSync(path, '');
    },
    'is not a private key',
  ],
  [
    'a key that cannot be read',
    (path: string) => {
      mkdirSync(path);
    },
    'is a folder',
  ],
])('%s is reported with exit code 2, and the server ends', (_name, make, words) => {
  const data = mkdtempSync(join(folder, 'key-'));
  make(join(data, 'strategy.key'));
  const run = spawnSync(process.execPath, flags(data), {
    encoding: 'utf8',
    timeout: 8000,
    killSignal: 'SIGKILL',
  });
  expect(run.stderr).toContain(words);
  expect(run.status).toBe(2);
});
