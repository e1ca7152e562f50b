/**
 * The mutant table matches the engine: each node exists exactly once, and a mutated program is
 * detected while the original is not.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { PLANTED_RULES } from '../economic/planted-rules.ts';
import { SUBTLE_BUGS } from '../fuzz/detection/subtle-bugs.ts';
import { PLANTED_BUGS } from '../fuzz/planted/bugs.ts';
import { REPRODUCED_BUGS } from '../fuzz/reproductions/bugs.ts';
import { bundle, mutate, sourcePath } from './build.ts';
import type { hunt } from './hunters.ts';
import { MUTANTS } from './mutants.ts';
import { reasonFaults, report, rowsOf, type Verdict } from './report.ts';
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
  '%s replaces a node that exists once',
  (_id, mutant) => {
    const source = readFileSync(sourcePath(mutant), 'utf8');
    expect(mutate(source, mutant)).not.toBe(source);
  },
);

/** Bugs of the other lists, by name. */
const PLANTED = [
  ...PLANTED_RULES.flatMap(({ id, edits }) =>
    edits.map((edit, i) => [`${id}, edit ${String(i + 1)}`, edit] as const),
  ),
  ...PLANTED_BUGS.map((bug) => [bug.name, { ...bug, file: `engine/${bug.file}` }] as const),
  ...REPRODUCED_BUGS.map((bug) => [bug.id, bug] as const),
  ...SUBTLE_BUGS.map((bug) => [bug.id, bug] as const),
];

test('every planted bug replaces a node that exists once', () => {
  for (const [id, edit] of PLANTED) {
    expect(() => mutate(readFileSync(sourcePath(edit), 'utf8'), { id, ...edit }), id).not.toThrow();
  }
});

const SOURCE = `
/** A comment with x + 1. */
function one(x: number) { return  x + 1; }
class Two {
  // x + 1
  one(x: number): string { const y = x
      + 1; return \`\${y} x + 1\`; }
  two(x: number) { return x + 1 + (x + 1); }
}`;
const mutateSource = (file: string, find: string): string =>
  mutate(SOURCE, { id: 'm', file, find, replace: 'x - 1' });

test('an edit finds its node in a declaration, whatever its line breaks and comments', () => {
  expect(mutateSource('a.ts#one', 'x+1')).toContain('return  x - 1; }\nclass');
  expect(mutateSource('a.ts#Two.one', 'x + /* more */ 1')).toContain('const y = x - 1; return');
});

test('an edit is rejected unless its node exists exactly once', () => {
  expect(() => mutateSource('a.ts', 'x + 1')).toThrow('more than one');
  expect(() => mutateSource('a.ts#Two.two', 'x + 1')).toThrow('more than one');
  expect(() => mutateSource('a.ts#Two', 'x + 2')).toThrow('has no place');
  expect(() => mutateSource('a.ts#three', 'x + 1')).toThrow('has no place');
  // Neighbouring tokens that are no node, and an edit that changes nothing.
  expect(() => mutateSource('a.ts#one', 'return x')).toThrow('has no place');
  expect(() => mutateSource('a.ts#one', 'x - 1')).toThrow('has no place');
  expect(() => mutate('x - 1', { id: 'm', file: 'a.ts', find: 'x - 1', replace: 'x - 1' })).toThrow(
    'equals its code',
  );
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

test('a report of some mutants keeps the rows of the others, and no row of a former one', () => {
  const [first, second, third] = MUTANTS;
  const kill = { rule: 'R-2.8', detail: '', seed: '', profile: '' };
  const verdict = (id: string, commands: number): Verdict => ({
    id,
    kills: [
      { hunter: 'invariants', kill: null },
      {
        hunter: 'oracle',
        kill: commands === 0 ? null : { ...kill, hunter: 'oracle', what: 'fees', commands },
      },
    ],
    seconds: 1,
  });
  const mutants = [first!, second!, third!];
  const former = { ...first!, id: 'a-former-bug' };
  const both = [verdict(former.id, 7), verdict(second!.id, 1234)];
  const page = report([former, second!], both, 120_000);
  expect(page).toContain('2 of 2 mutants of the engine killed, 100.0 %');
  const next = report(mutants, [verdict(first!.id, 0)], 120_000, rowsOf(page));
  expect(next).toContain('1 of 2 mutants of the engine killed, 50.0 %');
  expect(next).toContain('the oracle alone 1;');
  expect(next).toContain('1 more are not measured');
  expect(next).toContain(
    `| ${second!.id} | ${second!.rule} | ${second!.means} | never | fees 1,234 |  |`,
  );
  expect(next).toContain(`| ${first!.means} | never | never |  |`);
  expect(next).not.toContain(former.id);
  const again = report(mutants, [], 120_000, rowsOf(next));
  expect(again).toBe(next);
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
