/** The changes of a fork in sentences: the answer before the numbers. */
import { grouped } from '../../design/number-text.ts';
import type { BranchComparison } from '../../time-machine/what-if/branch.ts';
import { count, result } from '../exact-text.ts';
import type { EditText } from './edits.ts';

type Collateral = Extract<EditText, { kind: 'collateral' }>;

/** Names before the rest is counted. */
const NAMED = 6;

export function verdictOf(of: BranchComparison, edits: readonly EditText[]): string[] {
  if (of.firstDivergence === null) return ['The edit changes nothing: both runs are the same.'];
  const [base, branch] = [of.liquidations.base, of.liquidations.branch].map(
    (rows) => new Map(rows.toReversed().map(({ account, seq }) => [account, seq])),
  ) as [Map<string, number>, Map<string, number>];
  const asked = edits.flatMap((edit) => (edit.kind === 'collateral' ? [edit] : []));
  const answers = asked.map((edit) => collateralText(edit, base, branch));
  const named = new Set(asked.map(({ owner }) => owner));
  return [
    ...answers,
    ...liquidationTexts(base, branch, named, answers.length > 0),
    ...fillTexts(of),
    ...resultTexts(of),
  ];
}

function collateralText(
  { owner, sharePpm }: Collateral,
  base: ReadonlyMap<string, number>,
  branch: ReadonlyMap<string, number>,
): string {
  const what = `${String(sharePpm / 1e4)} % more collateral`;
  const [before, after] = [base.get(owner), branch.get(owner)];
  if (before === undefined) return `${owner} is not liquidated in the recorded run.`;
  if (after === undefined) return `Yes: ${what} saves ${owner}.`;
  const at = after === before ? 'at the same command' : `at ${count(after)}`;
  return `No: with ${what}, ${owner} is still liquidated, ${at}.`;
}

function liquidationTexts(
  base: ReadonlyMap<string, number>,
  branch: ReadonlyMap<string, number>,
  named: ReadonlySet<string>,
  isAnswered: boolean,
): string[] {
  const saved = [...base.keys()].filter((name) => !branch.has(name) && !named.has(name));
  const only = [...branch.keys()].filter((name) => !base.has(name));
  const texts: string[] = [];
  if (saved.length > 0) texts.push(`The fork saves ${listed(saved)} from liquidation.`);
  if (only.length > 0) texts.push(`Only the fork liquidates ${listed(only)}.`);
  if (texts.length > 0 || isAnswered) return texts;
  if (base.size === 0) return ['No account is liquidated in either run.'];
  const accounts = base.size === 1 ? listed([...base.keys()]) : `the same ${count(base.size)}`;
  return [`Both runs liquidate ${accounts}${base.size === 1 ? '' : ' accounts'}.`];
}

function fillTexts({ fills: { base, branch } }: BranchComparison): string[] {
  if (base === branch) return [];
  const by = Math.abs(branch - base);
  return [
    `The fork has ${count(by)} ${by === 1 ? 'fill' : 'fills'} ${branch > base ? 'more' : 'fewer'}.`,
  ];
}

/** Of the account whose result differs most. */
function resultTexts({ accounts: [most] }: BranchComparison): string[] {
  if (most === undefined) return ['The PnL of every account is the same.'];
  const { account, basePnl, branchPnl } = most;
  if (basePnl === null || branchPnl === null) {
    return [`${account} exists only in ${basePnl === null ? 'the fork' : 'the recorded run'}.`];
  }
  return [`The PnL of ${account} is ${result(branchPnl)} instead of ${result(basePnl)}.`];
}

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED;
  const first = names.slice(0, NAMED).join(', ');
  return rest > 0 ? `${first} and ${grouped(String(rest))} more` : first;
}
