/** `orrery diff` on the command line: text, JSON, exit codes. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'dist', 'cli', 'main.js');
const scratch = mkdtempSync(join(tmpdir(), 'orrery-diff-'));
const scenario = join(root, 'scenarios', 'fees.yaml');

function orrery(...args: string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: scratch,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
  orrery('run', scenario, '--journal', 'a.orrery');
  const text = readFileSync(scenario, 'utf8').replace(/deposit: (\d+)/, 'deposit: 77$1');
  writeFileSync(join(scratch, 'other.yaml'), text);
  orrery('run', 'other.yaml', '--journal', 'b.orrery');
  mkdirSync(join(scratch, 'run'));
  writeFileSync(join(scratch, 'run', 'journal.orrery'), readFileSync(join(scratch, 'a.orrery')));
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('the same run, once as a file and once as a folder', () => {
  const { status, out } = orrery('diff', 'a.orrery', 'run');
  expect(out).toMatch(/same: .*\nchain hash {2}[0-9a-f]{32}\nstate hash {2}[0-9a-f]{64}\n$/);
  expect(status).toBe(0);
});

test('reports the first command and event that differ, with the state before and after', () => {
  const { status, out } = orrery('diff', 'a.orrery', 'b.orrery');
  expect(status).toBe(1);
  expect(out).toContain('different: their commands differ; their events differ');
  expect(out).toMatch(
    /first command that differs, after \d+ equal commands\n {2}a {2}#\d+ deposit: /,
  );
  expect(out).toMatch(
    /first event that differs, after \d+ equal events\n {2}a {2}#\d+\.0 balanceChanged: /,
  );
  expect(out).toMatch(/│ {3}cash +│ .* │ a \d+ +│ ≠ │/);
});

test('JSON for programs, with the requested context', () => {
  const { status, out } = orrery('diff', 'a.orrery', 'b.orrery', '--json', '--context', '1');
  expect(status).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    same: false,
    prefix: null,
    firstCommand: { a: { kind: 'deposit' }, b: { kind: 'deposit' }, fields: [{ field: 'amount' }] },
    firstEvent: { a: { kind: 'balanceChanged' } },
    around: { a: { earlier: [{}], later: [{}] } },
  });
});

test.each([
  [['diff', 'a.orrery', 'missing.orrery'], 'missing.orrery: no such file or folder'],
  [['diff', 'a.orrery', 'other.yaml'], 'other.yaml: not a journal'],
  [['diff', 'a.orrery'], 'missing <b>: second journal'],
  [['diff', 'a.orrery', 'b.orrery', '--context', '-1'], '--context must be a whole number from 0'],
])('%j is rejected', (args, message) => {
  const { status, err } = orrery(...args);
  expect(err).toContain(message);
  expect(status).toBe(2);
});

test('a flipped bit is reported with file, command and byte', () => {
  const bytes = readFileSync(join(scratch, 'a.orrery'));
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 4;
  writeFileSync(join(scratch, 'damaged.orrery'), bytes);
  const { status, err } = orrery('diff', 'a.orrery', 'damaged.orrery');
  expect(err).toMatch(
    /damaged\.orrery: journal (at byte \d+, after command \d+|header): .*checksum/,
  );
  expect(status).toBe(2);
});

test('a torn tail is reported, and complete commands are compared', () => {
  const bytes = readFileSync(join(scratch, 'a.orrery'));
  writeFileSync(join(scratch, 'torn.orrery'), bytes.subarray(0, bytes.length - 3));
  const { status, out } = orrery('diff', 'a.orrery', 'torn.orrery');
  expect(out).toContain('not closed, torn at byte');
  expect(out).toContain('same: configuration, commands');
  expect(status).toBe(0);
});
