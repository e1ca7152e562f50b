/** Comparison of market history with the fold of its prints. */
import type { ExchangeView } from '../engine/read/views.ts';
import { marketId, timeUs } from '../num/units.ts';
import type { Comparison } from './divergence.ts';
import { candlesOf, dayOf, keptPrints } from './market-data.ts';
import type { Market, World } from './world.ts';

const MINUTE = 60_000_000n;
const ALL_TIME = timeUs(Number.MAX_SAFE_INTEGER);
/** Newest candles compared per interval. */
const CANDLES = 5n;
const TRADES = 5;

export function compareMarketData(
  to: Comparison,
  world: World,
  exchange: ExchangeView,
  market: Market,
): void {
  compareTrades(to, world, exchange, market);
  const { candleMinutesPerMarket } = world.config.retention;
  const prints = keptPrints(market.prints, BigInt(candleMinutesPerMarket));
  for (const minutes of [1n, 5n, 60n]) {
    compareCandles(to, world, exchange, { ...market, prints }, minutes * MINUTE);
  }
  const [first] = prints;
  const isCut = prints.length < market.prints.length;
  const keptSince = isCut && first !== undefined ? first.at - (first.at % MINUTE) : null;
  const { keptSinceUs } = exchange.candles(marketId(market.id), 60_000_000, timeUs(0), ALL_TIME, 1);
  to.same('R-12.3', () => `start of the candles of market ${market.id}`, keptSince, keptSinceUs);
  const day = dayOf(market, world.now, world.config.retention, keptSince);
  const shown = exchange.summary(marketId(market.id));
  const of = (what: string) => () => `${what} of market ${market.id}`;
  to.same('R-10.4', of('24 h volume'), day.volume, shown.volumeLots);
  to.same('R-10.4', of('24 h notional'), day.notional, shown.notionalQuanta);
  to.same('R-10.4', of('price of 24 h ago'), day.priceBefore, shown.price24hAgoTicks);
  const { lots, levels } = exchange.divergence(marketId(market.id));
  to.same('D-15', of('divergence in lots'), market.diverged.lots, lots);
  to.same('D-15', of('divergences of levels'), market.diverged.levels, levels);
}

function compareTrades(to: Comparison, world: World, exchange: ExchangeView, market: Market): void {
  const kept = Math.min(TRADES, world.config.retention.tradesPerMarket);
  const trades = market.prints.filter(({ id }) => id !== null);
  const newest = kept === 0 ? [] : trades.slice(-kept).reverse();
  const shown = exchange.trades(marketId(market.id), timeUs(0), ALL_TIME, kept).items;
  to.sameList(
    'R-10.3',
    () => `the newest trades of market ${market.id}`,
    newest.map(({ id, at, price, lots }) => `${id}: ${lots}@${price} at ${at}`),
    shown.map((trade) => `${trade.tradeId}: ${trade.lots}@${trade.priceTicks} at ${trade.timeUs}`),
  );
}

function compareCandles(
  to: Comparison,
  world: World,
  exchange: ExchangeView,
  market: Market,
  interval: bigint,
): void {
  const since = world.now - (CANDLES - 1n) * interval;
  const { items } = exchange.candles(
    marketId(market.id),
    Number(interval),
    timeUs(0),
    ALL_TIME,
    Number(CANDLES),
  );
  to.sameList(
    'R-10.3',
    () => `the candles of ${interval / MINUTE} min of market ${market.id}`,
    candlesOf(market, interval, since, world.now).map(
      ({ at, open, high, low, close, volume, rate }) =>
        `${at}: ${open} ${high} ${low} ${close}, volume ${volume}, rate ${rate}`,
    ),
    items.map(
      (candle) =>
        `${candle.timeUs}: ${candle.openTicks} ${candle.highTicks} ${candle.lowTicks} ${candle.closeTicks}, volume ${candle.volumeLots}, rate ${candle.fundingRatePpb}`,
    ),
  );
}
