/** Order book with own orders, its depth, and the trades of the market. */
import { signal } from '@preact/signals';
import { Component } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { grouped } from '../../design/number-text.ts';
import { Table, type Column } from '../table.tsx';
import { openOrders, orders } from './account-state.ts';
import { book, bookVersion, market, summary, trades, type Trade } from './markets.ts';
import { decimalsOf, type Row } from './book-state.ts';
import { clockText, priceText, sizeIn, sizeText } from './text.ts';

/** Most levels of a side. */
const ROWS = 12;
/** As in the style sheet, px. */
const ROW_PX = 24;
/** The column heads, and the middle with its lines. */
const OTHERS_PX = 58;
/** The page is one screen, whose panes do not grow with their content; as in the style sheet. */
const ONE_SCREEN = matchMedia('(min-width: 1101px) and (min-height: 640px)');
/** Levels of a side that fit into the pane, so that both sides are seen. */
const fitting = signal(ROWS);
/** Characters of a row of the book: its price, size and sum. */
const rowChars = signal(23);
/** Width of a digit, and of the space around the three texts, px. */
const [DIGIT_PX, AROUND_PX] = [8.3, 36];
const MIN_PRICE_CHARS = 5;
/** With less room beside the price, the spread is in basis points only. */
const NARROW_CHARS = 14;

function fit(pane: HTMLElement): void {
  rowChars.value = Math.floor((pane.clientWidth - AROUND_PX) / DIGIT_PX);
  const [bar] = pane.children;
  const room = pane.clientHeight - (bar?.clientHeight ?? 0) - OTHERS_PX;
  const rows = Math.max(1, Math.floor(room / (2 * ROW_PX)));
  fitting.value = ONE_SCREEN.matches ? Math.min(ROWS, rows) : ROWS;
}

const DEPTH_LEVELS = 200;
const MERGES = [0, 5, 10, 50, 100] as const;

/** Index in `MERGES`: the number of ticks of a row; 0: as they are. */
const merge = signal<number>(0);
const view = signal<'book' | 'depth' | 'trades'>('book');

interface BookPaneProps {
  readonly onPrice: (price: string) => void;
}

export function BookPane({ onPrice }: BookPaneProps) {
  const tick = Number(market.value?.tickSize ?? '0');
  const step = merge.value * tick;
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const { current } = pane;
    if (current === null) return;
    const sizes = new ResizeObserver(() => {
      fit(current);
    });
    sizes.observe(current);
    return () => {
      sizes.disconnect();
    };
  }, []);
  return (
    <section ref={pane} class="pane book" aria-label="Book and trades">
      <header class="bar">
        {(['book', 'depth', 'trades'] as const).map((name) => (
          <button
            key={name}
            type="button"
            class="tab"
            aria-pressed={view.value === name}
            onClick={() => {
              view.value = name;
            }}
          >
            {{ book: 'Book', depth: 'Depth', trades: 'Trades' }[name]}
          </button>
        ))}
        <span class="space" />
        {view.value === 'book' ? (
          <select
            aria-label="Price step of a row"
            value={String(merge.value)}
            onChange={({ currentTarget }) => {
              merge.value = Number(currentTarget.value);
            }}
          >
            {MERGES.map((ticks) => (
              <option key={ticks} value={String(ticks)}>
                {ticks === 0 ? 'exact' : (ticks * tick).toFixed(decimalsOf(tick))}
              </option>
            ))}
          </select>
        ) : null}
      </header>
      {view.value === 'book' ? <Levels step={step} onPrice={onPrice} /> : null}
      {view.value === 'depth' ? <Depth /> : null}
      {view.value === 'trades' ? <Trades /> : null}
    </section>
  );
}

interface LevelProps extends BookPaneProps {
  readonly side: 'ask' | 'bid';
  readonly price: string;
  readonly size: string;
  readonly sum: string;
  /** Exact size and sum; empty if they are shown so. */
  readonly exact: string;
  /** Length of the bar, percent. */
  readonly share: string;
  /** Size of own orders; empty without one. */
  readonly mine: string;
}

/** Rendered again only if a text of it changes. */
class Level extends Component<LevelProps> {
  override shouldComponentUpdate(next: LevelProps, state: object): boolean {
    const { price, size, sum, exact, share, mine } = this.props;
    return (
      state !== this.state ||
      next.exact !== exact ||
      next.price !== price ||
      next.size !== size ||
      next.sum !== sum ||
      next.share !== share ||
      next.mine !== mine
    );
  }

  override render() {
    const { side, price, size, sum, exact, share, mine, onPrice } = this.props;
    return (
      <tr class={mine === '' ? '' : 'mine'} title={exact === '' ? undefined : exact}>
        <th scope="row" class={side === 'ask' ? 'loss' : 'gain'}>
          <button
            type="button"
            class="level"
            title={mine === '' ? 'Use this price' : `Own order: ${mine}`}
            onClick={() => {
              onPrice(price);
            }}
          >
            {priceText(price, market.value)}
            {mine === '' ? null : <span class="hidden"> own order {mine}</span>}
          </button>
        </th>
        <td>{size}</td>
        <td class={`sum ${side}`} style={{ backgroundSize: `${share}% 100%` }}>
          {sum}
        </td>
      </tr>
    );
  }
}

function Levels({ step, onPrice }: BookPaneProps & { readonly step: number }) {
  const version = bookVersion.value;
  const { value: of } = market;
  // Own orders may change without the book.
  const hasOrders = openOrders.value.length > 0;
  const asks = book.side('ask', fitting.value, step);
  const bids = book.side('bid', fitting.value, step);
  const most = Math.max(asks.at(-1)?.sum ?? 0, bids.at(-1)?.sum ?? 0, 1e-12);
  const [ask, bid] = [asks[0], bids[0]];
  const middle = ask === undefined || bid === undefined ? null : (+ask.price + +bid.price) / 2;
  const spread = ask === undefined || bid === undefined ? null : +ask.price - +bid.price;
  const priceChars = Math.max(
    ...[...asks, ...bids].map((row) => priceText(row.price, of).length),
    MIN_PRICE_CHARS,
  );
  const room = Math.floor((rowChars.value - priceChars) / 2);
  const isNarrow = rowChars.value - priceChars < NARROW_CHARS;
  const rows = (side: 'ask' | 'bid', list: readonly Row[]) =>
    list.map(({ price, size, sum }) => {
      const [exactSize, exactSum] = [sizeText(size, of), sizeText(sum, of)];
      const isExact = Math.max(exactSize.length, exactSum.length) <= room;
      const mine = hasOrders ? orders.sizeAt(of?.symbol ?? '', side, price) : 0;
      return (
        <Level
          key={price}
          side={side}
          price={price}
          size={sizeIn(room, size, of)}
          sum={sizeIn(room, sum, of)}
          exact={isExact ? '' : `size ${exactSize}, sum ${exactSum}`}
          share={((sum / most) * 100).toFixed(0)}
          mine={mine === 0 ? '' : sizeText(mine, of)}
          onPrice={onPrice}
        />
      );
    });
  return (
    <table class="levels" data-version={version}>
      <caption class="hidden">Order book of {market.value?.symbol}</caption>
      <colgroup>
        <col style={{ width: `calc(${String(priceChars)}ch + 16px)` }} />
        <col />
        <col />
      </colgroup>
      <thead>
        <tr>
          <th scope="col">Price</th>
          <th scope="col">Size</th>
          <th scope="col">Sum</th>
        </tr>
      </thead>
      <tbody class="asks">{rows('ask', asks).reverse()}</tbody>
      <tbody>
        <tr class="middle">
          <td colSpan={3} class="left">
            {middle === null ? (
              <span class="quiet">
                {ask === undefined && bid === undefined ? 'The book is empty' : 'One side is empty'}
              </span>
            ) : (
              <>
                <strong>{priceText(middle, market.value)}</strong>{' '}
                <span class="quiet" title={`${priceText(spread, market.value)} apart`}>
                  {isNarrow ? 'spread ' : `${priceText(spread, market.value)} apart · `}
                  {(((spread ?? 0) / middle) * 10_000).toFixed(2)} bp
                </span>
              </>
            )}
          </td>
        </tr>
      </tbody>
      <tbody>{rows('bid', bids)}</tbody>
    </table>
  );
}

/** Sums of sizes over prices, around the middle. */
function Depth() {
  const version = bookVersion.value;
  const asks = book.side('ask', DEPTH_LEVELS);
  const bids = book.side('bid', DEPTH_LEVELS);
  const [ask, bid] = [asks[0], bids[0]];
  if (ask === undefined || bid === undefined) {
    return <p class="empty">The depth chart needs both sides of the book</p>;
  }
  const low = Number(bids.at(-1)?.price);
  const high = Number(asks.at(-1)?.price);
  const most = Math.max(asks.at(-1)?.sum ?? 0, bids.at(-1)?.sum ?? 0);
  const x = (price: string): string => (((+price - low) / (high - low || 1)) * 232).toFixed(1);
  const y = (sum: number): string => (180 - (sum / most) * 170).toFixed(1);
  const path = (rows: readonly Row[], from: string): string => {
    let text = `M${from} 180`;
    let last = 180;
    for (const { price, sum } of rows) {
      text += ` L${x(price)} ${String(last)} L${x(price)} ${y(sum)}`;
      last = Number(y(sum));
    }
    return `${text} L${x(rows.at(-1)?.price ?? '0')} 180 Z`;
  };
  return (
    <figure class="depth" data-version={version}>
      <svg
        viewBox="0 0 232 180"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Depth: ${sizeText(bids.at(-1)?.sum, market.value)} to buy, ${sizeText(asks.at(-1)?.sum, market.value)} for sale`}
      >
        <path d={path(bids, x(bid.price))} class="bids" />
        <path d={path(asks, x(ask.price))} class="asks" />
      </svg>
      <figcaption class="small quiet">
        {priceText(low, market.value)} – {priceText(high, market.value)} · bids{' '}
        {sizeText(bids.at(-1)?.sum, market.value)} · asks {sizeText(asks.at(-1)?.sum, market.value)}
      </figcaption>
    </figure>
  );
}

/** Characters of the size of a trade, since its time follows. */
const TRADE_CHARS = 9;

const TRADES: readonly Column<Trade>[] = [
  {
    name: 'Price',
    of: (row) => priceText(row.price, market.value),
    tone: ({ quantity }) => (quantity.startsWith('-') ? 'loss' : 'gain'),
  },
  {
    name: 'Size',
    of: ({ quantity }) =>
      `${quantity.startsWith('-') ? '▼' : '▲'} ${sizeIn(TRADE_CHARS, quantity.replace('-', ''), market.value)}`,
    title: ({ quantity }) => grouped(quantity.replace('-', '')),
  },
  { name: 'Time UTC', of: ({ time }) => clockText(time) },
];

/** A trade has no id of its own. */
const keys = new WeakMap<Trade, number>();
let keyCount = 0;

function keyOf(row: Trade): number {
  const known = keys.get(row);
  if (known !== undefined) return known;
  keyCount += 1;
  keys.set(row, keyCount);
  return keyCount;
}

function Trades() {
  if (trades.value.length === 0) {
    return <p class="empty">No trades yet{summary.value === undefined ? '' : ' in this market'}</p>;
  }
  return (
    <div class="scroll">
      <Table
        caption={`Trades of ${market.value?.symbol ?? ''}, newest first`}
        hideCaption
        columns={TRADES}
        rows={trades.value}
        keyOf={keyOf}
      />
    </div>
  );
}
