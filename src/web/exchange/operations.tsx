/** Operations: health, risk, ages of prices, the audit list, and commands with their effects. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { duration } from '../../design/number-text.ts';
import { money } from '../exact-text.ts';
import { DataTable } from '../data-table.tsx';
import { Table, type Column } from '../table.tsx';
import { FaultsForm } from './faults-form.tsx';
import { everySecond, nowMs } from './market-bar.tsx';
import { market, markets, prices, symbol, type Market } from './markets.ts';
import { audit, operationsProblem, readOperations, type AuditEntry } from './operations-state.ts';
import { AccountsAtRisk, HealthStrip, StatusStrip } from './operations-status.tsx';
import { ask, messageOf } from './requests.ts';
import { operatorToken } from './session.ts';
import { priceText, timeText, UNKNOWN } from './text.ts';

interface Effects {
  readonly ordersEnded: number;
  readonly positionsClosed: number;
  readonly liquidations: readonly {
    readonly account: string;
    readonly symbol: string | null;
    readonly step: string;
  }[];
  readonly liquidatedAccounts: number;
  readonly shortfall: string;
}
interface CommandPreview {
  readonly now: Effects;
  readonly afterNotice: (Effects & { readonly effectiveAt: number }) | null;
}

const READ_MS = 3000;
const STATUSES = ['open', 'postOnly', 'reduceOnly', 'cancelOnly', 'halted'] as const;

const typed = signal('');
const problem = operationsProblem;
const status = signal<(typeof STATUSES)[number]>('open');
const terms = signal('{\n  "takerFee": "0.0005"\n}');
const delistPrice = signal('');
const listing = signal(
  JSON.stringify(
    {
      symbol: 'NEW-USD-PERP',
      tickSize: '0.01',
      lotSize: '0.001',
      initialMargin: '0.05',
      maintenanceMargin: '0.025',
      maxOpenInterestNotional: '1000000',
    },
    null,
    2,
  ),
);

/** null, and the problem is shown, if the text is no JSON. */
function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    problem.value = `${name}: ${messageOf(error)}`;
    return null;
  }
}

/** The command whose effects are shown, and its effects. */
const shown = signal<{
  readonly path: string;
  readonly body: unknown;
  readonly text: string;
  readonly effects: CommandPreview;
} | null>(null);

async function showEffects(path: string, body: unknown, text: string): Promise<void> {
  shown.value = null;
  try {
    const answer = await ask<CommandPreview>('POST', `/operator/preview/${path}`, {
      body,
      token: operatorToken.value,
    });
    problem.value = null;
    shown.value = { path, body, text, effects: answer.body };
  } catch (error) {
    problem.value = messageOf(error);
  }
}

async function carryOut(): Promise<void> {
  const { value: command } = shown;
  if (command === null) return;
  try {
    await ask('POST', `/operator/${command.path}`, {
      body: command.body,
      token: operatorToken.value,
    });
    problem.value = null;
    shown.value = null;
  } catch (error) {
    problem.value = messageOf(error);
  }
  await readOperations();
}

const AUDIT: readonly Column<AuditEntry>[] = [
  {
    name: 'Time, UTC',
    width: 1.9,
    left: true,
    of: (row) => timeText(row.time),
    by: (row) => row.time,
  },
  { name: 'Command', width: 1.3, left: true, of: (row) => row.command, by: (row) => row.command },
  { name: 'Market', width: 1.4, left: true, of: (row) => row.symbol ?? UNKNOWN },
  { name: 'Account', width: 3.9, left: true, of: (row) => row.account ?? UNKNOWN },
  { name: 'Amount', of: (row) => (row.amount === null ? UNKNOWN : money(row.amount)) },
  { name: 'Status', left: true, of: (row) => row.status ?? UNKNOWN },
  { name: 'Sequence', of: (row) => row.sequenceNumber, by: (row) => row.sequenceNumber },
];

export function Operations() {
  useEffect(() => {
    void readOperations();
    const timer = setInterval(() => void readOperations(), READ_MS);
    return () => {
      clearInterval(timer);
    };
  }, [operatorToken.value]);
  return (
    <div>
      <HealthStrip />
      <StatusStrip />
      <Ages />
      {problem.value === null ? null : (
        <p class="notice danger" role="alert">
          {problem.value}
        </p>
      )}
      {operatorToken.value === null ? <TokenForm /> : <Commands />}
      {operatorToken.value === null ? null : <AccountsAtRisk />}
      <FaultsForm />
      {operatorToken.value === null ? null : (
        <DataTable
          caption="Audit list"
          rows={audit.value}
          columns={AUDIT}
          keyOf={(row) => String(row.sequenceNumber)}
          empty="No operator command yet"
          file="audit"
        />
      )}
    </div>
  );
}

const AGES: readonly Column<Market>[] = [
  { name: 'Market', width: 1.4, left: true, of: (row) => row.symbol, by: (row) => row.symbol },
  {
    name: 'Status',
    left: true,
    of: ({ frozen, status: now }) => (frozen ? `${now}, FROZEN` : now),
    tone: ({ frozen }) => (frozen ? 'danger' : ''),
  },
  { name: 'Index', of: (row) => priceText(prices.value.get(row.symbol)?.index, row) },
  { name: 'Age of the index', of: (row) => <Age of={row.symbol} /> },
  { name: 'Mark', of: (row) => priceText(prices.value.get(row.symbol)?.mark, row) },
];

function Age({ of }: { readonly of: string }) {
  everySecond();
  const quote = prices.value.get(of);
  const at = quote?.indexTime ?? null;
  const isStale = quote?.indexStale === true;
  return (
    <span class={isStale ? 'danger' : ''}>
      {at === null ? UNKNOWN : duration(Math.max(0, nowMs() - at) * 1000)}
      {isStale ? ' stale' : ''}
    </span>
  );
}

const Ages = () => (
  <div class="scroll" tabIndex={0} role="region" aria-label="Markets and their prices">
    <Table
      caption="Markets and the age of their prices"
      hideCaption
      columns={AGES}
      rows={markets.value}
      keyOf={(row) => row.symbol}
    />
  </div>
);

function TokenForm() {
  return (
    <form
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.value.trim() === '') return;
        problem.value = null;
        operatorToken.value = typed.value.trim();
        typed.value = '';
      }}
    >
      <label for="operator-token">Operator token</label>
      <input
        id="operator-token"
        type="password"
        autocomplete="off"
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button">
        Operate
      </button>
    </form>
  );
}

function Commands() {
  const path = (what: string): string => `markets/${encodeURIComponent(symbol.value)}/${what}`;
  return (
    <div class="commands">
      <h2>
        Commands for {symbol.value} <span class="quiet">({market.value?.status})</span>
      </h2>
      <ShownEffects />
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { status: status.value };
          void showEffects(path('status'), body, `Set ${symbol.value} to ${status.value}`);
        }}
      >
        <select
          aria-label="New status"
          value={status.value}
          onChange={({ currentTarget }) => {
            status.value = currentTarget.value as (typeof STATUSES)[number];
          }}
        >
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <button type="submit" class="button">
          Show effects of the status
        </button>
      </form>
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          const price = delistPrice.value.trim();
          const body = price === '' ? {} : { price };
          const at = price === '' ? 'the index' : price;
          void showEffects(path('delist'), body, `Delist ${symbol.value} at ${at}`);
        }}
      >
        <input
          aria-label="Settlement price of a delisting"
          inputMode="decimal"
          placeholder="price; else the index"
          value={delistPrice.value}
          onInput={({ currentTarget }) => {
            delistPrice.value = currentTarget.value;
          }}
        />
        <button type="submit" class="button">
          Show effects of delisting
        </button>
      </form>
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          const body = jsonOf('Terms', terms.value);
          if (body === null) return;
          void showEffects(path('terms'), body, `Change terms of ${symbol.value}`);
        }}
      >
        <label for="operator-terms">Changed terms, as JSON</label>
        <textarea
          id="operator-terms"
          value={terms.value}
          onInput={({ currentTarget }) => {
            terms.value = currentTarget.value;
          }}
        />
        <button type="submit" class="button">
          Show effects of the terms
        </button>
      </form>
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          const body = jsonOf('Listing', listing.value);
          if (body === null) return;
          const { symbol: name } = body as { readonly symbol?: unknown };
          const text = typeof name === 'string' ? `List ${name}` : 'List a market';
          void showEffects('markets', body, text);
        }}
      >
        <label for="operator-listing">A new market, as JSON</label>
        <textarea
          id="operator-listing"
          value={listing.value}
          onInput={({ currentTarget }) => {
            listing.value = currentTarget.value;
          }}
        />
        <button type="submit" class="button">
          Show effects of the listing
        </button>
      </form>
    </div>
  );
}

/** Effects of the command, in sight wherever its form is. */
function ShownEffects() {
  const box = useRef<HTMLDivElement>(null);
  const { value: command } = shown;
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' });
  }, [command]);
  if (command === null) return null;
  return (
    <div ref={box} class="notice warn" role="status" id="command-effects">
      <h3>{command.text}</h3>
      <EffectsText of={command.effects.now} />
      {command.effects.afterNotice === null ? null : (
        <>
          <p>From {timeText(command.effects.afterNotice.effectiveAt)} UTC, at the prices of now:</p>
          <EffectsText of={command.effects.afterNotice} />
        </>
      )}
      <button type="button" class="button primary" onClick={() => void carryOut()}>
        Carry out
      </button>{' '}
      <button
        type="button"
        class="button"
        onClick={() => {
          shown.value = null;
        }}
      >
        Dismiss
      </button>
    </div>
  );
}

function EffectsText({ of }: { readonly of: Effects }) {
  const { ordersEnded, positionsClosed, liquidatedAccounts, liquidations: steps, shortfall } = of;
  return (
    <>
      <p>
        Ends {ordersEnded} orders, closes {positionsClosed} positions, liquidates{' '}
        {liquidatedAccounts} accounts; shortfall {money(shortfall)} USD.
      </p>
      <ul class="small mono">
        {steps.slice(0, 20).map((one) => (
          <li key={`${one.account} ${String(one.symbol)} ${one.step}`}>
            {one.account} {one.symbol ?? 'cross'}: {one.step}
          </li>
        ))}
      </ul>
    </>
  );
}
