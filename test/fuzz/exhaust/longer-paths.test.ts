/**
 * Mutants that change a state at the depth to which they were explored, and an event only later:
 * one longer path of a world finds each.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type { OperationName } from '../../../src/fuzz/exhaust/operations.ts';
import { WORLDS } from '../../../src/fuzz/exhaust/worlds.ts';
import { bundle } from '../../mutants/build.ts';
import { MUTANTS } from '../../mutants/mutants.ts';
import * as sound from './entry.ts';

type Built = typeof sound;

const scratch = mkdtempSync(join(tmpdir(), 'orrery-paths-'));
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

/** The rule that the last operation of a path violates; null if none. */
function violated(built: Built, path: readonly OperationName[]): string | null {
  const last = path.at(-1);
  if (last === undefined) throw new Error('a path has operations');
  const walk = new built.CheckedWalk(path);
  const way = walk.moveTo(Uint8Array.from(path.slice(0, -1), (_, i) => i));
  expect(way).toBeNull();
  return walk.enter(last).violation?.rule ?? null;
}

test.each([
  ['triggers-watch-index', 'R-2.8', ['xRises', 'second', 'annProtects']],
  ['trailing-stands-still', 'R-4.3', ['xFalls', 'annTrails', 'xRises', 'xFalls']],
] as const)('%s violates %s on a longer path', async (id, rule, path) => {
  const names: readonly OperationName[] = WORLDS.orders;
  expect(path.every((name) => names.includes(name))).toBe(true);
  expect(violated(sound, path)).toBeNull();
  expect(violated(await buildWith(id), path)).toBe(rule);
});
