/**
 * Reproductions of planted bugs of all kinds: journal, scenario, test and script fail in a build
 * with the bug and pass in one without it. ORRERY_PROVE tests all of them and each script against
 * servers of both builds, a normal run a few and one script.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { EFFORT } from '../setup/effort.ts';
import { EXAMINER_BUGS } from './detection/examiner-bugs.ts';
import { REPRODUCED_BUGS } from './reproductions/bugs.ts';
import {
  buildWith,
  findFailure,
  judge,
  shrinkWithin,
  type Built,
} from './reproductions/prove-bug.ts';
import { runScript } from './reproductions/run-script.ts';

const bugs = EFFORT > 1 ? REPRODUCED_BUGS : REPRODUCED_BUGS.filter(({ quick }) => quick);
/** Processor time of the search and of shrinking, in seconds. */
const SEARCH = 120;
const SHRINK = EFFORT > 1 ? 60 : 3;

let sound: Built;
beforeAll(async () => {
  sound = await buildWith('sound', []);
});

test('there are bugs of every check, thirty or more', () => {
  expect(REPRODUCED_BUGS.length).toBeGreaterThanOrEqual(30);
  expect(new Set(REPRODUCED_BUGS.map(({ id }) => id)).size).toBe(REPRODUCED_BUGS.length);
});

test.each(bugs)('$id is reproduced', { timeout: 900_000 }, async (bug) => {
  const built = await buildWith(bug.id, [bug]);
  const { failed } = findFailure(built, bug.run ?? 0, SEARCH);
  expect(failed, 'is found').not.toBeNull();
  if (failed === null) return;
  const report = shrinkWithin(built, failed, SHRINK);
  const { from, to } = report.shrunk;
  console.log(`${bug.id}: run ${failed.run}, ${failed.violation.invariant}, ${from} -> ${to}`);
  const broken = judge(built, report);
  expect(broken.journal, 'the journal fails with the bug').not.toBeNull();
  expect(broken.scenario, 'the scenario fails with the bug').not.toBeNull();
  expect(judge(sound, report)).toEqual({ journal: null, scenario: null });
  // The generated test checks the journal in the same way.
  expect(report.files['regression.test.ts']).toContain('checkJournal(journal)');
  // A normal run starts the servers of one script.
  if (EFFORT === 1 && bug !== bugs[0]) return;
  expect(await runScript(bug.id, [bug], report), 'the script fails with the bug').toBe(1);
  expect(await runScript('sound', [], report), 'the script passes without it').toBe(0);
});

test('a fault that the reads of other checks hide fails its journal', async () => {
  const bug = EXAMINER_BUGS.find(({ id }) => id === 'adl-ranks-of-an-earlier-command');
  const built = await buildWith('hidden', bug === undefined ? [] : [bug]);
  const journal = readFileSync(join(import.meta.dirname, 'corpus/ranks-within-an-instant.orrery'));
  expect(built.checkJournal(journal)?.violation.invariant).toBe('oracle R-6.4');
  expect(sound.checkJournal(journal)).toBeNull();
});
