/** Draws index prices, recorded marks and recorded funding rates. */
import type { Command, SetIndex } from '../../engine/commands.ts';
import { lots, marketId, ppb, priceTicks, type PriceTicks } from '../../num/units.ts';
import type { KnownMarket } from '../fuzz-world.ts';
import { bankrupting, bankruptingRate } from './crisis.ts';
import type { Context } from './draw-context.ts';

export function makeIndex(context: Context, fixed?: KnownMarket): Command {
  const hunted = fixed === undefined ? hunt(context, isOracle) : null;
  if (hunted !== null) return setIndex(context, hunted.market, hunted.ticks);
  const market = fixed ?? fitting(context, isOracle);
  if (market === null) return { kind: 'advanceTime', timeUs: context.nowUs };
  return setIndex(context, market, moved(context, market, market.indexTicks));
}

export function makeMark(context: Context): Command {
  const hunted = hunt(context, isExternal);
  const market = hunted?.market ?? fitting(context, isExternal);
  if (market === null) return makeIndex(context);
  return {
    kind: 'setMark',
    timeUs: context.nowUs,
    market: market.id,
    priceTicks: hunted?.ticks ?? moved(context, market, market.markTicks),
  };
}

/** A price of the source that the market's mark needs. */
export function makeSource(context: Context, market: KnownMarket): Command {
  const { markSource, indexSource } = market.spec;
  const at = { timeUs: context.nowUs, market: market.id };
  if (markSource === 'external') {
    return { ...at, kind: 'setMark', priceTicks: moved(context, market, market.markTicks) };
  }
  if (indexSource !== 'mid' && (market.priced || markSource !== 'last')) {
    return makeIndex(context, market);
  }
  const size = lots(market.spec.minLots);
  return { ...at, kind: 'tapeTrade', priceTicks: priceTicks(market.markTicks), lots: size };
}

export function makeFundingRate(context: Context): Command {
  const { dice, profile } = context;
  const takes = ({ spec, status }: KnownMarket): boolean =>
    spec.funding.source === 'external' && status !== 'delisted';
  const { bankruptPermille } = profile.crisis;
  if (bankruptPermille > 0 && dice.chance(bankruptPermille)) {
    const found = bankruptingRate(context, takes);
    if (found !== null) return settleFunding(context, found.market, found.ratePpb);
  }
  const market = fitting(context, takes);
  if (market === null) return makeIndex(context);
  const max = dice.pick([100_000, 30_000_000, 30_000_000]);
  return settleFunding(context, market, context.faulty ? 2_000_000_000 : dice.between(-max, max));
}

const settleFunding = (context: Context, market: KnownMarket, ratePpb: number): Command => ({
  kind: 'settleFunding',
  timeUs: context.nowUs,
  market: market.id,
  ratePpb: ppb(ratePpb),
});

function setIndex(context: Context, market: KnownMarket, ticks: PriceTicks): SetIndex {
  return {
    kind: 'setIndex',
    timeUs: context.nowUs,
    market: context.faulty && context.dice.chance(300) ? marketId(99) : market.id,
    priceTicks: ticks,
    text: String(ticks),
  };
}

const isOracle = ({ spec, status }: KnownMarket): boolean =>
  spec.indexSource !== 'mid' && status !== 'delisted';
const isExternal = ({ spec, status }: KnownMarket): boolean =>
  spec.markSource === 'external' && status !== 'delisted';

/** A market that accepts such a price; any market for a faulty command; null if there is none. */
function fitting(context: Context, takes: (market: KnownMarket) => boolean): KnownMarket | null {
  if (context.faulty) return context.market();
  const { markets } = context.world;
  const { focusUs } = context.profile.prices;
  const first =
    focusUs > 0 && context.dice.chance(850)
      ? Math.floor(context.nowUs / focusUs) % markets.length
      : context.dice.below(markets.length);
  for (let i = 0; i < markets.length; i += 1) {
    const market = markets[(first + i) % markets.length];
    if (market !== undefined && takes(market)) return market;
  }
  return null;
}

/** The liquidation price of a position, one tick to either side of it, or far beyond it. */
function hunt(
  context: Context,
  takes: (market: KnownMarket) => boolean,
): { readonly market: KnownMarket; readonly ticks: PriceTicks } | null {
  const { dice, world, profile } = context;
  const { bankruptPermille } = profile.crisis;
  if (bankruptPermille > 0 && dice.chance(bankruptPermille)) return bankrupting(context, takes);
  if (!dice.chance(profile.prices.huntPermille)) return null;
  const holder = context.holder();
  if (holder === null || !takes(holder.market)) return null;
  const { owner, market } = holder;
  const position = world.view.positions(owner.id).find((held) => held.market === market.id);
  const liquidation = position?.liquidationTicks ?? null;
  if (position === undefined || liquidation === null) return null;
  const beyond = position.lots > 0 ? -1 : 1;
  const gap = dice.chance(500) ? dice.between(-1, 1) : beyond * dice.below(1 + (liquidation >> 5));
  return { market, ticks: within(market, liquidation + gap) };
}

/** A step or a jump, reverting to the opening price if it is far away. */
export function moved(context: Context, market: KnownMarket, fromTicks: number): PriceTicks {
  const { dice, profile } = context;
  const { stepPpm, jumpPermille, jumpPpm } = profile.prices;
  if (context.faulty && dice.chance(100)) return priceTicks(dice.pick([0, 2 ** 31]));
  const widest = dice.chance(jumpPermille) ? jumpPpm : stepPpm;
  const max = Math.max(2, Math.floor((fromTicks * widest) / 1_000_000));
  const strayed =
    fromTicks > 4 * market.openingTicks ? -1 : fromTicks < market.openingTicks / 4 ? 1 : 0;
  const step = strayed === 0 ? dice.between(-max, max) : strayed * dice.below(max + 1);
  return within(market, fromTicks + step);
}

const within = ({ spec }: KnownMarket, ticks: number): PriceTicks =>
  priceTicks(Math.max(1, Math.min(ticks, spec.maxPriceTicks)));
