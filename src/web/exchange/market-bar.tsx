/** The chosen market: its price, funding and status, the list of markets, and the connection. */
import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { grouped } from '../../design/number-text.ts';
import { largeText, rateText } from '../exact-text.ts';
import { Table, type Column } from '../table.tsx';
import { feedState, lastMessageMs, roundTripMs } from './feeds.ts';
import {
  choose,
  config,
  exchangeTime,
  market,
  markets,
  price,
  summaries,
  summary,
  symbol,
  trades,
  type Market,
  type Summary,
} from './markets.ts';
import { clockText, countdown, priceText, timeText, UNKNOWN } from './text.ts';
import { changeTheme } from './theme-state.ts';

/** Ticks each second, for ages and countdowns. */
export const second = signal(0);
setInterval(() => {
  second.value += 1;
}, 1000);

/** Renders a component again each second. */
export const everySecond = (): number => second.value;

/** Whether the virtual clock of the server is known to stand still between steps. */
export const isVirtual = signal(false);

/** Exchange time now, in ms. */
export function nowMs(): number {
  const known = exchangeTime.value;
  if (known === null) return Date.now();
  return isVirtual.value ? known.ms : known.ms + (Date.now() - known.atMs);
}

const listOpen = signal(false);

export function MarketBar({ children }: { readonly children?: preact.ComponentChildren }) {
  return (
    <header class="market-bar">
      <h1>
        <button
          type="button"
          class="link name"
          aria-expanded={listOpen.value}
          aria-haspopup="dialog"
          onClick={() => {
            listOpen.value = true;
          }}
        >
          {symbol.value === '' ? 'Markets' : symbol.value} <span aria-hidden="true">▾</span>
        </button>
      </h1>
      <Status />
      <Last />
      <Facts />
      <span class="space" />
      <Connection />
      <button
        type="button"
        class="button plain icon"
        aria-label="Light or dark"
        onClick={changeTheme}
      >
        ◐
      </button>
      {children}
      {listOpen.value ? <MarketList /> : null}
    </header>
  );
}

/** The last price; rendered alone, for it changes most often. */
function Last() {
  const last = trades.value[0]?.price ?? price.value?.mark ?? null;
  const before = summary.value?.price24hAgo ?? null;
  const change = last === null || before === null ? null : +last / +before - 1;
  return (
    <span class="last">
      <strong>{priceText(last, market.value)}</strong>{' '}
      {change === null ? null : (
        <span class={change < 0 ? 'loss small' : 'gain small'}>
          {change < 0 ? '−' : '+'}
          {Math.abs(change * 100).toFixed(2)} %
        </span>
      )}
    </span>
  );
}

function Status() {
  const status = market.value?.status ?? 'open';
  const since = price.value?.frozenSince ?? null;
  return (
    <>
      {status === 'open' ? null : <span class="chip warn">{status}</span>}
      {price.value?.frozen === true ? (
        <span class="chip warn">
          frozen{since === null ? '' : ` since ${clockText(since)} UTC`}
        </span>
      ) : null}
      {price.value?.indexStale === true && !price.value.frozen ? (
        <span class="chip warn">index is stale</span>
      ) : null}
    </>
  );
}

function Facts() {
  everySecond();
  const { value: quote } = price;
  const { value: figures } = summary;
  const rate = quote?.indicativeFundingRate ?? figures?.fundingRate ?? null;
  const next = quote?.nextFundingTime ?? null;
  const mark = quote?.markComposition;
  const inputs =
    mark === undefined
      ? ''
      : Object.entries(mark)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => `${name} ${String(value)}`)
          .join(' · ');
  return (
    <dl class="facts">
      <div>
        <dt>Mark</dt>
        <dd title={`Inputs: ${inputs}`}>{priceText(quote?.mark, market.value)}</dd>
      </div>
      <div>
        <dt>Index</dt>
        <dd
          title={
            typeof quote?.indexTime === 'number' ? `set at ${timeText(quote.indexTime)} UTC` : ''
          }
        >
          {priceText(quote?.index, market.value)}
        </dd>
      </div>
      <div>
        <dt>
          Funding{market.value === undefined ? '' : `, ${hours(market.value.funding.intervalMs)}`}
        </dt>
        <dd title={rate === null ? 'No rate: too few samples so far' : ''}>
          {rate === null ? UNKNOWN : rateText(rate)}
          {next === null ? null : <span class="quiet"> in {countdown(next - nowMs())}</span>}
        </dd>
      </div>
      <div class="wide">
        <dt>24 h volume</dt>
        <dd>{figures === undefined ? UNKNOWN : `${largeText(+figures.notionalVolume)} USD`}</dd>
      </div>
      <div class="wide">
        <dt>Open interest</dt>
        <dd>{figures === undefined ? UNKNOWN : grouped(figures.openInterest)}</dd>
      </div>
    </dl>
  );
}

const hours = (ms: number): string =>
  ms >= 3_600_000 ? `${String(ms / 3_600_000)} h` : `${String(ms / 60_000)} min`;

/** Seconds since the last message if the connection is lost; null while data are live. */
export function staleSeconds(): number | null {
  everySecond();
  if (feedState.value === 'live') return null;
  return Math.round((performance.now() - lastMessageMs.at) / 1000);
}

function Connection() {
  const age = staleSeconds();
  if (age === null) {
    const { value: ms } = roundTripMs;
    return (
      <span class="chip ok connection">
        ● live{ms === null ? '' : <span class="wide"> · {ms.toFixed(0)} ms</span>}
      </span>
    );
  }
  return (
    <span class="chip error connection" role="status">
      ○{' '}
      {feedState.value === 'connecting' ? 'connecting' : `no connection, data ${String(age)} s old`}
    </span>
  );
}

const closeList = (): void => {
  listOpen.value = false;
};

const LISTED: readonly Column<Market>[] = [
  {
    name: 'Market',
    left: true,
    of: ({ symbol: name }) => (
      <button
        type="button"
        class="link"
        onClick={() => {
          choose(name);
          closeList();
        }}
      >
        {name}
      </button>
    ),
  },
  {
    name: 'Status',
    left: true,
    of: ({ status, frozen }) => (frozen ? `${status}, frozen` : status),
  },
  {
    name: '24 h volume, USD',
    of: (row) => figureOf(row, ({ notionalVolume }) => largeText(+notionalVolume)),
  },
  {
    name: 'Open interest',
    of: (row) => figureOf(row, ({ openInterest }) => grouped(openInterest)),
  },
  {
    name: 'Funding',
    of: (row) =>
      figureOf(
        row,
        ({ fundingRate }) => `${rateText(fundingRate)} per ${hours(row.funding.intervalMs)}`,
      ),
  },
];

function figureOf({ symbol: name }: Market, text: (of: Summary) => string): string {
  const figures = summaries.value.get(name);
  return figures === undefined ? UNKNOWN : text(figures);
}

function MarketList() {
  const filter = useSignal('');
  // At once, not after the next picture: a key that follows `m` is for the list.
  useLayoutEffect(() => {
    const dialog = document.getElementById('market-list');
    if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
  }, []);
  const { value: all } = markets;
  const shown = all.filter(({ symbol: name }) =>
    name.toLowerCase().includes(filter.value.trim().toLowerCase()),
  );
  return (
    <dialog
      id="market-list"
      class="markets"
      aria-label="Markets"
      onClose={closeList}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) closeList();
      }}
    >
      <div class="bar">
        <h2>Markets of {config.value?.name ?? 'this exchange'}</h2>
        <span class="space" />
        <button type="button" class="button plain" onClick={closeList}>
          Close
        </button>
      </div>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          const [first] = shown;
          if (first === undefined) return;
          choose(first.symbol);
          closeList();
        }}
      >
        <input
          type="search"
          placeholder="Filter; Enter chooses the first"
          aria-label="Filter markets"
          autofocus
          value={filter.value}
          onInput={({ currentTarget }) => {
            filter.value = currentTarget.value;
          }}
        />
        <span class="quiet small">
          {shown.length} of {all.length}
        </span>
      </form>
      <div class="scroll">
        <Table
          caption="Markets"
          hideCaption
          columns={LISTED}
          rows={shown}
          keyOf={(row) => row.symbol}
          look={(row) => ({ selected: row.symbol === symbol.value })}
        />
      </div>
    </dialog>
  );
}
