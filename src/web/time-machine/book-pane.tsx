/** Price ladder of the market with own orders and their place in the queue; prices below. */
import { grouped } from '../../design/number-text.ts';
import type { BookAt, LadderRow, OwnOrderAt } from '../../time-machine/views/book-at.ts';
import type { MarketAt } from '../../time-machine/views/market-at.ts';
import { clock, fixed, largeText, money, rateText, toneOf } from '../exact-text.ts';
import { litOrder, OrderName } from './names.tsx';
import { selectedId, selectionText } from './selection.ts';
import type { Scene } from './scene.ts';
import { market as chosenMarket, scene, select, selection, showMarket } from './store.ts';

export function BookPane() {
  const now = scene.value;
  const market = now?.markets[chosenMarket.value];
  return (
    <section class="pane book" aria-label="Book">
      <header>
        <h2>Book</h2>
        {(now?.markets.length ?? 0) > 1 ? <MarketChoice markets={now?.markets ?? []} /> : null}
        <span class="space" />
        {(now?.markets.length ?? 0) > 1 ? null : (
          <span class="small quiet">price · size · sum</span>
        )}
      </header>
      <div class="body" tabIndex={0} role="region" aria-label="Levels and prices">
        {now === null || market === undefined || now.book === null ? (
          <p class="note">No market is listed at this instant.</p>
        ) : (
          <>
            <Book book={now.book} market={market} />
            <OwnOrders scene={now} book={now.book} />
            <Prices scene={now} market={market} />
          </>
        )}
      </div>
    </section>
  );
}

function MarketChoice({ markets }: { readonly markets: readonly MarketAt[] }) {
  return (
    <select
      aria-label="Market"
      value={chosenMarket.value}
      onChange={(event) => {
        showMarket(Number(event.currentTarget.value));
      }}
    >
      {markets.map(({ id, symbol }) => (
        <option key={id} value={id}>
          {symbol}
        </option>
      ))}
    </select>
  );
}

function Book({ book, market }: { readonly book: BookAt; readonly market: MarketAt }) {
  const [priceDecimals, sizeDecimals] = [decimalsOf(market.tickSize), decimalsOf(market.lotSize)];
  const most = Math.max(
    ...[book.bids, book.asks].map((side) => side.reduce((sum, { lots }) => sum + lots, 0)),
  );
  const common = { most, priceDecimals, sizeDecimals };
  return (
    <>
      <Ladder {...common} rows={book.asks} side="ask" label="Asks, best last" />
      <div class="middle">
        <b>{market.mark === null ? '–' : grouped(market.mark)}</b>
        <span class="small soft" title={spreadText(book, market).title}>
          mark · {spreadText(book, market).text}
        </span>
      </div>
      <Ladder {...common} rows={book.bids} side="bid" label="Bids, best first" />
    </>
  );
}

const decimalsOf = (step: string): number => step.split('.')[1]?.length ?? 0;

/** In basis points; the title has it in units of the price, for which a line has no room. */
function spreadText({ spreadTicks, midHalfTicks }: BookAt, { tickSize }: MarketAt) {
  if (spreadTicks === null || midHalfTicks === null) return { text: 'no spread' };
  const spread = (spreadTicks * Number(tickSize)).toFixed(decimalsOf(tickSize));
  const points = (spreadTicks / midHalfTicks) * 2e4;
  const text = `spread ${points.toFixed(points < 100 ? 2 : 0)} bp`;
  return { text, title: `${text}, ${grouped(spread)}` };
}

interface LadderProps {
  readonly rows: readonly LadderRow[];
  readonly side: 'bid' | 'ask';
  readonly label: string;
  /** Lots of a full bar. */
  readonly most: number;
  readonly priceDecimals: number;
  readonly sizeDecimals: number;
}

function Ladder({ rows, side, label, most, priceDecimals, sizeDecimals }: LadderProps) {
  let sum = 0;
  const bars = rows.map(({ lots }) => (sum += lots) / Math.max(1, most));
  const items = rows.map((row, i) => (
    <li
      // By place: elements are used again for other prices, which is faster than new ones.
      key={i}
      class={`${side} ${row.own.length > 0 ? 'own' : ''} ${row.own.map(({ orderId }) => litOrder(orderId)).join(' ')}`}
      style={{ '--share': `${((bars[i] ?? 0) * 100).toFixed(1)}%` }}
      title={row.own.length > 0 ? 'with own orders' : undefined}
    >
      <b>{grouped(fixed(row.price, priceDecimals))}</b>
      <Size exact={grouped(fixed(row.size, sizeDecimals))} value={row.size} />
      <Size exact={grouped(fixed(row.cumulative, sizeDecimals))} value={row.cumulative} soft />
    </li>
  ));
  if (side === 'ask') items.reverse();
  return (
    <ol class="ladder" aria-label={label}>
      {items}
      {rows.length === 0 ? <li class="none">no {side}s</li> : null}
    </ol>
  );
}

/** Characters of a size; a longer one has K, M or B, and is exact in its title. */
const SIZE_CHARS = 8;

interface SizeProps {
  readonly exact: string;
  readonly value: string;
  readonly soft?: boolean;
}

function Size({ exact, value, soft = false }: SizeProps) {
  const isLong = exact.length > SIZE_CHARS && Number(value) >= 1000;
  return (
    <span class={soft ? 'soft' : ''} title={isLong ? exact : undefined}>
      {isLong ? largeText(Number(value)) : exact}
    </span>
  );
}

function OwnOrders({ scene: now, book }: { readonly scene: Scene; readonly book: BookAt }) {
  const rows = [...book.asks, ...book.bids].flatMap((row) =>
    row.own.map((order) => ({ ...order, price: row.price })),
  );
  const owner = now.account?.name;
  if (owner === undefined) return null;
  return (
    <div class="facts">
      <h3>Orders of {owner} in these levels</h3>
      {rows.length === 0 ? (
        <p class="soft">none</p>
      ) : (
        rows.map((row) => <Own key={row.orderId} {...row} />)
      )}
    </div>
  );
}

function Own({ orderId, price, remaining, ahead }: OwnOrderAt & { readonly price: string }) {
  return (
    <dl class={litOrder(orderId)}>
      <dt>
        <OrderName id={orderId} /> {remaining}
      </dt>
      <dd>{grouped(price)}</dd>
      <dt>Ahead in the queue</dt>
      <dd>{ahead ?? '–'}</dd>
    </dl>
  );
}

function Prices({ scene: now, market }: { readonly scene: Scene; readonly market: MarketAt }) {
  const price = (text: string | null): string => (text === null ? '–' : grouped(text));
  const chosen = selectedId(selection.value, 'market') === market.id;
  const parts = Object.entries(market.markParts).filter(([, value]) => value !== null);
  return (
    <div class={`facts${chosen ? ' lit' : ''}`}>
      <h3>
        <button
          type="button"
          class="link"
          aria-pressed={chosen}
          onClick={() => {
            select(selectionText('market', market.id));
          }}
        >
          Prices of {market.symbol}
        </button>
      </h3>
      <dl>
        <dt>Mark ({market.markSource})</dt>
        <dd>{price(market.mark)}</dd>
        {chosen
          ? parts.map(([name, value]) => (
              <>
                <dt key={name}>· {name}</dt>
                <dd>{price(value)}</dd>
              </>
            ))
          : null}
        <dt>Index</dt>
        <dd>{price(market.index)}</dd>
        <dt>Last</dt>
        <dd>{price(market.last)}</dd>
        <dt>Open interest</dt>
        <dd>{grouped(market.openInterest)}</dd>
        <dt>Funding rate</dt>
        <dd class={toneOf(market.fundingRate)}>{rateText(market.fundingRate)}</dd>
        {market.nextFundingUs === null ? null : (
          <>
            <dt>Next funding</dt>
            <dd>{clock(market.nextFundingUs, 0)}</dd>
          </>
        )}
        <dt>Insurance fund</dt>
        <dd title={now.funds.insurance}>{money(now.funds.insurance)}</dd>
        {/[1-9]/.test(now.funds.shortfall) ? (
          <>
            <dt>Shortfall</dt>
            <dd class="danger">{money(now.funds.shortfall)}</dd>
          </>
        ) : null}
        <dt>Status</dt>
        <dd>
          {market.status}
          {market.frozenSinceUs === null ? '' : ', frozen'}
        </dd>
      </dl>
    </div>
  );
}
