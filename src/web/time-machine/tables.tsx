/** Tables of an instant: orders of the account in focus, accounts, ledger and funding. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { grouped } from '../../design/number-text.ts';
import type { AccountRow } from '../../time-machine/views/instant-view.ts';
import { count, money, rateText, result, toneOf } from '../exact-text.ts';
import { AccountName, litAccount, litOrder, OrderName } from './names.tsx';
import { scene } from './store.ts';

interface GridProps {
  readonly caption: string;
  /** Titles; a leading `<` aligns left. */
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}

function Grid({ caption, heads, children }: GridProps) {
  return (
    <table>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col" class={head.startsWith('<') ? 'left' : ''}>
              {head.replace('<', '')}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

export function Orders() {
  const now = scene.value;
  if (now?.account == null) {
    return <p class="note">Select an account to see its orders and what each waits for.</p>;
  }
  if (now.orders.length === 0) {
    return <p class="note">{now.account.name} has no live order at this instant.</p>;
  }
  return (
    <Grid
      caption={`Live orders of ${now.account.name}`}
      heads={['<Order', '<Type', '<Side', 'Price', 'Remaining', 'Ahead', '<State', '<Waits for']}
    >
      {now.orders.map((order) => (
        <tr key={order.orderId} class={litOrder(order.orderId)}>
          <th scope="row" class="left">
            <OrderName id={order.orderId} />
          </th>
          <td class="left">{order.orderType}</td>
          <td class={`left ${order.side === 'buy' ? 'gain' : 'loss'}`}>{order.side}</td>
          <td>{grouped(order.price)}</td>
          <td>{grouped(order.remaining)}</td>
          <td>{order.ahead === null ? '–' : grouped(order.ahead)}</td>
          <td class="left">{order.status}</td>
          <td class="left soft">{order.waitsFor ?? '–'}</td>
        </tr>
      ))}
    </Grid>
  );
}

const SORTS = {
  danger: (a: AccountRow, b: AccountRow) => rank(a) - rank(b),
  equity: (a: AccountRow, b: AccountRow) => Number(b.equity) - Number(a.equity),
  pnl: (a: AccountRow, b: AccountRow) => Number(b.pnl) - Number(a.pnl),
} as const;

const rank = ({ system, safety }: AccountRow): number =>
  system ? Infinity : (safety ?? Number.MAX_VALUE);

export function Accounts() {
  const now = scene.value;
  const [sort, setSort] = useState<keyof typeof SORTS>('danger');
  if (now === null) return null;
  const rows = [...now.accounts].sort(SORTS[sort]);
  return (
    <>
      <div class="toolbar">
        <label>
          Sort by{' '}
          <select
            value={sort}
            onChange={(event) => {
              setSort(event.currentTarget.value as keyof typeof SORTS);
            }}
          >
            <option value="danger">equity ÷ maintenance</option>
            <option value="equity">equity</option>
            <option value="pnl">PnL</option>
          </select>
        </label>
        <span class="soft small">
          {count(rows.length)} of {count(now.accountCount)}
        </span>
      </div>
      <Grid
        caption="Accounts at this instant"
        heads={['<Account', 'Equity', 'Maintenance', 'Equity ÷ maintenance', 'PnL', 'Positions']}
      >
        {rows.map((row) => (
          <tr key={row.subaccount} class={litAccount(row.subaccount)}>
            <th scope="row" class="left" title={row.address}>
              <AccountName id={row.subaccount} name={row.name} />
            </th>
            <td title={row.equity}>{money(row.equity)}</td>
            <td title={row.maintenance}>{money(row.maintenance)}</td>
            <td class={row.safety !== null && row.safety < 1 ? 'danger' : ''}>
              {row.safety === null ? '–' : row.safety.toFixed(2)}
            </td>
            <td class={toneOf(row.pnl)} title={row.pnl}>
              {result(row.pnl)}
            </td>
            <td>{row.positions}</td>
          </tr>
        ))}
      </Grid>
    </>
  );
}

const PLACES = {
  cash: 'cash',
  isolatedMargin: 'isolated margin',
  positionCost: 'cost of position',
  outside: 'outside',
} as const;

export function Ledger() {
  const ledger = scene.value?.step?.ledger;
  if (ledger === undefined || ledger.entries.length === 0) {
    return <p class="note">This command moved no money.</p>;
  }
  return (
    <Grid
      caption="Double entries of the command: they sum to zero"
      heads={['<Account', '<Place', '<Reason', 'Amount', 'Balance after']}
    >
      {ledger.entries.map((entry, i) => (
        <tr key={i} class={litAccount(entry.subaccount)}>
          <th scope="row" class="left">
            {entry.subaccount === null ? (
              entry.owner
            ) : (
              <AccountName id={entry.subaccount} name={entry.owner} />
            )}
          </th>
          <td class="left">
            {PLACES[entry.place]}
            {entry.symbol === null ? '' : ` ${entry.symbol}`}
          </td>
          <td class="left">{entry.reason}</td>
          <td>{grouped(entry.amount)}</td>
          <td class="soft">{entry.balance === null ? '–' : grouped(entry.balance)}</td>
        </tr>
      ))}
      <tr>
        <th scope="row" class="left strong">
          Sum
        </th>
        <td />
        <td />
        <td class="strong">{grouped(ledger.sum)}</td>
        <td class="left">{/[1-9]/.test(ledger.sum) ? '✗ not balanced' : '✓ balanced'}</td>
      </tr>
    </Grid>
  );
}

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
        <Grid
          key={one.market}
          caption={`${one.symbol}: rate ${rateText(one.rate)} of the notional at ${one.index ?? '–'}, ${count(one.positions)} positions`}
          heads={['<Account', 'Amount']}
        >
          {one.payments.map(({ subaccount, owner, amount }) => (
            <tr key={subaccount} class={litAccount(subaccount)}>
              <th scope="row" class="left">
                <AccountName id={subaccount} name={owner} />
              </th>
              <td class={toneOf(amount)} title={amount}>
                {result(amount)}
              </td>
            </tr>
          ))}
        </Grid>
      ))}
    </>
  );
}
