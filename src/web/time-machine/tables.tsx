/** Tables of an instant: orders of the account in focus, accounts, ledger and funding. */
import { useSignal } from '@preact/signals';
import { grouped } from '../../design/number-text.ts';
import type { AccountRow } from '../../time-machine/views/instant-view.ts';
import { count, money, rateText, result, toneOf } from '../exact-text.ts';
import { nextSorting, sortedRows, Table, type Column, type Sorting } from '../table.tsx';
import { AccountName, litAccount, litOrder, OrderName } from './names.tsx';
import { AllOrders } from './placed-orders.tsx';
import { scene } from './store.ts';

type OrderRow = NonNullable<typeof scene.value>['orders'][number];

const ORDERS: readonly Column<OrderRow>[] = [
  { name: 'Order', left: true, of: (row) => <OrderName id={row.orderId} /> },
  { name: 'Type', left: true, of: (row) => row.orderType },
  {
    name: 'Side',
    left: true,
    of: (row) => row.side,
    tone: (row) => (row.side === 'buy' ? 'gain' : 'loss'),
  },
  { name: 'Price', of: (row) => grouped(row.price) },
  { name: 'Remaining', of: (row) => grouped(row.remaining) },
  { name: 'Ahead', of: (row) => (row.ahead === null ? '–' : grouped(row.ahead)) },
  { name: 'State', left: true, of: (row) => row.status },
  { name: 'Waits for', left: true, of: (row) => row.waitsFor ?? '–', tone: () => 'soft prose' },
];

export function Orders() {
  const now = scene.value;
  if (now?.account == null) {
    return <p class="note">Select an account to see its orders and what each waits for.</p>;
  }
  const { name, subaccount } = now.account;
  return (
    <>
      {now.orders.length === 0 ? (
        <p class="note">{name} has no live order at this instant.</p>
      ) : (
        <Table
          caption={`Live orders of ${name}`}
          columns={ORDERS}
          rows={now.orders}
          keyOf={(row) => row.orderId}
          look={(row) => ({ class: litOrder(row.orderId) })}
        />
      )}
      <AllOrders subaccount={subaccount} name={name} />
    </>
  );
}

const safetyOf = ({ system, safety }: AccountRow): number =>
  system ? Infinity : (safety ?? Number.MAX_VALUE);

const ACCOUNTS: readonly Column<AccountRow>[] = [
  {
    name: 'Account',
    left: true,
    of: (row) => <AccountName id={row.subaccount} name={row.name} />,
    title: (row) => row.address,
    by: (row) => row.name,
  },
  {
    name: 'Equity',
    of: (row) => money(row.equity),
    title: (row) => row.equity,
    by: (row) => Number(row.equity),
  },
  {
    name: 'Maintenance',
    of: (row) => money(row.maintenance),
    title: (row) => row.maintenance,
    by: (row) => Number(row.maintenance),
  },
  {
    name: 'Equity ÷ maintenance',
    of: ({ safety }) => (safety === null ? '–' : safety.toFixed(2)),
    tone: ({ safety }) => (safety !== null && safety < 1 ? 'danger' : ''),
    by: safetyOf,
  },
  {
    name: 'PnL',
    of: (row) => result(row.pnl),
    title: (row) => row.pnl,
    tone: (row) => toneOf(row.pnl),
    by: (row) => Number(row.pnl),
  },
  { name: 'Positions', of: (row) => row.positions, by: (row) => row.positions },
];

export function Accounts() {
  const now = scene.value;
  const sorting = useSignal<Sorting>({ name: 'Equity ÷ maintenance', down: false });
  if (now === null) return null;
  return (
    <>
      <div class="toolbar">
        <span class="soft small">
          {count(now.accounts.length)} of {count(now.accountCount)}
        </span>
      </div>
      <Table
        caption="Accounts at this instant"
        columns={ACCOUNTS}
        rows={sortedRows(now.accounts, ACCOUNTS, sorting.value)}
        keyOf={(row) => row.subaccount}
        look={(row) => ({ class: litAccount(row.subaccount) })}
        sorting={sorting.value}
        onSort={(name) => {
          sorting.value = nextSorting(sorting.value, name);
        }}
      />
    </>
  );
}

const PLACES = {
  cash: 'cash',
  isolatedMargin: 'isolated margin',
  positionCost: 'cost of position',
  outside: 'outside',
} as const;

type LedgerEntry = NonNullable<
  NonNullable<typeof scene.value>['step']
>['ledger']['entries'][number];

const LEDGER: readonly Column<LedgerEntry>[] = [
  {
    name: 'Account',
    left: true,
    of: ({ subaccount, owner }) =>
      subaccount === null ? owner : <AccountName id={subaccount} name={owner} />,
  },
  {
    name: 'Place',
    left: true,
    of: ({ place, symbol }) => `${PLACES[place]}${symbol === null ? '' : ` ${symbol}`}`,
  },
  { name: 'Reason', left: true, of: (row) => row.reason },
  { name: 'Amount', of: (row) => grouped(row.amount) },
  {
    name: 'Balance after',
    of: ({ balance }) => (balance === null ? '–' : grouped(balance)),
    tone: () => 'soft',
  },
];

export function Ledger() {
  const ledger = scene.value?.step?.ledger;
  if (ledger === undefined || ledger.entries.length === 0) {
    return <p class="note">This command moved no money.</p>;
  }
  return (
    <Table
      caption="Double entries of the command: they sum to zero"
      columns={LEDGER}
      rows={ledger.entries}
      keyOf={(_row, i) => i}
      look={(row) => ({ class: litAccount(row.subaccount) })}
    >
      <tr>
        <th scope="row" class="left strong">
          Sum
        </th>
        <td />
        <td />
        <td class="strong">{grouped(ledger.sum)}</td>
        <td class="left">{/[1-9]/.test(ledger.sum) ? '✗ not balanced' : '✓ balanced'}</td>
      </tr>
    </Table>
  );
}

interface Payment {
  readonly subaccount: number;
  readonly owner: string;
  readonly amount: string;
}

const PAYMENTS: readonly Column<Payment>[] = [
  {
    name: 'Account',
    left: true,
    of: ({ subaccount, owner }) => <AccountName id={subaccount} name={owner} />,
  },
  {
    name: 'Amount',
    of: (row) => result(row.amount),
    title: (row) => row.amount,
    tone: (row) => toneOf(row.amount),
  },
];

export function Funding() {
  const settled = scene.value?.step?.funding ?? [];
  if (settled.length === 0) {
    return (
      <p class="note">No funding was settled by this command. Jump by “funding” to the next one.</p>
    );
  }
  return (
    <>
      {settled.map((one) => (
        <Table
          key={one.market}
          caption={`${one.symbol}: rate ${rateText(one.rate)} of the notional at ${one.index ?? '–'}, ${count(one.positions)} positions`}
          columns={PAYMENTS}
          rows={one.payments}
          keyOf={(row) => row.subaccount}
          look={(row) => ({ class: litAccount(row.subaccount) })}
        />
      ))}
    </>
  );
}
