/** Invariants that a command broke: known for the commands that a run found. */
import { signal } from '@preact/signals';
import { engine } from './store.ts';

export interface Broken {
  readonly seq: number;
  readonly texts: readonly string[];
}

export const broken = signal<Broken | null>(null);

/** Returns the texts; empty if every invariant holds after the command. */
export async function findViolations(seq: number): Promise<readonly string[]> {
  const texts = await engine.violationsAt(seq);
  broken.value = { seq, texts };
  return texts;
}
