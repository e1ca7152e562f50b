/** Draws recorded liquidity: depth around the mark, prints at the best prices, full books, gaps. */
import type { Command, TapeLevel } from '../../engine/commands.ts';
import { lots, priceTicks } from '../../num/units.ts';
import type { KnownMarket } from '../fuzz-world.ts';
import type { Planned } from './aims.ts';
import type { Context } from './draw-context.ts';
import { moved } from './prices.ts';

/** Usually a market that takes bars and single orders: some impact models need levels. */
function marketWithoutLevels(context: Context): KnownMarket {
  for (let tries = 0; tries < 3; tries += 1) {
    const market = context.market();
    if (market.spec.impactModel !== 'squareRoot') return market;
  }
  return context.market();
}

export function makeDepth(context: Context): Command {
  const market = context.market();
  const levels = Array.from({ length: context.dice.between(1, 4) }, () => level(context, market));
  return { kind: 'tapeDepth', timeUs: context.nowUs, market: market.id, levels };
}

export function makePrint(context: Context): Command {
  const { dice, world } = context;
  const market = context.market();
  const { bestBid, bestAsk } = world.view.market(market.id);
  const buys = dice.chance(500);
  const best = (buys ? bestAsk : bestBid)?.priceTicks ?? market.markTicks;
  const price = Math.max(context.faulty ? 0 : 1, best + dice.between(-1, 1));
  const size = 1 + dice.below(usualSize(market) * 2);
  return {
    kind: 'tapeTrade',
    timeUs: context.nowUs,
    market: market.id,
    priceTicks: priceTicks(price),
    lots: lots(buys ? size : -size),
  };
}

/**
 * A full, uncrossed book, as at the end of a gap in recorded data. One with a level on each side is
 * that of recorded trades.
 */
export function makeSnapshot(context: Context): Command {
  const { dice } = context;
  const market = context.market();
  const middle = market.markTicks;
  const levels: TapeLevel[] = [];
  for (let i = 1; i <= dice.below(5); i += 1) {
    const size = (): TapeLevel['lots'] => lots(1 + dice.below(usualSize(market)));
    if (middle > i) levels.push({ side: 'bid', priceTicks: priceTicks(middle - i), lots: size() });
    levels.push({ side: 'ask', priceTicks: priceTicks(middle + i), lots: size() });
  }
  const kind = levels.length === 2 ? 'tapeQuotes' : 'tapeSnapshot';
  return { kind, timeUs: context.nowUs, market: market.id, levels };
}

export function makeGap(context: Context): Command {
  return { kind: 'tapeGap', timeUs: context.nowUs, market: context.market().id };
}

/**
 * A bar that opens near the mark and moves by up to `MAX_BAR_TICKS`, because the oracle walks it
 * tick by tick. Occasionally it opens away from the last close.
 */
export function makeBar(context: Context): Command {
  const { dice } = context;
  const market = marketWithoutLevels(context);
  const step = (from: number): number => {
    const to = moved(context, market, from);
    return Math.max(from - MAX_BAR_TICKS, Math.min(from + MAX_BAR_TICKS, to));
  };
  const mark = Math.max(1, market.markTicks);
  const open = dice.chance(700) ? mark : step(mark);
  const [close, ...turns] = [step(open), step(open), step(open)];
  const wick = dice.chance(600) ? turns : [];
  const low = Math.max(1, Math.min(open, close, ...wick));
  const high = Math.max(open, close, ...wick);
  const wrong = context.faulty && dice.chance(500);
  return {
    kind: 'tapeBar',
    timeUs: context.nowUs,
    market: market.id,
    openTicks: priceTicks(Math.max(1, open)),
    highTicks: priceTicks(wrong ? Math.max(0, low - 1) : high),
    lowTicks: priceTicks(low),
    closeTicks: priceTicks(Math.max(1, close)),
    volumeLots: lots(dice.below(usualSize(market) * 4)),
    quoteTicks: priceTicks(Math.max(1, dice.chance(800) ? close : step(close))),
    spreadTicks: dice.pick([0, 1, 2, 5, 20]),
    depthLots: lots(dice.chance(100) ? 0 : 1 + dice.below(usualSize(market) * 2)),
    path: dice.pick(['nearest', 'worstCase', 'stopFirst']),
    fill: dice.pick(['touch', 'through']),
  };
}

/**
 * Records of single orders of one market in turn, as a recording has them. Bars and full books
 * between them would end all orders, so that no number is used again while its order lives.
 */
export function recordedOrders(context: Context): readonly Planned[] {
  const market = marketWithoutLevels(context);
  const { dice } = context;
  return Array.from({ length: dice.between(6, 20) }, () => (later: Context) => {
    if (later.dice.chance(300)) later.wait(later.dice.below(1_500_000));
    return makeSingleOrder(later, market);
  });
}

/** Single recorded orders with few ids, so that most updates concern a live one. */
export function makeSingleOrder(
  context: Context,
  market: KnownMarket = marketWithoutLevels(context),
): Command {
  const { dice } = context;
  const { side, priceTicks: price, lots: size } = level(context, market);
  return {
    kind: 'tapeL3',
    timeUs: context.nowUs,
    market: market.id,
    action: dice.pick(['add', 'add', 'reduce', 'remove', 'execute', 'execute']),
    ref: context.faulty ? 0 : 1 + dice.below(6),
    side,
    priceTicks: price,
    lots: lots(context.faulty ? size : Math.max(1, size)),
  };
}

const MAX_BAR_TICKS = 400;

function level(context: Context, market: KnownMarket): TapeLevel {
  const { dice, profile } = context;
  const side = dice.chance(500) ? 'bid' : 'ask';
  const away = side === 'bid' ? -1 : 1;
  // A level changes its size, with the orders in it.
  const known = dice.chance(400) ? context.world.view.depth(market.id, side, 3) : [];
  if (known.length > 0 && !context.faulty) {
    const there = dice.pick(known);
    return { side, priceTicks: there.priceTicks, lots: lots(dice.below(there.lots * 2)) };
  }
  const spread = Math.max(3, Math.floor((market.markTicks * profile.prices.spreadPpm) / 2_000_000));
  const near = Math.max(1, market.markTicks + away * dice.between(-1, Math.min(spread, 12)));
  const price = context.faulty ? 0 : near;
  const size = dice.chance(250) ? 0 : 1 + dice.below(usualSize(market));
  return { side, priceTicks: priceTicks(price), lots: lots(size) };
}

/** About twenty of the collateral. */
const usualSize = (market: KnownMarket): number =>
  Math.max(
    market.spec.minLots * 4,
    Math.min(1e9, Math.floor(20_000_000 / (market.markTicks * market.spec.quantaPerTickLot))),
  );
