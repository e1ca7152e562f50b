/** The demonstration: what its report promises, and that it replaces no other run unasked. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-demo-'));
const out = join(folder, 'of mine');
const read = (name: string): string => readFileSync(join(out, name), 'utf8');

beforeAll(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

test('a run of the user stays, and the report names commands that run', async () => {
  mkdirSync(out);
  writeFileSync(join(out, 'run.json'), '{"orrery": "run"}');
  writeFileSync(join(out, 'journal.orrery'), 'that of the user');
  expect(await main(['demo', '--out', out])).toBe(2);
  expect(read('journal.orrery')).toBe('that of the user');

  expect(await main(['demo', '--out', out, '--overwrite'])).toBe(0);
  expect(read('journal.orrery').length).toBeGreaterThan(1000);
  expect(existsSync(join(out, 'run.json'))).toBe(false);
  const { verify } = JSON.parse(read('report.json')) as { verify: string[] };
  // `npm run demo` is a script of the repository, and has another folder.
  expect(verify[0]).toMatch(/^npx orrery demo --out '.*of mine'$/);
  // A former demonstration is replaced.
  expect(await main(['demo', '--out', out])).toBe(0);
  // The folder has no record that `orrery explain` reads.
  expect(read('explain.html')).not.toContain('npx orrery explain');
}, 120_000);
