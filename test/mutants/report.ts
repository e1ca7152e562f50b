/** Report of the mutation score. */
import { HUNTERS, type Hunter, type Kill } from './hunters.ts';
import type { Mutant } from './mutant.ts';
import { SURVIVORS } from './survivors.ts';

/** Required percentage of killed mutants. */
export const SCORE_NEEDED = 95;

export interface Verdict {
  readonly id: string;
  /** Result of each hunter; null if it used its budget without a violation. */
  readonly kills: readonly { readonly hunter: Hunter; readonly kill: Kill | null }[];
  readonly seconds: number;
}

export function scoreOf(verdicts: readonly Verdict[]): { killed: number; score: number } {
  const killed = verdicts.filter(isKilled).length;
  return { killed, score: verdicts.length === 0 ? 0 : (100 * killed) / verdicts.length };
}

/** Faulty reasons: a survivor without one, or a reason for a killed mutant. */
export function reasonFaults(
  mutants: readonly Mutant[],
  verdicts: readonly Verdict[],
  reasons: Readonly<Record<string, string>> = SURVIVORS,
): string[] {
  return mutants.flatMap(({ id }) => {
    const verdict = verdicts.find((other) => other.id === id);
    if (verdict === undefined) return [];
    const reason = reasons[id] !== undefined;
    if (isKilled(verdict) === reason) {
      return [reason ? `${id} is killed: its reason is stale` : `${id} survives without a reason`];
    }
    return [];
  });
}

function isKilled({ kills }: Verdict): boolean {
  return kills.some(({ kill }) => kill !== null);
}

/** Cells of a mutant: the check of each kind that kills it, and after how many commands. */
interface Cells {
  readonly invariants: string;
  readonly oracle: string;
  readonly itself: string;
}

/** Rows of a page by mutant. */
export function rowsOf(page: string): ReadonlyMap<string, Cells> {
  const rows = page.matchAll(/^\| ([\w-]+) \| .* \| (.*?) \| (.*?) \| (.*?) \|$/gm);
  return new Map(
    [...rows].map(([, id = '', invariants = '', oracle = '', itself = '']) => [
      id,
      { invariants, oracle, itself },
    ]),
  );
}

/** `earlier`: rows of mutants without a verdict, as they were measured before. */
export function report(
  mutants: readonly Mutant[],
  verdicts: readonly Verdict[],
  budget: number,
  earlier: ReadonlyMap<string, Cells> = new Map(),
): string {
  const measured = mutants.flatMap((mutant) => {
    const verdict = verdicts.find(({ id }) => id === mutant.id);
    const cells = verdict === undefined ? earlier.get(mutant.id) : cellsOf(verdict);
    return cells === undefined ? [] : [{ mutant, cells }];
  });
  const by = (kinds: readonly (keyof Cells)[]): number =>
    measured.filter(({ cells }) => kinds.some((kind) => isKill(cells[kind]))).length;
  const killed = by(['invariants', 'oracle', 'itself']);
  const score = measured.length === 0 ? 0 : (100 * killed) / measured.length;
  const survivors = measured.filter(({ cells }) => !Object.values(cells).some(isKill));
  const unmeasured = mutants.length - measured.length;
  return [
    '# Mutation score',
    '',
    `\`npm run mutants\`: ${String(killed)} of ${String(measured.length)} mutants of the engine killed, ${score.toFixed(1)} %. ` +
      `Invariants alone kill ${String(by(['invariants']))}, the oracle alone ${String(by(['oracle']))}; the oracle spends at most ${budget.toLocaleString('en')} commands on a mutant, invariants a sixteenth of that.` +
      (unmeasured === 0 ? '' : ` ${String(unmeasured)} more are not measured.`),
    '',
    'A number counts the random commands of all runs until detection. “Itself” compares the exchange with itself: restored from a',
    'snapshot, or with every time step split; it runs only for survivors of the others. A run with `--only` measures some rows',
    'again, so rows may be of several versions.',
    '',
    '| mutant | rule | effect | invariants | oracle | itself |',
    '| --- | --- | --- | --- | --- | --- |',
    ...measured.map(
      ({ mutant: { id, rule, means }, cells: { invariants, oracle, itself } }) =>
        `| ${id} | ${rule} | ${means} | ${invariants} | ${oracle} | ${itself} |`,
    ),
    '',
    '## Survivors',
    '',
    ...(survivors.length === 0
      ? ['None.']
      : survivors.map(
          ({ mutant: { id, means } }) =>
            `- ${id} (${means}): ${SURVIVORS[id] ?? 'no reason is known'}`,
        )),
    '',
  ].join('\n');
}

const isKill = (cell: string): boolean => cell !== '' && cell !== 'never';

function cellsOf(verdict: Verdict): Cells {
  const itself = HUNTERS.slice(2).map((hunter) => cellOf(verdict, hunter));
  return {
    invariants: cellOf(verdict, 'invariants'),
    oracle: cellOf(verdict, 'oracle'),
    itself: itself.filter(isKill).join(', '),
  };
}

function cellOf({ kills }: Verdict, hunter: Hunter): string {
  const found = kills.find((entry) => entry.hunter === hunter);
  if (found === undefined) return '';
  if (found.kill === null) return 'never';
  return `${found.kill.what.replace(/ of (subaccount|order|market) \d+.*$/, '')} ${found.kill.commands.toLocaleString('en')}`;
}
