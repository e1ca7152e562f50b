/**
 * Planted bugs: each is found in a run of 10,000 commands and shrinks to at most 1.5 times its
 * smallest case. Its report files reproduce it: the scenario fails with the bug and passes without
 * it. ORRERY_PROVE tests all of them, a normal run one.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { failureFiles } from '../../src/fuzz/report/failure-files.ts';
import { checkJournal } from '../../src/fuzz/check-journal.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';
import { EFFORT } from '../setup/effort.ts';
import { PLANTED_BUGS } from './planted/bugs.ts';
import { provePlanted } from './planted/prove.ts';

const COMMANDS = 10_000;
/** Written by a run of all of them. */
const PAGE = join(import.meta.dirname, '../../reports/prove/planted-bugs.md');
const rows: string[] = [];
afterAll(() => {
  if (EFFORT === 1 || rows.length < PLANTED_BUGS.length) return;
  const head = [
    '# Planted bugs',
    '',
    `Found in runs of ${COMMANDS} commands and shrunk (test/fuzz/planted.test.ts).`,
    '',
    '| bug | least | why | shrunk to | executions | s |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  writeFileSync(PAGE, [...head, ...rows, ''].join('\n'));
});
const bugs = EFFORT > 1 ? PLANTED_BUGS : PLANTED_BUGS.slice(5, 6);

test.each(bugs)('$name shrinks to about $least commands', { timeout: 300_000 }, async (bug) => {
  const { shrunk, seconds, built } = await provePlanted(bug, COMMANDS);
  console.log(
    `${bug.name}: ${shrunk.from} -> ${shrunk.to} commands (least ${bug.least}), ${shrunk.tests} executions, ${seconds.toFixed(1)} s`,
  );
  rows.push(
    `| ${bug.name} | ${bug.least} | ${bug.because} | ${shrunk.to} | ${shrunk.tests} | ${seconds.toFixed(1)} |`,
  );
  expect(shrunk.complete).toBe(true);
  expect(shrunk.violation.invariant).toBe(bug.invariant);
  expect(shrunk.to).toBeLessThanOrEqual(1.5 * bug.least);

  const files = failureFiles(shrunk, {
    createEngine: (config) => new built.Exchange(config),
    keccak,
    origin: [`planted: ${bug.name}`],
  });
  // The journal violates the invariant with the bug, and satisfies it without.
  const journal = files['journal.orrery'] as Uint8Array;
  expect(checkJournal(journal)).toBeNull();
  const judged = built.checkJournal(journal, { checks: ['state', 'stream'] });
  expect(judged?.violation.invariant).toBe(bug.invariant);
  // The scenario behaves likewise.
  const text = files['scenario.yaml'] as string;
  const run = (build: Pick<typeof built, 'parseScenario' | 'runScenario'>): readonly string[] => {
    const parsed = build.parseScenario(text, 'scenario.yaml', keccak);
    expect(parsed.ok ? [] : parsed.problems, text).toEqual([]);
    if (!parsed.ok) return [];
    const { steps } = build.runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
    return steps.flatMap(({ differences }) => differences.map(({ path }) => path));
  };
  expect(run({ parseScenario, runScenario }), text).toEqual([]);
  const paths = run(built);
  expect(paths.length, text).toBeGreaterThan(0);
  if (bug.inState) expect(paths, text).toContain(`invariants.${bug.invariant}`);
  expect(files['requests.sh']).toContain(bug.invariant);
});
