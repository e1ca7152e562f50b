/** Money of the account: balances, equity curve, margin settings, transfers and the vault. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ResponseOf } from '../../contract/endpoints.ts';
import { money, result, toneOf } from '../exact-text.ts';
import { balances, positions, stats } from './account-state.ts';
import { DataTable } from '../data-table.tsx';
import type { Column } from '../table.tsx';
import { EquityCurve, PaidFigures } from './history-tables.tsx';
import { market, symbol } from './markets.ts';
import { mustConfig, account, loggedIn, subaccountIndex, token } from './session.ts';
import { outbox, refuse, send } from './outbox.ts';
import { call } from './requests.ts';
import { indexOf, timeText, UNKNOWN } from './text.ts';

type Transfer = ResponseOf<'getTransfers'>[number];
type Share = ResponseOf<'getClsHistory'>[number];
type Setting = ResponseOf<'getMargin'>[number];

const transfers = signal<readonly Transfer[]>([]);
const shares = signal<readonly Share[]>([]);
const settings = signal<readonly Setting[]>([]);
const largest = signal<string | null>(null);

async function load(): Promise<void> {
  const { value: of } = account;
  const { value: bearer } = token;
  if (of === null || bearer === null) return;
  const at = { account: of, subaccountIndex: subaccountIndex.value };
  const [moved, held, rates, max, cash] = await Promise.all([
    call('getTransfers', { ...at, limit: 500 }, bearer).catch(() => []),
    call('getClsHistory', { limit: 500 }, bearer).catch(() => []),
    call('getMargin', at, bearer).catch(() => []),
    call('getTransferMax', at, bearer).catch(() => null),
    // The feed has the balance of the subaccount in use only.
    call('getBalance', { account: of }, bearer).catch(() => null),
  ]);
  if (cash !== null) balances.value = cash;
  transfers.value = moved;
  shares.value = held;
  settings.value = rates;
  largest.value = max?.amount ?? null;
}

export function AccountPanel() {
  const done = outbox.value.filter(({ state }) => state === 'done').length;
  useEffect(() => void load(), [account.value, subaccountIndex.value, token.value, done]);
  if (!loggedIn.value) return <p class="empty">Log in to see the account</p>;
  return (
    <div class="columns">
      <Figures />
      <div>
        <MarginForm />
        <TransferForm />
        <VaultForm />
      </div>
    </div>
  );
}

function Figures() {
  const { value: figures } = stats;
  const sum = (of: 'funding' | 'fees'): string =>
    positions.value.reduce((total, one) => total + Number(one[of]), 0).toFixed(6);
  const row = (name: string, text: string, signed = false) => (
    <div>
      <dt>{name}</dt>
      <dd class={signed ? toneOf(text) : ''} title={text}>
        {signed ? result(text) : money(text)} USD
      </dd>
    </div>
  );
  if (figures === null) return <p class="empty">The account is not read yet</p>;
  return (
    <div>
      <h2>Money</h2>
      <dl class="rows">
        {row('Equity', figures.accountValue)}
        {balances.value.map(({ subaccountIndex: index, balance }) => (
          <div key={index}>
            <dt>Cash of subaccount {index}</dt>
            <dd title={balance}>{money(balance)} USD</dd>
          </div>
        ))}
        {row('Unrealised', figures.upnl, true)}
        {row('Profit since the first deposit', figures.cumulativePnl, true)}
        {row('Free collateral', figures.freeCollateral)}
        {row('Funding of open positions', sum('funding'), true)}
        {row('Fees of open positions', sum('fees'))}
        <PaidFigures />
      </dl>
      <EquityCurve />
    </div>
  );
}

const marginMode = signal<'cross' | 'isolated'>('cross');
const marginRate = signal('');

function MarginForm() {
  const setting = settings.value.find((one) => one.symbol === symbol.value);
  return (
    <form
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send(
          'updateMargin',
          'Margin',
          {
            account: account.value,
            subaccountIndex: subaccountIndex.value,
            symbol: symbol.value,
            isolated: marginMode.value === 'isolated',
            margin:
              marginRate.value.trim() === '' ? (setting?.margin ?? '1') : marginRate.value.trim(),
          },
          `Margin of ${symbol.value}: ${marginMode.value}`,
        );
      }}
    >
      <h2>Margin of {symbol.value}</h2>
      <p class="small quiet">
        Now {setting === undefined ? UNKNOWN : setting.isolated ? 'isolated' : 'cross'}, initial
        ratio {setting?.margin ?? UNKNOWN} (at most {leverage(setting?.margin)} leverage)
      </p>
      <select
        aria-label="Margin mode"
        value={marginMode.value}
        onChange={({ currentTarget }) => {
          marginMode.value = currentTarget.value === 'isolated' ? 'isolated' : 'cross';
        }}
      >
        <option value="cross">Cross</option>
        <option value="isolated">Isolated</option>
      </select>
      <input
        aria-label="Initial margin ratio"
        inputMode="decimal"
        placeholder={`ratio, such as ${market.value?.marginTiers[0]?.initialMargin ?? '0.1'}`}
        value={marginRate.value}
        onInput={({ currentTarget }) => {
          marginRate.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button">
        Change
      </button>
    </form>
  );
}

const leverage = (ratio: string | undefined): string =>
  ratio === undefined || Number(ratio) === 0 ? UNKNOWN : `${(1 / Number(ratio)).toFixed(1)}×`;

const amount = signal('');
const toIndex = signal('1');

function transferOf(to: string, from: string, indices: readonly [number, number], sum: string) {
  const { cashFeedId } = mustConfig();
  const of = account.value ?? '';
  return {
    accountFrom: from,
    accountTo: to,
    amount: sum,
    feedId: cashFeedId,
    subaccountIndexFrom: indices[0],
    subaccountIndexTo: indices[1],
    target: of,
  };
}

function TransferForm() {
  return (
    <form
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        const of = account.value ?? '';
        const what = `Transfer ${amount.value} to subaccount ${toIndex.value}`;
        const to = indexOf(toIndex.value);
        if (to === null) {
          refuse(what, 'a subaccount is a whole number, 0 or above');
          return;
        }
        const body = transferOf(of, of, [subaccountIndex.value, to], amount.value.trim());
        void send('transfer', 'Transfer', body, what);
      }}
    >
      <h2>Transfer to a subaccount</h2>
      <p class="small quiet">
        At most {largest.value === null ? UNKNOWN : money(largest.value)} USD now
      </p>
      <input
        aria-label="Amount in USD"
        inputMode="decimal"
        placeholder="amount"
        value={amount.value}
        onInput={({ currentTarget }) => {
          amount.value = currentTarget.value;
        }}
      />
      <input
        aria-label="To subaccount"
        inputMode="numeric"
        value={toIndex.value}
        onInput={({ currentTarget }) => {
          toIndex.value = currentTarget.value;
        }}
      />
      <button type="submit" class="button">
        Transfer
      </button>
    </form>
  );
}

const vaultAmount = signal('');

function VaultForm() {
  const [held] = shares.value;
  const move = (isDeposit: boolean): void => {
    const vault = mustConfig().clsAccount;
    const of = account.value ?? '';
    const index = subaccountIndex.value;
    const sum = vaultAmount.value.trim();
    const body = isDeposit
      ? transferOf(vault, of, [index, 0], sum)
      : transferOf(of, vault, [0, index], sum);
    void send(
      'transfer',
      'Transfer',
      body,
      `${isDeposit ? 'Deposit to' : 'Withdraw from'} the vault: ${sum}`,
    );
  };
  return (
    <div class="row-form">
      <h2>Vault</h2>
      <p class="small quiet">
        {held === undefined
          ? 'No shares'
          : `${held.shares} shares, worth ${money(held.usdValue)} USD at the last change, locked until ${timeText(held.lockupEndsAt)} UTC`}
      </p>
      <input
        aria-label="Vault amount in USD"
        inputMode="decimal"
        placeholder="amount"
        value={vaultAmount.value}
        onInput={({ currentTarget }) => {
          vaultAmount.value = currentTarget.value;
        }}
      />
      <button
        type="button"
        class="button"
        onClick={() => {
          move(true);
        }}
      >
        Deposit
      </button>
      <button
        type="button"
        class="button"
        onClick={() => {
          move(false);
        }}
      >
        Withdraw
      </button>
    </div>
  );
}

const TRANSFERS: readonly Column<Transfer>[] = [
  {
    name: 'Time, UTC',
    width: 1.9,
    left: true,
    of: (row) => timeText(row.timestampMillis),
    by: (row) => row.timestampMillis,
  },
  { name: 'Kind', left: true, of: (row) => row.transferType, by: (row) => row.transferType },
  {
    name: 'Amount, USD',
    of: (row) => <span title={row.amount}>{money(row.amount)}</span>,
    by: (row) => +row.amount,
  },
  { name: 'With', width: 3.9, left: true, of: (row) => row.counterpartyAccount ?? UNKNOWN },
  { name: 'Subaccount', of: (row) => row.counterpartySubaccountIndex ?? UNKNOWN },
];

export function Transfers() {
  useEffect(() => void load(), [account.value, subaccountIndex.value, token.value]);
  return (
    <DataTable
      caption="Transfers, deposits and withdrawals"
      rows={transfers.value}
      columns={TRANSFERS}
      keyOf={(row) => `${String(row.timestampMillis)} ${row.transferType} ${row.amount}`}
      empty={loggedIn.value ? 'No transfer yet' : 'Log in to see transfers'}
      file="transfers"
    />
  );
}
