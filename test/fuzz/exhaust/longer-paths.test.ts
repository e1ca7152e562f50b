/**
 * Paths that find a mutant or a bug. The first mutants change a state at the depth to which they
 * were explored, and an event only later. Campaigns miss the bugs of the prepared worlds.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { OperationName } from '../../../src/fuzz/exhaust/operations.ts';
import { WORLDS, type WorldName } from '../../../src/fuzz/exhaust/worlds.ts';
import { bundleWith } from '../../mutants/build.ts';
import { MUTANTS } from '../../mutants/mutants.ts';
import { SUBTLE_BUGS } from '../detection/subtle-bugs.ts';
import * as sound from './entry.ts';

type Built = typeof sound;

const scratch = mkdtempSync(join(tmpdir(), 'orrery-paths-'));
const entry = fileURLToPath(new URL('./entry.ts', import.meta.url));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

async function buildWith(id: string): Promise<Built> {
  const mutant = [...MUTANTS, ...SUBTLE_BUGS].find((one) => one.id === id);
  if (mutant === undefined) throw new Error(`no mutant ${id}`);
  const file = join(scratch, `${id}.mjs`);
  await bundleWith(entry, file, id, [mutant]);
  return (await import(pathToFileURL(file).href)) as Built;
}

/** The rule that the last operation of a path violates; null if none. */
function violated(built: Built, world: WorldName, path: readonly OperationName[]): string | null {
  const last = path.at(-1);
  if (last === undefined) throw new Error('a path has operations');
  const walk = new built.CheckedWalk(world, path);
  const way = walk.moveTo(Uint8Array.from(path.slice(0, -1), (_, i) => i));
  expect(way).toBeNull();
  const { violation } = walk.enter(last);
  walk.leave();
  return (violation ?? walk.enterRestored(last))?.rule ?? null;
}

test.each([
  ['triggers-watch-index', 'R-2.8', ['xRises', 'second', 'annProtects']],
  ['trailing-stands-still', 'R-4.3', ['xFalls', 'annTrails', 'xRises', 'xFalls']],
] as const)('%s violates %s on a longer path', async (id, rule, path) => {
  const names: readonly OperationName[] = WORLDS.orders;
  expect(path.every((name) => names.includes(name))).toBe(true);
  expect(violated(sound, 'orders', path)).toBeNull();
  expect(violated(await buildWith(id), 'orders', path)).toBe(rule);
});

test.each([
  ['frozen-ratio-releases-margin', 'R-1.6', 'frozen', ['bobCutsMargin']],
  ['thaw-does-not-resume-the-basis', 'R-5.3', 'frozen', ['xHalts', 'second']],
  ['reduce-only-maker-frees-margin', 'R-2.5', 'thin', ['annDumps', 'bobBuys']],
  ['vault-quotes-beyond-the-last-price', 'R-2.8', 'vault', ['zTops', 'pause']],
  ['vault-snapshot-before-liquidation', 'R-8.3', 'vault', ['xTightens', 'pause']],
  ['restored-freeze-is-new', 'docs/DETERMINISM.md', 'debt', ['xHalts']],
] as const)('%s violates %s in the prepared world %s', async (id, rule, world, path) => {
  const names: readonly OperationName[] = WORLDS[world];
  expect(path.every((name) => names.includes(name))).toBe(true);
  expect(violated(sound, world, path)).toBeNull();
  expect(violated(await buildWith(id), world, path)).toBe(rule);
});
