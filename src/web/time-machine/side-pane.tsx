/** Right pane: why the command came out as it did, the account or the order in focus, requests. */
import type { VNode } from 'preact';
import { grouped } from '../../design/number-text.ts';
import type { AccountAt, Formula, PositionAt } from '../../time-machine/views/account-at.ts';
import type { LiquidationStepAt } from '../../time-machine/views/liquidation-at.ts';
import { ORDER_STATES, type OrderAt } from '../../time-machine/views/order-at.ts';
import { clock, count, money, result, toneOf } from '../exact-text.ts';
import { bottomTab } from './bottom-tab.ts';
import type { EditText } from './edits.ts';
import { showInevitability } from './inevitability-panel.tsx';
import { AccountName, litAccount, litOrder, OrderName, SeqLink } from './names.tsx';
import { OrderLife } from './order-life.tsx';
import { selectedId } from './selection.ts';
import { sideTab } from './side-tab.ts';
import { about, announcement, focus, scene, selection } from './store.ts';
import { TabPanel, Tabs } from '../tabs.tsx';
import { broken } from './violations.ts';
import { runFork } from './fork.ts';
import { GoTo } from './go-to.tsx';

export function SidePane() {
  const now = scene.value;
  const items = [
    { id: 'why' as const, title: 'Why' },
    {
      id: 'account' as const,
      title: now?.account === null ? 'Account' : `Account ${now?.account.name ?? ''}`,
    },
    { id: 'order' as const, title: 'Order' },
    { id: 'request' as const, title: 'Request' },
  ];
  const chosen = sideTab.value;
  return (
    <aside class="pane side" aria-label="Explanation">
      <header>
        <Tabs
          label="Explanation"
          items={items}
          chosen={chosen}
          onChoose={(id) => {
            sideTab.value = id;
          }}
        />
      </header>
      <TabPanel of={chosen}>
        {now === null ? <p class="note">Reading the journal …</p> : null}
        {chosen === 'why' ? <Why /> : null}
        {chosen === 'account' ? <Account /> : null}
        {chosen === 'order' ? <Order /> : null}
        {chosen === 'request' ? <Request /> : null}
      </TabPanel>
    </aside>
  );
}

function Why() {
  const now = scene.value;
  if (now === null) return null;
  const { step } = now;
  if (step === null) {
    return (
      <div class="why">
        <p class="soft">Before the first command.</p>
        <GoTo />
      </div>
    );
  }
  return (
    <div class="why">
      <div>
        <span class={`chip ${step.outcome === 'ok' ? 'info' : 'error'}`}>{step.kind}</span>{' '}
        <span class={`chip ${step.outcome === 'ok' ? 'ok' : 'error'}`}>
          {step.outcome === 'ok' ? 'accepted' : `refused: ${step.outcome}`}
        </span>
        <h2>
          {count(now.seq)} {step.forms.title}
        </h2>
      </div>
      <Failure seq={now.seq} />
      <BrokenInvariants seq={now.seq} />
      {step.why.length === 0 ? (
        <p class="soft">
          No order, fill, rejection or liquidation to explain; the events show what it did.
        </p>
      ) : (
        <Lines lines={step.why} />
      )}
      <Forks seq={now.seq} liquidated={step.liquidations[0] ?? null} />
      {step.liquidations.length === 0 ? null : <Ladder steps={step.liquidations} />}
      <div>
        <h3>Request</h3>
        <CopyButtons />
      </div>
      <GoTo />
    </div>
  );
}

/** The violated check of the fuzzer, after its command. */
function Failure({ seq }: { readonly seq: number }) {
  const { failure } = about.value;
  if (failure === null || failure.seq !== seq) return null;
  return (
    <div>
      <h3>Found by the fuzzer</h3>
      <p>{withLinks(failure.text)}</p>
    </div>
  );
}

/** Invariants that a run found broken after this command. */
function BrokenInvariants({ seq }: { readonly seq: number }) {
  const found = broken.value;
  if (found === null || found.seq !== seq || found.texts.length === 0) return null;
  return (
    <div>
      <h3>Broken after this command</h3>
      <ul class="lines">
        {found.texts.map((text) => (
          <li key={text}>{withLinks(text)}</li>
        ))}
      </ul>
    </div>
  );
}

/** Sentences before the rest is folded. */
const SHOWN = 8;

function Lines({ lines }: { readonly lines: readonly string[] }) {
  const items = lines.map((line, i) => <li key={i}>{withLinks(line)}</li>);
  const rest = items.slice(SHOWN);
  return (
    <div>
      <ul class="lines">{items.slice(0, SHOWN)}</ul>
      {rest.length === 0 ? null : (
        <details>
          <summary>{count(rest.length)} more</summary>
          <ul class="lines">{rest}</ul>
        </details>
      )}
    </div>
  );
}

/** Orders and accounts that a sentence names as links, and its numbers as in the tables. */
function withLinks(line: string): (string | VNode)[] {
  return line.split(/(\b[Oo]rder \d+|\S+ \(subaccount \d+\))/).map((part, i) => {
    if (i % 2 === 0) return withNumbers(part);
    const id = Number(/\d+(?=\)?$)/.exec(part)?.[0]);
    const name = part.split(' ')[0] ?? '';
    if (part.endsWith(')')) return <AccountName key={i} id={id} name={name} />;
    return (
      <span key={i}>
        {name} <OrderName id={id} />
      </span>
    );
  });
}

/** Thousands in groups, and a minus sign in front of negative numbers. */
const withNumbers = (text: string): string =>
  text
    .replace(/(?<![\w.])\d{4,}(?:\.\d+)?(?![\w-])/g, (number) => grouped(number))
    .replace(/(^|[\s(,])-(?=\d)/g, '$1\u2212');

function Ladder({ steps }: { readonly steps: readonly LiquidationStepAt[] }) {
  const items = steps.map((step, i) => <LadderStep key={step.event} step={step} place={i + 1} />);
  const rest = items.slice(SHOWN);
  return (
    <div>
      <h3>Liquidation ladder</h3>
      <ol class="steps">{items.slice(0, SHOWN)}</ol>
      {rest.length === 0 ? null : (
        <details>
          <summary>{count(rest.length)} more steps</summary>
          <ol class="steps">{rest}</ol>
        </details>
      )}
    </div>
  );
}

function LadderStep({ step, place }: { readonly step: LiquidationStepAt; readonly place: number }) {
  const { owner, subaccount, text, equity, maintenance, missing } = step;
  return (
    <li class={litAccount(subaccount)}>
      <b>{place}</b>
      <span>
        <AccountName id={subaccount} name={owner} />: {text}
        <br />
        <span class="small soft">
          equity {money(equity)} {missing === null ? '≥' : '<'} maintenance {money(maintenance)}
          {missing === null ? '' : `, ${money(missing)} short`}
        </span>
      </span>
      <span />
    </li>
  );
}

interface ForksProps {
  readonly seq: number;
  /** The first account whose liquidation the command brought. */
  readonly liquidated: LiquidationStepAt | null;
}

/** The questions that are asked most, as one press. */
function Forks({ seq, liquidated }: ForksProps) {
  const run = (edit: EditText): void => {
    bottomTab.value = 'fork';
    void runFork([edit]);
  };
  return (
    <div>
      <h3>What if</h3>
      <div class="actions">
        <button
          type="button"
          class="button"
          onClick={() => {
            run({ kind: 'drop', seq });
          }}
        >
          Without this command
        </button>
        {liquidated === null ? null : (
          <>
            <button
              type="button"
              class="button"
              onClick={() => {
                const { subaccount, owner } = liquidated;
                run({ kind: 'collateral', subaccount, owner, before: seq, sharePpm: 10_000 });
              }}
            >
              {liquidated.owner}: 1 % more collateral
            </button>
            <button
              type="button"
              class="button"
              onClick={() => void showInevitability(liquidated.subaccount, liquidated.owner, seq)}
            >
              When was it certain?
            </button>
          </>
        )}
      </div>
    </div>
  );
}

const FORMS = [
  ['curl', 'Copy as curl'],
  ['scenario', 'Scenario step'],
  ['test', 'Test'],
] as const;

function CopyButtons() {
  const forms = scene.value?.step?.forms;
  if (forms === undefined) return null;
  return (
    <div class="actions">
      {FORMS.map(([form, title]) => (
        <button
          key={form}
          type="button"
          class="button"
          onClick={() => {
            void copy(forms[form], title);
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announcement.value = `${what}: copied`;
  } catch {
    // Pages from a file may be refused the clipboard: the text is shown to be selected.
    sideTab.value = 'request';
    announcement.value = 'the browser refused the clipboard; select the text';
  }
}

function Request() {
  const forms = scene.value?.step?.forms;
  if (forms === undefined) return <p class="note">No command at this instant.</p>;
  return (
    <div class="why">
      <CopyButtons />
      {(['curl', 'scenario', 'test', 'json'] as const).map((form) => (
        <div key={form}>
          <h3>
            {{ curl: 'curl', scenario: 'Step of a scenario', test: 'Test', json: 'Command' }[form]}
          </h3>
          <pre>{forms[form]}</pre>
        </div>
      ))}
    </div>
  );
}

function Account() {
  const account = scene.value?.account ?? null;
  if (account === null) {
    return <p class="note">Select an account, such as one of the list below the charts.</p>;
  }
  return (
    <div class="why">
      <div class={litAccount(account.subaccount)}>
        <span class="chip">{account.system ? 'of the exchange' : 'user'}</span>{' '}
        {focus.value === account.subaccount ? <span class="chip info">in focus</span> : null}
        <h2>
          <AccountName id={account.subaccount} name={account.name} />
        </h2>
        <p class="small soft mono">{account.address}</p>
      </div>
      <Figures account={account} />
      {account.formulas.map((formula) => (
        <FormulaBox key={formula.name} formula={formula} />
      ))}
      {account.positions.map((position) => (
        <Position key={position.market} position={position} />
      ))}
    </div>
  );
}

function Figures({ account }: { readonly account: AccountAt }) {
  return (
    <dl class="figures">
      <dt>PnL</dt>
      <dd class={toneOf(account.pnl)} title={account.pnl}>
        {result(account.pnl)}
      </dd>
      <dt>Equity ÷ maintenance</dt>
      <dd>{account.safety === null ? '–' : account.safety.toFixed(2)}</dd>
      <dt>Withdrawable</dt>
      <dd title={account.withdrawable}>{money(account.withdrawable)}</dd>
    </dl>
  );
}

const FORMULA_NAMES: Readonly<Record<Formula['name'], string>> = {
  equity: 'Equity',
  maintenance: 'Maintenance requirement',
  initial: 'Initial requirement',
  freeCollateral: 'Free collateral',
};

function FormulaBox({ formula }: { readonly formula: Formula }) {
  return (
    <div>
      <h3 title={formula.formula}>
        {FORMULA_NAMES[formula.name]} ({formula.rule})
      </h3>
      <div class="formula" tabIndex={0} role="group" aria-label={formula.formula}>
        {formula.terms.map(({ label, text, value }, i) => (
          <>
            <span key={i}>{label}</span>
            <span>{text === value ? '' : text}</span>
            <span class={toneOf(value) === 'loss' ? 'loss' : ''}>{grouped(value)}</span>
          </>
        ))}
        <span class="total">{FORMULA_NAMES[formula.name].toLowerCase()}</span>
        <span class="total" />
        <span class="total">{grouped(formula.value)}</span>
      </div>
    </div>
  );
}

function Position({ position }: { readonly position: PositionAt }) {
  const { symbol, size, isolated, upnl, liquidationPrice, liquidationText, adlQuantile } = position;
  return (
    <div>
      <h3>
        Position in {symbol} · {isolated ? 'isolated' : 'cross'}
      </h3>
      <dl class="figures">
        <dt>Size</dt>
        <dd>{grouped(size)}</dd>
        <dt>Unrealised PnL</dt>
        <dd class={toneOf(upnl)}>{result(upnl)}</dd>
        <dt>Liquidation price</dt>
        <dd>{liquidationPrice === null ? '–' : grouped(liquidationPrice)}</dd>
        <dt>ADL rank</dt>
        <dd>{adlQuantile === null ? '–' : `${String(adlQuantile)} of 5`}</dd>
      </dl>
      {liquidationText === null ? null : <p class="small soft">{liquidationText}</p>}
    </div>
  );
}

const STATE_NAMES: Readonly<Record<OrderAt['state'], string>> = {
  pending: 'pending',
  resting: 'resting',
  partiallyFilled: 'partially filled',
  ended: 'ended',
};

function Order() {
  const order = scene.value?.order ?? null;
  if (order === null) {
    const text = selection.value?.startsWith('order:')
      ? 'The selected order does not exist at this instant, or ended long before it.'
      : 'Select an order: press its number anywhere.';
    const id = selectedId(selection.value, 'order');
    return (
      <div class="why">
        <p>{text}</p>
        {id === null ? null : <OrderLife key={id} id={id} />}
      </div>
    );
  }
  return (
    <div class="why">
      <div class={litOrder(order.orderId)}>
        <span class="chip">{order.orderType}</span> <span class="chip info">{order.status}</span>
        <h2>
          <OrderName id={order.orderId} /> {order.side} {grouped(order.size)} at{' '}
          {grouped(order.price)}
        </h2>
        <p class="soft">
          of <AccountName id={order.subaccount} name={order.owner} /> in {order.symbol}
          {order.flags.length === 0 ? '' : `, ${order.flags.join(', ')}`}
        </p>
      </div>
      <div>
        <h3>State machine</h3>
        <ol class="steps">
          {ORDER_STATES.map((state, i) => (
            <li key={state} class={state === order.state ? 'now' : ''}>
              <b>{i + 1}</b>
              <span class={state === order.state ? 'strong' : 'soft'}>
                {STATE_NAMES[state]}
                {state === 'ended' && order.reason !== null ? `: ${order.reason}` : ''}
              </span>
              <span class="quiet">{order.nextStates.includes(state) ? 'may follow' : ''}</span>
            </li>
          ))}
        </ol>
      </div>
      {order.waitsFor === null ? null : (
        <div>
          <h3>Waits for</h3>
          <p>{order.waitsFor}</p>
        </div>
      )}
      <dl class="figures">
        <dt>Filled</dt>
        <dd>
          {grouped(order.filled)} of {grouped(order.size)}
        </dd>
        <dt>Ahead in the queue</dt>
        <dd>{order.ahead === null ? '–' : grouped(order.ahead)}</dd>
        {order.trigger === null ? null : (
          <>
            <dt>Trigger</dt>
            <dd>{grouped(order.trigger)}</dd>
          </>
        )}
        <dt>Created</dt>
        <dd>{clock(order.createdAtUs, 6)}</dd>
        <dt>Last change</dt>
        <dd>
          <SeqLink seq={order.updatedSeq} />
        </dd>
        <Related title="Parent" id={order.parent} />
        <Related title="Sibling" id={order.sibling} />
      </dl>
      <OrderLife key={order.orderId} id={order.orderId} />
    </div>
  );
}

function Related({ title, id }: { readonly title: string; readonly id: number | null }) {
  if (id === null) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>
        <OrderName id={id} />
      </dd>
    </>
  );
}
