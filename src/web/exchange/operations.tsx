/** Operations: health, funds, ages of prices, the audit list, and commands with their effects. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { duration } from '../../design/number-text.ts';
import { money } from '../exact-text.ts';
import { DataTable, type Column } from './data-table.tsx';
import { nowMs } from './market-bar.tsx';
import { config, market, markets, prices, symbol } from './markets.ts';
import { ask, call, messageOf, Refused } from './requests.ts';
import { operatorToken } from './session.ts';
import { priceText, timeText, UNKNOWN } from './text.ts';

interface AuditEntry {
  readonly sequenceNumber: number;
  readonly time: number;
  readonly command: string;
  readonly symbol: string | null;
  readonly account: string | null;
  readonly amount: string | null;
  readonly status: string | null;
  readonly price: string | null;
}
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
const health = signal<{
  readonly up: boolean;
  readonly ready: boolean;
  readonly seq: number | null;
  readonly ms: number;
} | null>(null);
const audit = signal<readonly AuditEntry[]>([]);
const problem = signal<string | null>(null);
const status = signal<(typeof STATUSES)[number]>('open');
const terms = signal('{\n  "takerFee": "0.0005"\n}');
/** The command whose effects are shown, and its effects. */
const shown = signal<{
  readonly path: string;
  readonly body: unknown;
  readonly text: string;
  readonly effects: CommandPreview;
} | null>(null);

async function read(): Promise<void> {
  const beganMs = performance.now();
  const up = await ask('GET', '/healthz').then(
    () => true,
    () => false,
  );
  const ms = performance.now() - beganMs;
  const ready = await ask<{ readonly sequenceNumber: number }>('GET', '/readyz').catch(() => null);
  health.value = { up, ready: ready !== null, seq: ready?.body.sequenceNumber ?? null, ms };
  const settings = await call('getConfig', {}).catch(() => null);
  if (settings !== null) config.value = settings;
  if (operatorToken.value === null) return;
  try {
    const list = await ask<AuditEntry[]>('GET', '/operator/audit?limit=1000', {
      token: operatorToken.value,
    });
    audit.value = list.body;
  } catch (error) {
    if (error instanceof Refused) {
      problem.value = error.status === 404 ? 'This server has no operator token' : error.message;
      operatorToken.value = null;
    }
  }
}

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
  await read();
}

const AUDIT: readonly Column<AuditEntry>[] = [
  { name: 'Time, UTC', left: true, of: (row) => timeText(row.time), by: (row) => row.time },
  { name: 'Command', left: true, of: (row) => row.command, by: (row) => row.command },
  { name: 'Market', left: true, of: (row) => row.symbol ?? UNKNOWN },
  { name: 'Account', left: true, of: (row) => row.account ?? UNKNOWN },
  { name: 'Amount', of: (row) => (row.amount === null ? UNKNOWN : money(row.amount)) },
  { name: 'Status', left: true, of: (row) => row.status ?? UNKNOWN },
  { name: 'Sequence', of: (row) => row.sequenceNumber, by: (row) => row.sequenceNumber },
];

export function Operations() {
  useEffect(() => {
    void read();
    const timer = setInterval(() => void read(), READ_MS);
    return () => {
      clearInterval(timer);
    };
  }, [operatorToken.value]);
  return (
    <div>
      <Strip />
      {problem.value === null ? null : (
        <p class="notice danger" role="alert">
          {problem.value}
        </p>
      )}
      {operatorToken.value === null ? <TokenForm /> : <Commands />}
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

function Strip() {
  const { value: now } = health;
  const { value: settings } = config;
  const cell = (name: string, text: string, isBad = false) => (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? 'danger' : ''}>{text}</dd>
    </div>
  );
  return (
    <>
      <dl class="strip">
        {cell('Process', now === null ? UNKNOWN : now.up ? 'up' : 'DOWN', now?.up === false)}
        {cell(
          'Writes',
          now === null ? UNKNOWN : now.ready ? 'accepted' : 'STOPPED',
          now?.ready === false,
        )}
        {cell('Answer', now === null ? UNKNOWN : `${now.ms.toFixed(0)} ms`)}
        {cell('Sequence', String(now?.seq ?? UNKNOWN))}
        {cell(
          'Shortfall, USD',
          settings === null ? UNKNOWN : money(settings.shortfall),
          settings !== null && Number(settings.shortfall) < 0,
        )}
        {cell('Insurance, USD', settings === null ? UNKNOWN : money(settings.insuranceBalance))}
        {cell(
          'Insurance left this hour',
          settings === null ? UNKNOWN : money(settings.insuranceAllowance),
        )}
        {cell('Vault, USD', settings === null ? UNKNOWN : money(settings.vaultNav))}
      </dl>
      <div class="scroll" tabIndex={0} role="region" aria-label="Markets and their prices">
        <table>
          <caption class="hidden">Markets and the age of their prices</caption>
          <thead>
            <tr>
              <th scope="col" class="left">
                Market
              </th>
              <th scope="col" class="left">
                Status
              </th>
              <th scope="col">Index</th>
              <th scope="col">Age of the index</th>
              <th scope="col">Mark</th>
            </tr>
          </thead>
          <tbody>
            {markets.value.map((one) => {
              const quote = prices.value.get(one.symbol);
              const at = quote?.indexTime ?? null;
              return (
                <tr key={one.symbol}>
                  <th scope="row" class="left">
                    {one.symbol}
                  </th>
                  <td class="left" data-label="Status">
                    {one.frozen ? `${one.status}, FROZEN` : one.status}
                  </td>
                  <td data-label="Index">{priceText(quote?.index, one)}</td>
                  <td
                    data-label="Age of the index"
                    class={quote?.indexStale === true ? 'danger' : ''}
                  >
                    {at === null ? UNKNOWN : duration(Math.max(0, nowMs() - at) * 1000)}
                    {quote?.indexStale === true ? ' stale' : ''}
                  </td>
                  <td data-label="Mark">{priceText(quote?.mark, one)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

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
        <button
          type="button"
          class="button"
          onClick={() => void showEffects(path('delist'), {}, `Delist ${symbol.value}`)}
        >
          Show effects of delisting
        </button>
      </form>
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          let body: unknown;
          try {
            body = JSON.parse(terms.value);
          } catch (error) {
            problem.value = `Terms: ${messageOf(error)}`;
            return;
          }
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
      {shown.value === null ? null : (
        <div class="notice warn" role="status" id="command-effects">
          <h3>{shown.value.text}</h3>
          <EffectsText of={shown.value.effects.now} />
          {shown.value.effects.afterNotice === null ? null : (
            <>
              <p>
                From {timeText(shown.value.effects.afterNotice.effectiveAt)} UTC, at the prices of
                now:
              </p>
              <EffectsText of={shown.value.effects.afterNotice} />
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
      )}
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
