/** The trading and operations screen of `orrery serve`, at /ui. */
import { computed, effect, signal, untracked } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { THEME_CSS } from '../../design/tokens.ts';
import { fixed } from '../exact-text.ts';
import baseCss from '../style.css?inline';
import { applyKeptTheme, showIcon } from '../theme.ts';
import { TabPanel, Tabs } from '../tabs.tsx';
import { AccountPanel, Transfers } from './account-panel.tsx';
import {
  accountProblem,
  announcement,
  forgetAccount,
  loadAccount,
  openOrders,
  positions,
  takeAccountUpdate,
} from './account-state.ts';
import { cancelAll, OpenOrders, PastOrders, Positions } from './account-tables.tsx';
import { collected } from './collecting.ts';
import { BookPane } from './book-pane.tsx';
import { followLines } from './chart-lines.ts';
import { ChartPane } from './chart-pane.tsx';
import { ClockBar } from './clock-bar.tsx';
import exchangeCss from './exchange.css?inline';
import { feedState, openFeeds } from './feeds.ts';
import { HelpDialog, helpOpen } from './help.tsx';
import { Fills, Funding, Liquidations, whose } from './history-tables.tsx';
import { LiquidationNotice } from './liquidation-notice.tsx';
import { followLiquidations } from './liquidation-state.ts';
import { LoginButton, LoginDialog, loginOpen, SessionNotices } from './login.tsx';
import { isVirtual, MarketBar, second, staleSeconds } from './market-bar.tsx';
import {
  chooseAddressed,
  exchangeTime,
  liquidations,
  loadMarkets,
  loadProblem,
  price,
  subscribeMarkets,
  symbol,
  takeMarketUpdate,
  unlisted,
} from './markets.ts';
import { Operations } from './operations.tsx';
import { receiveLink, Signers } from './signers-panel.tsx';
import { closePosition, followForm, form } from './order-form.ts';
import { dismiss, isOver, outbox, withdraw } from './outbox.ts';
import { call } from './requests.ts';
import { account, dropPrivate, followAccount, logOut, subaccountIndex, token } from './session.ts';
import { followTheme } from './theme-state.ts';
import { StrategyPanel } from './strategy-panel.tsx';
import { followStrategy, strategy } from './strategy-state.ts';
import { sheetOpen, Ticket } from './ticket.tsx';

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
  | 'strategy'
  | 'operations';

export const tab = signal<TabId>('positions');

/** Numbers of records, which change less often than the records. */
const openCount = computed(() => openOrders.value.length);
const positionCount = computed(() => positions.value.length);

const STRATEGY_TAB = { id: 'strategy', title: 'Strategy' } as const;

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
    strategy: StrategyPanel,
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
          { id: 'positions', title: 'Positions', count: positionCount.value },
          { id: 'orders', title: 'Orders', count: openCount.value },
          { id: 'history', title: 'Past orders' },
          { id: 'fills', title: 'Fills' },
          { id: 'funding', title: 'Funding' },
          { id: 'account', title: 'Account' },
          { id: 'transfers', title: 'Transfers' },
          { id: 'signers', title: 'Signers', count: collected.value.length },
          { id: 'liquidations', title: 'Liquidations', count: liquidations.value.length },
          ...(strategy.value === null ? [] : [STRATEGY_TAB]),
          { id: 'operations', title: 'Operations' },
        ]}
      />
      <TabPanel of={tab.value}>
        <Panel />
      </TabPanel>
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
    <section class="requests" aria-label="Requests">
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
            {state === 'signing' || state === 'waiting' || state === 'login' ? (
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
  if (target instanceof HTMLElement && target.closest('input,select,textarea,dialog') !== null) {
    // Keys of the screen work outside of fields.
    if (event.key === 'Escape' && target.closest('dialog') === null) target.blur();
    return;
  }
  const act = KEYS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/** The first thing to do on a new server. */
function NoPrice() {
  const { value: quote } = price;
  if (quote === undefined || quote.mark !== null || quote.index !== null) return null;
  return (
    <p class="notice warn">
      {symbol.value} has no price yet, so no order is accepted. On a test server, enter the
      simulation token below, press Test controls, and set an oracle price.
    </p>
  );
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
        {accountProblem.value === null ? null : (
          <p class="notice danger" role="alert">
            Subaccount {subaccountIndex.value} of {account.value} cannot be read:{' '}
            {accountProblem.value}
          </p>
        )}
        {unlisted.value === null ? null : (
          <p class="notice danger" role="alert">
            This exchange has no market {unlisted.value}; the page shows {symbol.value}.
          </p>
        )}
        <NoPrice />
        <LiquidationNotice
          onShow={() => {
            whose.value = 'own';
            tab.value = 'liquidations';
          }}
        />
      </section>
      <main>
        <ChartPane />
        <BookPane
          onPrice={(price) => {
            form.price.value = fixed(price, price.split('.')[1]?.length ?? 0);
          }}
        />
        <Ticket />
        <Bottom />
      </main>
      <footer class="foot">
        <Outbox />
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
  showIcon();
  applyKeptTheme();
  followTheme();
  const root = document.getElementById('page');
  if (root === null) throw new Error('the page has no element for its content');
  if (receiveLink(location.hash)) tab.value = 'signers';
  addEventListener('hashchange', () => {
    if (receiveLink(location.hash)) tab.value = 'signers';
    else chooseAddressed();
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
    onRevoked: () => void loadAccount(),
    onTokenEnd: () => {
      logOut(true);
    },
  });
  void loadMarkets();
  followForm();
  followLines();
  followStrategy();
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
  // After the effect that forgets the account, which drops reads that are on their way.
  followLiquidations();
  effect(() => {
    document.title = `${symbol.value === '' ? 'Markets' : symbol.value} · Orrery`;
  });
  render(<Screen />, root);
}

start();
