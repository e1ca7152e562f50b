/** The trading and operations screen of `orrery serve`, at /ui. */
import { effect, signal, untracked } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { THEME_CSS } from '../../design/tokens.ts';
import { fixed } from '../exact-text.ts';
import baseCss from '../style.css?inline';
import { applyKeptTheme } from '../theme.ts';
import { Tabs } from '../time-machine/tabs.tsx';
import { AccountPanel, Transfers } from './account-panel.tsx';
import {
  announcement,
  forgetAccount,
  loadAccount,
  openOrders,
  positions,
  takeAccountUpdate,
  type Order,
} from './account-state.ts';
import { cancelAll, OpenOrders, PastOrders, Positions } from './account-tables.tsx';
import { collected } from './collecting.ts';
import { BookPane } from './book-pane.tsx';
import { Chart, interval, shownBar, type ChartLine, type Interval } from './chart.tsx';
import { ClockBar } from './clock-bar.tsx';
import exchangeCss from './exchange.css?inline';
import { feedState, openFeeds } from './feeds.ts';
import { HelpDialog, helpOpen } from './help.tsx';
import { Fills, Funding, Liquidations } from './history-tables.tsx';
import { LoginButton, LoginDialog, loginOpen, SessionNotices } from './login.tsx';
import { isVirtual, MarketBar, second, staleSeconds } from './market-bar.tsx';
import {
  exchangeTime,
  liquidations,
  loadMarkets,
  loadProblem,
  market,
  price,
  subscribeMarkets,
  symbol,
  takeMarketUpdate,
} from './markets.ts';
import { Operations } from './operations.tsx';
import { receiveLink, Signers } from './signers-panel.tsx';
import { closePosition, followForm, form, moveOrder, onTick } from './order-form.ts';
import { isMovable } from './order-request.ts';
import { dismiss, isOver, outbox, withdraw } from './outbox.ts';
import { call } from './requests.ts';
import { dropPrivate, followAccount, logOut, subaccountIndex, token } from './session.ts';
import { followTheme } from './theme-state.ts';
import { sheetOpen, Ticket } from './ticket.tsx';
import { priceText, sizeText } from './text.ts';
import { CANDLE_INTERVALS } from '../../contract/words.ts';

type TabId =
  | 'positions'
  | 'orders'
  | 'history'
  | 'fills'
  | 'funding'
  | 'account'
  | 'transfers'
  | 'signers'
  | 'liquidations'
  | 'operations';

export const tab = signal<TabId>('positions');

/** More lines than these cannot be distinguished. */
const MAX_LINES = 60;

/** Open orders of the market, those nearest to its mark if there are many. */
function nearestOrders(): readonly Order[] {
  const own = openOrders.value.filter((order) => order.symbol === symbol.value);
  if (own.length <= MAX_LINES) return own;
  const mark = Number(price.value?.mark ?? 0);
  const distance = (order: Order): number =>
    Math.abs(Number(order.triggerPrice ?? order.price) - mark);
  return own.sort((a, b) => distance(a) - distance(b)).slice(0, MAX_LINES);
}

/** Lines of the chart: own orders, the position and its liquidation price, and a planned bracket. */
function linesOf(): ChartLine[] {
  const lines: ChartLine[] = [];
  for (const order of nearestOrders()) {
    const at = order.triggerPrice ?? (order.status === 'pending' ? null : order.price);
    if (at === null) continue;
    lines.push({
      id: order.orderId,
      price: Number(at),
      title: `${order.orderType} ${order.remaining}`,
      tone: order.quantity.startsWith('-') ? 'sell' : 'buy',
      dashed: true,
      ...(isMovable(order)
        ? {
            onDrop: (to: number) => {
              void moveOrder(order, onTick(to));
            },
          }
        : {}),
    });
  }
  const held = positions.value.find((one) => one.symbol === symbol.value);
  if (held !== undefined) {
    lines.push({
      id: 'entry',
      price: Number(held.entryPrice),
      title: `${held.quantity.startsWith('-') ? 'short' : 'long'} ${held.quantity.replace('-', '')}`,
      tone: 'accent',
      dashed: false,
    });
    if (held.liquidationPrice !== null) {
      lines.push({
        id: 'liquidation',
        price: Number(held.liquidationPrice),
        title: 'liquidation',
        tone: 'danger',
        dashed: true,
      });
    }
  }
  for (const [name, title] of [
    ['takeProfit', 'planned TP'],
    ['stopLoss', 'planned SL'],
  ] as const) {
    const at = Number(form[name].value);
    if (!form.bracket.value || !(at > 0)) continue;
    lines.push({
      id: name,
      price: at,
      title,
      tone: name === 'takeProfit' ? 'buy' : 'sell',
      dashed: true,
      onDrop: (to) => {
        form[name].value = onTick(to);
      },
    });
  }
  return lines;
}

/** Open sizes of own orders by side and price of the book. */
function ownLevels(): ReadonlyMap<string, string> {
  const sums = new Map<string, number>();
  for (const order of openOrders.value) {
    if (order.symbol !== symbol.value || order.status === 'pending') continue;
    const side = order.quantity.startsWith('-') ? 'ask' : 'bid';
    const key = `${side} ${order.price}`;
    sums.set(key, (sums.get(key) ?? 0) + Math.abs(Number(order.remaining)));
  }
  return new Map([...sums].map(([key, size]) => [key, sizeText(size, market.value)]));
}

function ChartPane() {
  const { value: bar } = shownBar;
  return (
    <section class="pane chart" aria-label="Chart">
      <header class="bar">
        <div class="intervals" role="group" aria-label="Interval of candles">
          {(['1m', '5m', '15m', '1h', '1d'] as const).map((one) => (
            <button
              key={one}
              type="button"
              class="tab"
              aria-pressed={interval.value === one}
              onClick={() => {
                interval.value = one;
              }}
            >
              {one}
            </button>
          ))}
        </div>
        <select
          aria-label="All intervals"
          value={interval.value}
          onChange={({ currentTarget }) => {
            interval.value = currentTarget.value as Interval;
          }}
        >
          {CANDLE_INTERVALS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <span class="space" />
        {bar === null ? (
          <span class="quiet small">No candles yet</span>
        ) : (
          <span class="ohlc small">
            O <b>{priceText(bar.open, market.value)}</b> H{' '}
            <b>{priceText(bar.high, market.value)}</b> L <b>{priceText(bar.low, market.value)}</b> C{' '}
            <b>{priceText(bar.close, market.value)}</b>
          </span>
        )}
      </header>
      <Chart lines={linesOf()} />
    </section>
  );
}

function Bottom() {
  const panel = {
    positions: Positions,
    orders: OpenOrders,
    history: PastOrders,
    fills: Fills,
    funding: Funding,
    account: AccountPanel,
    transfers: Transfers,
    signers: Signers,
    liquidations: Liquidations,
    operations: Operations,
  }[tab.value];
  const Panel = panel;
  return (
    <section class="pane bottom" aria-label="Account and operations">
      <Tabs<TabId>
        label="Account and operations"
        chosen={tab.value}
        onChoose={(id) => {
          tab.value = id;
        }}
        items={[
          { id: 'positions', title: 'Positions', count: positions.value.length },
          { id: 'orders', title: 'Orders', count: openOrders.value.length },
          { id: 'history', title: 'Past orders' },
          { id: 'fills', title: 'Fills' },
          { id: 'funding', title: 'Funding' },
          { id: 'account', title: 'Account' },
          { id: 'transfers', title: 'Transfers' },
          { id: 'signers', title: 'Signers', count: collected.value.length },
          { id: 'liquidations', title: 'Liquidations', count: liquidations.value.length },
          { id: 'operations', title: 'Operations' },
        ]}
      />
      <div role="tabpanel" id={`panel-${tab.value}`} aria-labelledby={`tab-${tab.value}`}>
        <Panel />
      </div>
    </section>
  );
}

/** Requests on their way and their results. */
function Outbox() {
  const shown = outbox.value.filter((one, i) => i < 5 || !isOver(one));
  if (shown.length === 0) return null;
  const words = {
    signing: '… sign',
    sending: '… sending',
    waiting: '↻ waits',
    login: '↻ waits for login',
    collecting: '✎ needs signatures',
    done: '✓ done',
    refused: '✗ refused',
  } as const;
  return (
    <section aria-label="Requests">
      <ol class="outbox">
        {shown.map(({ id, what, state, message }) => (
          <li key={id} class={state} role={state === 'refused' ? 'alert' : undefined}>
            <strong>{words[state]}</strong> {what}
            {message === '' ? null : <span class="message">: {message}</span>}
            {isOver({ id, what, state, message }) ? (
              <button
                type="button"
                class="link"
                aria-label={`Dismiss ${what}`}
                onClick={() => {
                  dismiss(id);
                }}
              >
                ×
              </button>
            ) : null}
            {state === 'waiting' || state === 'login' ? (
              <button
                type="button"
                class="link"
                aria-label={`Withdraw ${what}`}
                onClick={() => {
                  withdraw(id);
                }}
              >
                Withdraw
              </button>
            ) : null}
          </li>
        ))}
      </ol>
    </section>
  );
}

const KEYS: Readonly<Record<string, () => void>> = {
  b: () => {
    form.side.value = 'buy';
    focusTicket();
  },
  s: () => {
    form.side.value = 'sell';
    focusTicket();
  },
  p: () => document.getElementById('ticket-price')?.focus(),
  q: () => document.getElementById('ticket-size')?.focus(),
  c: () => {
    const held = positions.value.find((one) => one.symbol === symbol.value);
    if (held !== undefined) closePosition(held);
  },
  x: () => {
    if (openOrders.value.some((one) => one.symbol === symbol.value)) cancelAll(symbol.value);
  },
  l: () => {
    loginOpen.value = true;
  },
  o: () => {
    tab.value = 'orders';
  },
  a: () => {
    tab.value = 'account';
  },
  m: () => {
    const button = document.querySelector('.market-bar .name');
    if (button instanceof HTMLElement) button.click();
  },
  '?': () => {
    helpOpen.value = true;
  },
};

function focusTicket(): void {
  sheetOpen.value = true;
  const id = form.kind.value === 'market' ? 'ticket-size' : 'ticket-price';
  requestAnimationFrame(() => document.getElementById(id)?.focus());
}

function onKey(event: KeyboardEvent): void {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target instanceof Element && target.closest('input,select,textarea,dialog') !== null) return;
  const act = KEYS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function Screen() {
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, []);
  const age = staleSeconds();
  return (
    <div class={age === null ? 'screen' : 'screen stale'}>
      <MarketBar>
        <LoginButton />
      </MarketBar>
      <section class="notices" aria-label="Notices">
        <SessionNotices />
        {loadProblem.value === null ? null : (
          <p class="notice danger" role="alert">
            The markets cannot be read: {loadProblem.value}
          </p>
        )}
      </section>
      <main>
        <ChartPane />
        <BookPane
          own={ownLevels()}
          onPrice={(price) => {
            form.price.value = fixed(price, price.split('.')[1]?.length ?? 0);
          }}
        />
        <Ticket />
        <Bottom />
      </main>
      <footer class="foot">
        <ClockBar />
        <span class="space" />
        <span class="keys wide">
          <kbd>B</kbd> buy <kbd>S</kbd> sell <kbd>C</kbd> close <kbd>X</kbd> cancel{' '}
          <button
            type="button"
            class="link"
            onClick={() => {
              helpOpen.value = true;
            }}
          >
            <kbd>?</kbd> keys
          </button>
        </span>
        <span class="small wide">
          Charts by <a href="https://www.tradingview.com/">TradingView</a>
        </span>
      </footer>
      <div class="sheet-buttons">
        {(['buy', 'sell'] as const).map((side) => (
          <button
            key={side}
            type="button"
            class={`button submit ${side}`}
            onClick={() => {
              form.side.value = side;
              sheetOpen.value = true;
            }}
          >
            {side === 'buy' ? 'Buy' : 'Sell'}
          </button>
        ))}
      </div>
      <Outbox />
      {loginOpen.value ? <LoginDialog /> : null}
      {helpOpen.value ? <HelpDialog /> : null}
      <div class="hidden" role="status" aria-live="polite">
        {announcement.value}
      </div>
    </div>
  );
}

/** A clock that stands still between two reads is virtual. */
function watchClock(): void {
  effect(() => {
    if (second.value % 5 !== 1 || untracked(() => feedState.value) !== 'live') return;
    void call('getTime', {}).then(({ time }) => {
      const before = exchangeTime.value;
      const passedMs = before === null ? 0 : Date.now() - before.atMs;
      if (before !== null && passedMs > 1000 && time === before.ms) isVirtual.value = true;
      exchangeTime.value = { ms: time, atMs: Date.now() };
    }, ignored);
  });
}

const ignored = (): void => undefined;

function start(): void {
  const style = document.createElement('style');
  style.textContent = [THEME_CSS, baseCss, exchangeCss].join('\n');
  document.head.append(style);
  applyKeptTheme();
  followTheme();
  const root = document.getElementById('page');
  if (root === null) throw new Error('the page has no element for its content');
  if (receiveLink(location.hash)) tab.value = 'signers';
  addEventListener('hashchange', () => {
    if (receiveLink(location.hash)) tab.value = 'signers';
  });
  subscribeMarkets();
  openFeeds({
    onUpdate: (type, data) => {
      takeMarketUpdate(type, data);
      takeAccountUpdate(type, data);
    },
    onOpen: () => {
      void loadMarkets();
      void loadAccount();
    },
    onTokenEnd: () => {
      logOut(true);
    },
  });
  void loadMarkets();
  followForm();
  watchClock();
  let followed = subaccountIndex.value;
  effect(() => {
    const index = subaccountIndex.value;
    if (index === followed || untracked(() => token.value) === null) return;
    followed = index;
    untracked(() => {
      dropPrivate();
      forgetAccount();
      followAccount();
      void loadAccount();
    });
  });
  effect(() => {
    document.title = `${symbol.value === '' ? 'Markets' : symbol.value} · Orrery`;
  });
  render(<Screen />, root);
}

start();
