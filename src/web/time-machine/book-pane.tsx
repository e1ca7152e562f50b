/** Price ladder of the market, prices of the market. */
import { grouped } from '../../design/number-text.ts';
import { toneOf } from '../exact-text.ts';
import type { Level, MarketScene, Scene } from './scene.ts';
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
        <span class="small quiet">price · size · sum</span>
      </header>
      <div class="body" tabIndex={0} role="region" aria-label="Levels and prices">
        {now === null || market === undefined ? (
          <p class="note">No market is listed at this instant.</p>
        ) : (
          <>
            <Ladder levels={[...now.asks].reverse()} side="ask" label="Asks, best last" />
            <Middle market={market} bid={now.bids[0]?.price} ask={now.asks[0]?.price} />
            <Ladder levels={now.bids} side="bid" label="Bids, best first" />
            <Prices scene={now} market={market} />
          </>
        )}
      </div>
    </section>
  );
}

function MarketChoice({ markets }: { readonly markets: readonly MarketScene[] }) {
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

interface LadderProps {
  readonly levels: readonly Level[];
  readonly side: 'bid' | 'ask';
  readonly label: string;
}

function Ladder({ levels, side, label }: LadderProps) {
  return (
    <ol class="ladder" aria-label={label}>
      {levels.map(({ price, size, sum, share }) => (
        <li key={price} class={side} style={{ '--share': `${(share * 100).toFixed(1)}%` }}>
          <b>{grouped(price)}</b>
          <span>{grouped(size)}</span>
          <span class="soft">{grouped(sum)}</span>
        </li>
      ))}
      {levels.length === 0 ? <li>no {side}s</li> : null}
    </ol>
  );
}

interface MiddleProps {
  readonly market: MarketScene;
  readonly bid: string | undefined;
  readonly ask: string | undefined;
}

function Middle({ market, bid, ask }: MiddleProps) {
  const [low, high] = [Number(bid), Number(ask)];
  const spread = high - low;
  const text =
    bid === undefined || ask === undefined
      ? 'one side is empty'
      : `spread ${grouped(spread.toFixed(market.priceDecimals))} · ${((spread / (high + low)) * 2e4).toFixed(2)} bp`;
  return (
    <div class="middle">
      <b>{market.mark === null ? '–' : grouped(market.mark)}</b>
      <span class="small soft">mark · {text}</span>
    </div>
  );
}

function Prices({ market }: { readonly scene: Scene; readonly market: MarketScene }) {
  const price = (text: string | null): string => (text === null ? '–' : grouped(text));
  return (
    <div class={`facts${selection.value === `market:${String(market.id)}` ? ' lit' : ''}`}>
      <h3>
        <button
          type="button"
          class="link"
          onClick={() => {
            select(`market:${String(market.id)}`);
          }}
        >
          Prices of {market.symbol}
        </button>
      </h3>
      <dl>
        <dt>Mark</dt>
        <dd>{price(market.mark)}</dd>
        <dt>Index</dt>
        <dd>{price(market.index)}</dd>
        <dt>Last</dt>
        <dd>{price(market.last)}</dd>
        <dt>Funding rate</dt>
        <dd class={toneOf(market.fundingRate)}>{grouped(market.fundingRate)} %</dd>
        <dt>Status</dt>
        <dd>{market.status}</dd>
      </dl>
    </div>
  );
}
