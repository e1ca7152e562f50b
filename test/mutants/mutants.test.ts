/**
 * The mutant table matches the engine: each text occurs exactly once, and a mutated program is
 * detected while the original is not.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { PLANTED_RULES } from '../economic/planted-rules.ts';
import { PLANTED_BUGS } from '../fuzz/planted/bugs.ts';
import { bundle, mutate, sourcePath } from './build.ts';
import type { hunt } from './hunters.ts';
import { MUTANTS } from './mutants.ts';
import { reasonFaults, type Verdict } from './report.ts';
import { SURVIVORS } from './survivors.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-mutants-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test('there are enough mutants, each with a unique name', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length);
});

test('every chapter of numbered rules has a mutant', () => {
  const chapters = new Set(MUTANTS.map(({ rule }) => /^R-(\d+)/.exec(rule)?.[1] ?? rule));
  for (const chapter of ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '12', '13']) {
    expect(chapters, `no mutant breaks a rule of chapter ${chapter}`).toContain(chapter);
  }
});

test.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
  '%s replaces a text that occurs once',
  (_id, mutant) => {
    const source = readFileSync(sourcePath(mutant), 'utf8');
    expect(mutate(source, mutant)).not.toBe(source);
  },
);

test.each(
  PLANTED_RULES.flatMap(({ id, edits }) =>
    edits.map((edit, i) => [`${id}, edit ${String(i + 1)}`, edit] as const),
  ),
)('planted rule %s replaces a text that occurs once', (id, edit) => {
  const source = readFileSync(sourcePath(edit), 'utf8');
  expect(source.split(edit.find).length - 1, id).toBe(1);
});

test.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))(
  'planted bug %s replaces a text that occurs once',
  (name, { file, find }) => {
    const source = readFileSync(sourcePath({ file: `engine/${file}`, find, replace: '' }), 'utf8');
    expect(source.split(find).length - 1, name).toBe(1);
  },
);

test('a text that does not occur exactly once is rejected', () => {
  const mutant = { id: 'x', file: 'a.ts', find: 'one', replace: 'two', means: '', rule: '' };
  expect(() => mutate('none', mutant)).not.toThrow();
  expect(() => mutate('nil', mutant)).toThrow('occurs 0 times');
  expect(() => mutate('one one', mutant)).toThrow('occurs 2 times');
});

test('every explained survivor is a mutant', () => {
  for (const id of Object.keys(SURVIVORS)) expect(MUTANTS.map((mutant) => mutant.id)).toContain(id);
});

test('a survivor without a reason and a reason for a killed mutant are faults', () => {
  const mutants = ['dies', 'lives', 'excused', 'unasked'].map((id) => ({
    ...{ id, file: '', find: '', replace: '', means: '', rule: '' },
  }));
  const found = { what: '', rule: '', detail: '', commands: 1, seed: '', profile: '' };
  const verdict = (id: string, killed: boolean): Verdict => ({
    id,
    kills: [{ hunter: 'oracle', kill: killed ? { hunter: 'oracle', ...found } : null }],
    seconds: 0,
  });
  const verdicts = [verdict('dies', true), verdict('lives', false), verdict('excused', false)];
  expect(reasonFaults(mutants, verdicts, { excused: 'why' })).toEqual([
    'lives survives without a reason',
  ]);
  expect(reasonFaults(mutants, verdicts, { excused: 'why', lives: 'why', dies: 'why' })).toEqual([
    'dies is killed: its reason is stale',
  ]);
});

test('the sources do not refer to mutants', () => {
  const root = fileURLToPath(new URL('../../src/engine/', import.meta.url));
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.ts')) expect(readFileSync(join(root, name), 'utf8')).not.toMatch(/mutant/i);
  }
});

async function huntWith(id: string | null): Promise<ReturnType<typeof hunt>> {
  const mutant = MUTANTS.find((other) => other.id === id) ?? null;
  const file = join(scratch, `${id ?? 'sound'}.mjs`);
  await bundle(fileURLToPath(new URL('./hunters.ts', import.meta.url)), file, mutant);
  const built = (await import(pathToFileURL(file).href)) as { hunt: typeof hunt };
  return built.hunt('invariants', 4000, 'matching');
}

test('a mutated program is detected, the original is not', async () => {
  expect(await huntWith(null)).toBeNull();
  expect(await huntWith('originator-fee-from-nowhere')).toMatchObject({ what: 'conservation' });
  expect(await huntWith('flip-forgets-opened-cost')).toMatchObject({ hunter: 'invariants' });
});
