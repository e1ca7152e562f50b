/** The strategy that trades beside people: its account, orders, fills and messages. */
import { money, result, toneOf } from '../exact-text.ts';
import { DataTable } from '../data-table.tsx';
import type { Column } from '../table.tsx';
import { fillKey, type Fill } from './account-history.ts';
import { TERMS } from './account-tables.tsx';
import { MarketLink, marketOf, Result, Side } from './cells.tsx';
import { strategy } from './strategy-state.ts';
import { priceText, sizeText, timeText, UNKNOWN } from './text.ts';

const FILLS: readonly Column<Fill>[] = [
  { name: 'Time, UTC', width: 1.9, left: true, of: (row) => timeText(row.time) },
  { name: 'Market', width: 1.4, left: true, of: (row) => <MarketLink of={row.symbol} /> },
  { name: 'Side', left: true, of: (row) => <Side quantity={row.quantity} /> },
  { name: 'Price', of: (row) => priceText(row.price, marketOf(row.symbol)) },
  { name: 'Size', of: (row) => sizeText(row.quantity, marketOf(row.symbol)) },
  { name: 'Fee', of: (row) => money(row.fee) },
  { name: 'Result', of: (row) => <Result text={row.realized_pnl} /> },
];

const STATES = { starting: 'starting', running: 'running', ended: 'ended', failed: 'FAILED' };

export function StrategyPanel() {
  const { value: now } = strategy;
  if (now === null) return <p class="empty">No strategy trades on this server</p>;
  const { name, account, state, message, stats, positions, orders, fills, log } = now;
  return (
    <div id="strategy">
      <dl class="strip">
        <div>
          <dt>Strategy</dt>
          <dd>
            {name}{' '}
            <span class={state === 'failed' ? 'danger' : 'quiet'} role="status">
              {STATES[state]}
            </span>
          </dd>
        </div>
        <div>
          <dt>Equity, USD</dt>
          <dd>{stats === null ? UNKNOWN : money(stats.accountValue)}</dd>
        </div>
        {positions.map(({ symbol, quantity, entryPrice, upnl }) => (
          <div key={symbol}>
            <dt>{symbol}</dt>
            <dd>
              {quantity.startsWith('-') ? '▼ short' : '▲ long'}{' '}
              {sizeText(quantity.replace('-', ''), marketOf(symbol))} at{' '}
              {priceText(entryPrice, marketOf(symbol))}{' '}
              <span class={toneOf(upnl)}>{result(upnl)}</span>
            </dd>
          </div>
        ))}
        <div>
          <dt>Account</dt>
          <dd class="mono">{account}</dd>
        </div>
      </dl>
      {message === '' ? null : (
        <p class="notice danger" role="alert">
          {message}
        </p>
      )}
      <section aria-label="Orders of the strategy">
        <h2>Orders</h2>
        <DataTable
          caption="Open orders of the strategy"
          rows={orders}
          columns={TERMS}
          keyOf={(row) => row.orderId}
          empty="No open order now"
          file="strategy-orders"
        />
      </section>
      <section aria-label="Fills of the strategy">
        <h2>Fills</h2>
        <DataTable
          caption="Newest fills of the strategy"
          rows={fills}
          columns={FILLS}
          keyOf={fillKey}
          empty="No fill yet"
          file="strategy-fills"
        />
      </section>
      {log.length === 0 ? null : (
        <section aria-label="Messages of the strategy">
          <h2>Messages</h2>
          <pre>{log.slice(-10).join('\n')}</pre>
        </section>
      )}
    </div>
  );
}
