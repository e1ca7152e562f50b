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

export function report(
  mutants: readonly Mutant[],
  verdicts: readonly Verdict[],
  budget: number,
): string {
  const { killed, score } = scoreOf(verdicts);
  const by = (hunter: Hunter): number =>
    verdicts.filter(({ kills }) =>
      kills.some((found) => found.hunter === hunter && found.kill !== null),
    ).length;
  const rows = mutants.map((mutant) => {
    const verdict = verdicts.find(({ id }) => id === mutant.id);
    const cell = (hunter: Hunter): string => cellOf(verdict, hunter);
    return `| ${mutant.id} | ${mutant.rule} | ${mutant.means} | ${cell('invariants')} | ${cell('oracle')} | ${selfCell(verdict)} |`;
  });
  const survivors = mutants.filter(
    ({ id }) => !verdicts.some((verdict) => verdict.id === id && isKilled(verdict)),
  );
  return [
    '# Mutation score',
    '',
    `\`npm run mutants\`: ${String(killed)} of ${String(verdicts.length)} mutants of the engine killed, ${score.toFixed(1)} %. ` +
      `Invariants alone kill ${String(by('invariants'))}, the oracle alone ${String(by('oracle'))}; the oracle spends at most ${budget.toLocaleString('en')} commands on a mutant, invariants a sixteenth of that.`,
    '',
    'A number counts the random commands of all runs until detection. “Itself” compares the exchange with itself: restored from a',
    'snapshot, or with every time step split; it runs only for survivors of the others.',
    '',
    '| mutant | rule | effect | invariants | oracle | itself |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    '## Survivors',
    '',
    ...(survivors.length === 0
      ? ['None.']
      : survivors.map(
          ({ id, means }) => `- ${id} (${means}): ${SURVIVORS[id] ?? 'no reason is known'}`,
        )),
    '',
  ].join('\n');
}

function cellOf(verdict: Verdict | undefined, hunter: Hunter): string {
  const found = verdict?.kills.find((entry) => entry.hunter === hunter);
  if (found === undefined) return '';
  if (found.kill === null) return 'never';
  return `${found.kill.what.replace(/ of (subaccount|order|market) \d+.*$/, '')} ${found.kill.commands.toLocaleString('en')}`;
}

function selfCell(verdict: Verdict | undefined): string {
  return HUNTERS.slice(2)
    .map((hunter) => cellOf(verdict, hunter))
    .filter((text) => text !== '' && text !== 'never')
    .join(', ');
}
