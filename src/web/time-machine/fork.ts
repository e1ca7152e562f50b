/** The fork of the page: its edits, and how its run differs from the recorded one. */
import { signal } from '@preact/signals';
import type { BranchComparison } from '../../time-machine/what-if/branch.ts';
import type { EditText } from './edits.ts';
import { engine } from './store.ts';

export const edits = signal<readonly EditText[]>([]);
export const comparison = signal<BranchComparison | null>(null);
export const status = signal('');
export const problem = signal<string | null>(null);

/** A newer fork replaces one that is still executed. */
let runs = 0;

export async function runFork(all: readonly EditText[]): Promise<void> {
  runs += 1;
  const mine = runs;
  const before = { edits: edits.value, comparison: comparison.value };
  edits.value = all;
  comparison.value = null;
  problem.value = null;
  status.value = '';
  if (all.length === 0) return;
  status.value = 'executing both runs …';
  try {
    const made = await engine.branch(all);
    if (mine !== runs) return;
    comparison.value = made;
  } catch (error) {
    if (mine !== runs) return;
    problem.value = (error as Error).message;
    // A refused edit is not kept: each later fork would be refused with it.
    edits.value = before.edits;
    comparison.value = before.comparison;
  }
  status.value = '';
  // The form may fill the pane.
  requestAnimationFrame(() => {
    const fault = document.querySelector('.fork [role=alert]');
    if (fault === null) document.querySelector('.verdict')?.scrollIntoView({ block: 'start' });
    else fault.scrollIntoView({ block: 'nearest' });
  });
}
