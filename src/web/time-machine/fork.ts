/** The fork of the page: its edits, and how its run differs from the recorded one. */
import { signal } from '@preact/signals';
import type { BranchComparison } from '../../time-machine/what-if/branch.ts';
import type { EditText } from './edits.ts';
import { engine } from './store.ts';

export const edits = signal<readonly EditText[]>([]);
export const comparison = signal<BranchComparison | null>(null);
export const status = signal('');
export const problem = signal<string | null>(null);

export async function runFork(all: readonly EditText[]): Promise<void> {
  edits.value = all;
  comparison.value = null;
  problem.value = null;
  if (all.length === 0) return;
  status.value = 'executing both runs …';
  try {
    comparison.value = await engine.branch(all);
  } catch (error) {
    problem.value = (error as Error).message;
  }
  status.value = '';
  // The form may fill the pane.
  requestAnimationFrame(() => {
    const result = document.querySelector('#comparison, .fork [role=alert]');
    result?.scrollIntoView({ block: 'nearest' });
  });
}
