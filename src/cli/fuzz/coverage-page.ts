/**
 * `coverage.md` of a campaign's folder: the states, refusals and order ends that it never reached,
 * and a row for each session so far, which `coverage.json` keeps.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COVERED_STATE_NAMES, COVERED_STATES, statesNeverReached } from '../../fuzz/coverage.ts';
import { ownStates } from '../../fuzz/campaign.ts';
import { neverReached } from '../../fuzz/reached-counts.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import type { CampaignState } from './campaign-state.ts';

/** One session of `orrery fuzz` in this folder. */
interface Session {
  readonly seed: string;
  readonly profile: string;
  readonly runs: number;
  readonly commands: number;
  readonly states: number;
  readonly others: number;
  /** States of the user that were reached, and their number; absent without any. */
  readonly own?: readonly [reached: number, number: number];
  readonly failures: number;
}

const MAX_SESSIONS = 200;

export async function writeCoverage(folder: string, state: CampaignState): Promise<void> {
  const history = await readHistory(join(folder, 'coverage.json'));
  const never = statesNeverReached(state.counts);
  const others = neverReached(state.counts);
  const own = ownStates(state.counts);
  const session: Session = {
    seed: state.plan.seed,
    profile: state.plan.profile,
    runs: state.runs,
    commands: state.commands,
    states: COVERED_STATE_NAMES.length - never.length,
    others: others.length,
    failures: state.failures.length,
    ...(own.length === 0
      ? {}
      : { own: [own.filter(([, count]) => count > 0).length, own.length] as const }),
  };
  const sessions = [...history, session].slice(-MAX_SESSIONS);
  const lines = [
    '# Coverage',
    '',
    '## States',
    '',
    '| state | rule | reached | meaning |',
    '| --- | --- | --- | --- |',
    ...COVERED_STATE_NAMES.map((name) => {
      const [rule, says] = COVERED_STATES[name];
      return `| ${name} | ${rule} | ${String(state.counts[`sometimes ${name}`] ?? 'never')} | ${says} |`;
    }),
    '',
    ...ownLines(state),
    '## Refusals and order ends that never occurred',
    '',
    ...(others.length === 0 ? ['None.'] : others.map((what) => `- ${what}`)),
    '',
    '## Sessions',
    '',
    '| seed | profile | runs | commands | states | of --states | never occurred | failures |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...sessions.map(
      (one) =>
        `| ${one.seed} | ${one.profile} | ${String(one.runs)} | ${String(one.commands)} | ${String(one.states)} of ${String(COVERED_STATE_NAMES.length)} | ${one.own === undefined ? '–' : `${String(one.own[0])} of ${String(one.own[1])}`} | ${String(one.others)} | ${String(one.failures)} |`,
    ),
    '',
  ];
  await write(join(folder, 'coverage.md'), lines.join('\n'));
  await write(join(folder, 'coverage.json'), `${JSON.stringify(sessions, null, 2)}\n`);
}

/** States of the user, if the campaign has some. */
function ownLines({ counts }: CampaignState): readonly string[] {
  const own = ownStates(counts);
  if (own.length === 0) return [];
  return [
    '## States of --states',
    '',
    '| state | reached |',
    '| --- | --- |',
    ...own.map(([name, count]) => `| ${inCell(name)} | ${count === 0 ? 'never' : String(count)} |`),
    '',
  ];
}

const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

const write = (path: string, text: string): Promise<void> =>
  writeWholeFile(path, new TextEncoder().encode(text));

/** Empty if there is no readable history. */
async function readHistory(path: string): Promise<readonly Session[]> {
  try {
    const saved: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Array.isArray(saved) ? (saved as Session[]) : [];
  } catch {
    return [];
  }
}
