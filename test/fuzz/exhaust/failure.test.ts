/** Bugs of the engine are found at their least depth, and written as `orrery fuzz` writes them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { WORLD_NAMES } from '../../../src/fuzz/exhaust/worlds.ts';
import { keccak } from '../../../src/wallet/crypto-ports.ts';
import { bundle } from '../../mutants/build.ts';
import { MUTANTS } from '../../mutants/mutants.ts';
import * as sound from './entry.ts';

type Built = typeof sound;

const ONE = { worlds: WORLD_NAMES, depth: 1, checkedDepth: 1 } as const;

const scratch = mkdtempSync(join(tmpdir(), 'orrery-exhaust-'));
const entry = fileURLToPath(new URL('./entry.ts', import.meta.url));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

async function buildWith(id: string): Promise<Built> {
  const mutant = MUTANTS.find((one) => one.id === id);
  if (mutant === undefined) throw new Error(`no mutant ${id}`);
  const file = join(scratch, `${id}.mjs`);
  await bundle(entry, file, mutant);
  return (await import(pathToFileURL(file).href)) as Built;
}

/** First violation that any check finds in a journal; null if there is none. */
function violationIn(built: Built, journal: Uint8Array): string | null {
  const checker = built.allOf(built.allInvariants(1), built.oracleLockstep(built.CONFIG));
  return built.checkJournal(journal, { checker })?.violation.invariant ?? null;
}

const expandRoot = (built: Built, world: 'orders' | 'small') =>
  new built.Expander({ world, depth: 1, oracleDepth: 1, samplePpm: 0, digest: false }).expand({
    length: 0,
    count: 1,
    paths: new Uint8Array(),
  });

test('a bug is found by one operation, and its journal fails until it is fixed', async () => {
  const broken = await buildWith('self-trade-mode-of-exchange-only');
  const { failure } = expandRoot(broken, 'orders');
  expect(failure).toMatchObject({ violation: { rule: 'R-2.4' }, other: null });
  if (failure === null) return;
  expect(sound.namesOf('orders', failure.path)).toEqual(['annEndsBoth']);
  const { files, commands } = broken.exhaustReport('orders', failure, {
    keccak,
    origin: ['again'],
  });
  expect(Object.keys(files).sort()).toEqual(
    expect.arrayContaining([
      'README.md',
      'journal.orrery',
      'regression.test.ts',
      'requests.sh',
      'scenario.yaml',
    ]),
  );
  expect(files['README.md']).toContain('operations: annEndsBoth');
  const journal = files['journal.orrery'] as Uint8Array;
  expect(violationIn(broken, journal)).toBe(failure.violation.invariant);
  expect(violationIn(sound, journal)).toBeNull();
  // The shrinker removes what the failure does not need from the opening.
  expect(commands).toBeLessThan(sound.commandsOfPath('orders', failure.path).length);
  expect(expandRoot(sound, 'orders').failure).toBeNull();
});

test('a failure of a comparison is written with both journals', () => {
  const violation = { invariant: 'mergedStates', rule: 'R', says: 'says', detail: 'found' };
  const { files, commands } = sound.exhaustReport(
    'small',
    { path: [0, 12], other: [12, 0], violation },
    { keccak, origin: ['again'] },
  );
  expect(Object.keys(files).sort()).toEqual(['README.md', 'journal.orrery', 'other.orrery']);
  expect(violationIn(sound, files['other.orrery'] as Uint8Array)).toBeNull();
  expect(commands).toBe(sound.commandsOfPath('small', [0, 12]).length);
  expect(files['README.md']).toContain('leads to the same state');
});

test('the digest of a build is reproducible, and a broken build fails', async () => {
  const [one, again] = [sound.explore(ONE), sound.explore(ONE)];
  expect(one.failure).toBeNull();
  expect(again.digests).toEqual(one.digests);
  const broken = await buildWith('ceil-truncates');
  expect(broken.explore(ONE).failure?.violation.rule).toBe('R-6.2');
});
