/** Everything that the page shows of one instant, as plain data for a message. */
import type { LevelView, MarketView } from '../../engine/read/views.ts';
import { numberInSteps, priceText, sizeText } from '../../gateway/encode.ts';
import { formatDecimal } from '../../num/decimal.ts';
import type { Instant, Timeline } from '../../time-machine/timeline.ts';

export interface SceneOptions {
  readonly market: number;
  readonly selection: string | null;
}

export interface Level {
  readonly price: string;
  readonly size: string;
  /** Sum from the best price on. */
  readonly sum: string;
  readonly share: number;
}

export interface MarketScene {
  readonly id: number;
  readonly symbol: string;
  readonly priceDecimals: number;
  /** Price of one tick, for charts. */
  readonly tick: number;
  readonly mark: string | null;
  readonly index: string | null;
  readonly last: string | null;
  readonly fundingRate: string;
  readonly status: string;
}

export interface Scene {
  readonly seq: number;
  readonly timeUs: number;
  readonly chainHash: string;
  readonly markets: readonly MarketScene[];
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

const LEVELS = 10;

export function sceneOf(_: Timeline, instant: Instant, options: SceneOptions): Scene {
  const { engine, seq, timeUs, chainHash } = instant;
  const markets = engine.markets();
  const market = markets[options.market];
  const side = (of: 1 | -1): Level[] =>
    market === undefined ? [] : levels(market, engine.depth(market.id, of, LEVELS));
  return {
    seq,
    timeUs,
    chainHash,
    markets: markets.map(marketScene),
    bids: side(1),
    asks: side(-1),
  };
}

function marketScene(market: MarketView): MarketScene {
  const { id, spec, markTicks, indexTicks, lastTicks, fundingRatePpb, status } = market;
  const text = (of: number | null): string | null => (of === null ? null : priceText(market, of));
  return {
    id,
    symbol: spec.symbol,
    priceDecimals: decimalsOf(spec.tickSize),
    tick: numberInSteps(1, spec.tickSize),
    mark: text(markTicks),
    index: text(indexTicks),
    last: text(lastTicks),
    fundingRate: formatDecimal(BigInt(fundingRatePpb), 7),
    status,
  };
}

const decimalsOf = (step: string): number => step.split('.')[1]?.length ?? 0;

/** Best first. */
function levels(market: MarketView, side: readonly LevelView[]): Level[] {
  const all = side.reduce((sum, { lots }) => sum + Math.abs(lots), 0);
  let sum = 0;
  return side.map(({ priceTicks, lots }) => {
    sum += Math.abs(lots);
    return {
      price: priceText(market, priceTicks),
      size: sizeText(market, Math.abs(lots)),
      sum: sizeText(market, sum),
      share: sum / all,
    };
  });
}
