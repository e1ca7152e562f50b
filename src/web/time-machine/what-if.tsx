/** What if: edits of the journal, and how the run with them differs from the recorded one. */
import { useRef, useState } from 'preact/hooks';
import { grouped } from '../../design/number-text.ts';
import type { BranchComparison } from '../../time-machine/what-if/branch.ts';
import { count, result, shortHash, toneOf } from '../exact-text.ts';
import { Table, type Column } from '../table.tsx';
import { editTitle, type EditText } from './edits.ts';
import { ParameterForm } from './parameter-form.tsx';
import { comparison, edits, problem, runFork, status } from './fork.ts';
import { verdictOf } from './fork-verdict.ts';
import { SeqLink } from './names.tsx';
import { lastSeq, market, scene, seq } from './store.ts';

/** One order of several is left out from the list of an account's orders. */
type Action = Exclude<EditText['kind'], 'dropOrder'>;
const ACTIONS: readonly (readonly [Action, string])[] = [
  ['drop', 'leave this command out'],
  ['replace', 'another command in its place'],
  ['insert', 'a command before it'],
  ['move', 'this command before another'],
  ['scalePrices', 'other prices from here on'],
  ['collateral', 'more collateral before it'],
  ['parameter', 'another parameter from the start'],
];

export function WhatIf() {
  return (
    <div class="stack fork">
      <EditForm key={seq.value} />
      {edits.value.length === 0 ? null : (
        <ul class="actions">
          {edits.value.map((edit, i) => (
            <li key={i} class="chip info">
              {editTitle(edit)}
              <button
                type="button"
                class="link"
                aria-label={`Take back: ${editTitle(edit)}`}
                onClick={() => void runFork(edits.value.filter((_, at) => at !== i))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="soft" role="status">
        {status.value}
      </p>
      {problem.value === null ? null : (
        <p class="error" role="alert">
          {problem.value}
        </p>
      )}
      {comparison.value === null ? null : <Comparison of={comparison.value} />}
    </div>
  );
}

function EditForm() {
  const [action, setAction] = useState<Action>('drop');
  const json = useRef<HTMLTextAreaElement>(null);
  const number = useRef<HTMLInputElement>(null);
  const now = scene.value;
  const at = seq.value;
  if (now?.step == null) return <p class="note">Move to the command that shall be another one.</p>;
  if (action === 'parameter') {
    return (
      <div class="stack">
        <ActionChoice action={action} onChoice={setAction} />
        <ParameterForm />
      </div>
    );
  }
  const submit = (event: Event): void => {
    event.preventDefault();
    const value = Number(number.current?.value ?? 0);
    void runFork([...edits.value, editOf(action, at, value, json.current?.value ?? '')]);
  };
  return (
    <form class="stack" onSubmit={submit}>
      <div class="actions">
        <ActionChoice action={action} onChoice={setAction} />
        {action === 'move' ? (
          <label>
            before seq{' '}
            <input ref={number} type="number" min={1} max={lastSeq.value + 1} value={at - 1} />
          </label>
        ) : null}
        {action === 'scalePrices' || action === 'collateral' ? (
          <label>
            by <input ref={number} type="number" step="any" value={1} /> %
            {action === 'collateral'
              ? ` of the equity of ${now.account?.name ?? 'no account'}`
              : ''}
          </label>
        ) : null}
        <button class="button primary">Run both</button>
      </div>
      {action === 'replace' || action === 'insert' ? (
        <label>
          Command
          <textarea ref={json} spellcheck={false} defaultValue={now.step.forms.json} />
        </label>
      ) : null}
    </form>
  );
}

interface ActionChoiceProps {
  readonly action: Action;
  readonly onChoice: (action: Action) => void;
}

function ActionChoice({ action, onChoice }: ActionChoiceProps) {
  return (
    <label>
      At {count(seq.value)}{' '}
      <select
        value={action}
        onChange={(event) => {
          onChoice(event.currentTarget.value as Action);
        }}
      >
        {ACTIONS.map(([kind, text]) => (
          <option key={kind} value={kind}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function editOf(
  action: Exclude<Action, 'parameter'>,
  at: number,
  value: number,
  json: string,
): EditText {
  switch (action) {
    case 'drop':
      return { kind: 'drop', seq: at };
    case 'replace':
      return { kind: 'replace', seq: at, json };
    case 'insert':
      return { kind: 'insert', before: at, json };
    case 'move':
      return { kind: 'move', seq: at, before: value };
    case 'scalePrices': {
      const factorPpm = Math.max(1, Math.round((1 + value / 100) * 1e6));
      const common = { kind: 'scalePrices', market: market.value, fromSeq: at } as const;
      return { ...common, toSeq: lastSeq.value, factorPpm };
    }
    case 'collateral': {
      const { subaccount = -1, name: owner = 'no account' } = scene.value?.account ?? {};
      const sharePpm = Math.round(value * 1e4);
      return { kind: 'collateral', subaccount, owner, before: at, sharePpm };
    }
  }
}

type Liquidations = BranchComparison['liquidations']['base'];

function FirstOf({ rows }: { readonly rows: Liquidations }) {
  const [first] = rows;
  if (first === undefined) return <>none</>;
  return (
    <>
      {first.account} at {count(first.seq)}
    </>
  );
}

/** Names before the rest is counted. */
const NAMED = 6;

interface NamesProps {
  readonly title: string;
  readonly rows: Liquidations;
  readonly but: Liquidations;
}

/** Accounts that are liquidated in one of the runs only. */
function Names({ title, rows, but }: NamesProps) {
  const others = new Set(but.map(({ account }) => account));
  const names = [...new Set(rows.map(({ account }) => account))].filter((one) => !others.has(one));
  if (rows.length === 0 && but.length === 0) return null;
  const rest = names.length > NAMED ? ` and ${count(names.length - NAMED)} more` : '';
  return (
    <tr>
      <th scope="row" class="left">
        {title}
      </th>
      <td colSpan={3} class="left">
        {names.length === 0 ? 'none' : names.slice(0, NAMED).join(', ') + rest}
      </td>
    </tr>
  );
}

/** Rows of different content: all stand below the heads. */
const OUTCOMES: readonly Column<never>[] = [
  { name: 'Outcome', left: true, of: () => null },
  { name: 'A, recorded', of: () => null },
  { name: 'B, fork', of: () => null },
  { name: 'B − A', of: () => null },
];

function Comparison({ of }: { readonly of: BranchComparison }) {
  const { firstDivergence: first, fills, liquidations } = of;
  const liquidated = (rows: BranchComparison['liquidations']['base']): number =>
    new Set(rows.map(({ account }) => account)).size;
  return (
    <>
      <ul class="lines verdict" aria-label="Answer">
        {verdictOf(of, edits.value).map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <Table
        id="comparison"
        caption={`A: as recorded. B: ${edits.value.map(editTitle).join(', ')}. Commands ${count(of.fromSeq)} to ${count(of.toSeq)}.`}
        columns={OUTCOMES}
        rows={[]}
        keyOf={(_row, i) => i}
      >
        <tr>
          <th scope="row" class="left">
            First divergence
          </th>
          <td colSpan={3} class="left">
            {first === null ? 'none: both runs have the same effects' : <SeqLink seq={first.seq} />}
          </td>
        </tr>
        <Numbers title="Fills" a={fills.base} b={fills.branch} />
        <Numbers
          title="Accounts liquidated"
          a={liquidated(liquidations.base)}
          b={liquidated(liquidations.branch)}
        />
        <tr>
          <th scope="row" class="left">
            First liquidated
          </th>
          <td>
            <FirstOf rows={liquidations.base} />
          </td>
          <td>
            <FirstOf rows={liquidations.branch} />
          </td>
          <td />
        </tr>
        <Names title="Saved in the fork" rows={liquidations.base} but={liquidations.branch} />
        <Names
          title="Liquidated only in the fork"
          rows={liquidations.branch}
          but={liquidations.base}
        />
        <Numbers title="Outcomes that differ" a={0} b={of.outcomes.length} />
        <Numbers title="Commands without effect" a={0} b={of.skipped.length} />
        <tr>
          <th scope="row" class="left">
            Chain hash
          </th>
          <td class="mono">{shortHash(of.baseHash)}</td>
          <td class="mono">{shortHash(of.branchHash)}</td>
          <td />
        </tr>
        {of.accounts.slice(0, 12).map((row) => (
          <tr key={`${row.address}/${String(row.index)}`}>
            <th scope="row" class="left">
              PnL of {row.account}
            </th>
            <td>
              {moneyOf(row.basePnl)}{' '}
              {row.baseLiquidated ? <span class="danger">liquidated</span> : null}
            </td>
            <td>
              {moneyOf(row.branchPnl)}{' '}
              {row.branchLiquidated ? <span class="danger">liquidated</span> : null}
            </td>
            <td class={toneOf(row.difference)} title={row.difference}>
              {result(row.difference)}
            </td>
          </tr>
        ))}
      </Table>
      <Curves of={of} />
    </>
  );
}

const moneyOf = (pnl: string | null): string => (pnl === null ? 'no account' : result(pnl));

function Numbers({
  title,
  a,
  b,
}: {
  readonly title: string;
  readonly a: number;
  readonly b: number;
}) {
  const by = b - a;
  return (
    <tr>
      <th scope="row" class="left">
        {title}
      </th>
      <td>{count(a)}</td>
      <td>{count(b)}</td>
      <td>{by > 0 ? `+${count(by)}` : grouped(String(by))}</td>
    </tr>
  );
}

const [WIDTH, HEIGHT] = [600, 90];

/** Equity of the account that differs most: A dashed, B solid. */
function Curves({ of }: { readonly of: BranchComparison }) {
  const [most] = of.curves;
  if (most === undefined || most.points.length < 2) return null;
  const values = most.points.flatMap(({ base, branch }) =>
    [base, branch].flatMap((value) => (value === null ? [] : [Number(value)])),
  );
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const y = (value: number): number =>
    HEIGHT - 4 - ((value - low) / Math.max(1e-9, high - low)) * (HEIGHT - 8);
  const path = (side: 'base' | 'branch'): string =>
    most.points
      .flatMap((point, i) => {
        const value = point[side];
        const x = (i / (most.points.length - 1)) * WIDTH;
        return value === null ? [] : [`${x.toFixed(1)} ${y(Number(value)).toFixed(1)}`];
      })
      .map((place, i) => `${i === 0 ? 'M' : 'L'}${place}`)
      .join('');
  return (
    <figure class="curves">
      <figcaption class="small soft">
        Equity of {most.account}: ┄ A, recorded <span class="accent">— B, fork</span>; from{' '}
        {grouped(low.toFixed(2))} to {grouped(high.toFixed(2))}
      </figcaption>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Equity of ${most.account} in both runs`}
      >
        <path d={path('base')} fill="none" stroke="var(--text-2)" stroke-dasharray="4 3" />
        <path d={path('branch')} fill="none" stroke="var(--s1)" stroke-width="2" />
      </svg>
    </figure>
  );
}
