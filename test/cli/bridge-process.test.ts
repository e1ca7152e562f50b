/** `orrery bridge` with messages and folders that a program gets wrong. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const data = fileURLToPath(new URL('../../data/btcusdt-20240808', import.meta.url));
const options = { data, to: '2024-08-08T23:54:30Z' };
const folder = mkdtempSync(join(tmpdir(), 'orrery-bridge-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Exit code and last message of a bridge that reads these lines. */
function bridge(...lines: readonly unknown[]): { code: number | null; last: unknown } {
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { status, stdout } = spawnSync(process.execPath, [MAIN, 'bridge'], {
    input,
    encoding: 'utf8',
  });
  return { code: status, last: JSON.parse(stdout.trim().split('\n').at(-1) ?? '') };
}

const failure = (message: string): object => ({
  code: 2,
  last: { error: { message: expect.stringContaining(message) as unknown } },
});

describe('a message without its field is an error, not the end', () => {
  const environment = { kind: 'environment', stepUs: 1_000_000, maxPosition: 0.05, options };
  const strategy = { kind: 'strategy', handlers: ['onStart'], options };

  test.each([
    ['an action before an episode', [environment, { a: [0] }], "must have 'reset' or 'a'"],
    ['an unknown name', [environment, { reset: 1 }, { action: [0] }], "must have 'reset' or 'a'"],
    ['a seed of another kind', [environment, { reset: {} }], 'reset: must be a seed'],
    ['no actions', [strategy, { action: [['log', 'a']] }], 'actions: must be a list of lists'],
    ['an action without values', [strategy, { actions: [null] }], 'actions: must be a list'],
  ])('%s', (_, lines, message) => {
    expect(bridge(...lines)).toMatchObject(failure(message));
  });
});

test('the end of its reader is no error', () => {
  const environment = { kind: 'environment', stepUs: 1_000_000, maxPosition: 0.05, options };
  const [first, reset, act] = [environment, { reset: 1 }, { a: [0] }].map((line) =>
    JSON.stringify(line),
  );
  const script = `(echo '${first!}'; echo '${reset!}'; sleep 3; yes '${act!}') |
    { "$0" "$1" bridge; echo "code $?" >&2; } | head -c 10 > /dev/null`;
  const { stderr } = spawnSync('bash', ['-c', script, process.execPath, MAIN], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('code 0\n');
});

describe('the folder of a result', () => {
  const out = join(folder, 'out');
  const run = (): ReturnType<typeof bridge> =>
    bridge({ kind: 'strategy', handlers: [], options, out });

  test('has the last result of a bridge alone', () => {
    expect(run().code).toBe(0);
    const files = readdirSync(out);
    writeFileSync(join(out, 'time-machine.html'), 'of an earlier run');
    expect(run().code).toBe(0);
    expect(readdirSync(out)).toEqual(files);
    expect(existsSync(join(out, 'index.html'))).toBe(true);
  });

  test.each(['journal.orrery', 'plan.json', 'checkpoint.bin', 'live.json'])(
    'keeps a run with %s',
    (name) => {
      const before = readFileSync(join(out, 'run.json'), 'utf8');
      writeFileSync(join(out, name), '{"orrery":"run"}');
      expect(run()).toMatchObject(failure(`holds ${name} of another run; choose another folder`));
      expect(readFileSync(join(out, 'run.json'), 'utf8')).toBe(before);
      rmSync(join(out, name));
    },
  );

  test('is left to the run that writes to it', () => {
    writeFileSync(join(out, 'run.pid'), `${String(process.pid)}\n`);
    expect(run()).toMatchObject(failure('is writing a run to it'));
    rmSync(join(out, 'run.pid'));
  });

  test('is not made by a run that fails', () => {
    const none = join(folder, 'none');
    expect(bridge({ kind: 'strategy', handlers: ['onStart'], options, out: none })).toMatchObject(
      failure('the other process has ended'),
    );
    expect(existsSync(none)).toBe(false);
  });
});
