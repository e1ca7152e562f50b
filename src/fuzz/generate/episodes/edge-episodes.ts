/**
 * Episodes at edges: a halt between a change of the book and its sample, trades beside the book,
 * orders that hold a synthetic book away or close at a great loss, debts of several frozen markets,
 * and a market that ends.
 */
import { lots, PPM, priceTicks } from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import { mode } from './isolated-episodes.ts';
import { lose } from './loss-episodes.ts';
import {
  advance,
  away,
  clearBook,
  insure,
  order,
  price,
  purse,
  refresh,
  setStage,
  status,
  trade,
  type Stage,
} from './stage.ts';

const SECOND_US = 1_000_000;
/** An odd size, half of the largest whole number that a double has exactly. */
const HUGE = 2 ** 52 + 1;

/** Cancels what a user has in the market when its turn comes. */
export const cancels =
  (market: KnownMarket, owner: KnownSubaccount | undefined): Planned =>
  ({ nowUs }) =>
    owner === undefined
      ? null
      : { kind: 'cancelAll', timeUs: nowUs, subaccount: owner.id, market: market.id };

/**
 * The book of a median mark changes just before a halt, or within it. The market opens again in
 * time, and nothing but time moves the mark.
 */
export function haltedQuotes(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const { indexStaleUs } = setup.config;
  const thickOf = ({ markTicks, spec }: KnownMarket): number => {
    const lot = markTicks * spec.quantaPerTickLot;
    return Math.max(spec.minLots, Math.ceil((1.2 * Number(spec.funding.impactNotional)) / lot));
  };
  // The book's own mid is never stale.
  const freshUs = ({ spec: { indexSource } }: KnownMarket): number =>
    indexSource === 'mid' ? Infinity : indexStaleUs;
  const fits = (market: KnownMarket): boolean =>
    market.spec.markSource === 'median' &&
    freshUs(market) >= 3 * SECOND_US &&
    4 * thickOf(market) <= market.spec.maxLots;
  const found = setStage(context, 3, fits, () => true);
  if (found === null) return [];
  const { market, side, actors } = found;
  const stage = { ...found, size: thickOf(market) };
  const { size } = stage;
  const [a, b, c] = actors;
  const wide = dice.pick([1000, 4000, 9000]);
  const better = order(stage, c, -side * size, side * Math.ceil(wide / dice.pick([2, 8])));
  const inHalt = dice.chance(500);
  // After 150 seconds without a change only the last sample counts.
  const silence = dice.pick([2, 9, 149, 150, 200]) * SECOND_US;
  const later = silence < freshUs(market) ? silence : Math.floor(freshUs(market) / 2);
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(stage, actor, 3_000_000)),
    order(stage, a, side * size, -side * wide),
    order(stage, b, -side * size, side * wide),
    ...(inHalt ? [better] : []),
    advance(2 * SECOND_US),
    refresh(market),
    advance(SECOND_US + dice.pick([0, 300_000])),
    ...(inHalt ? [] : [better]),
    status(market, 'halted'),
    advance(dice.pick([0, 1000, 300_000])),
    ...(inHalt ? [cancels(market, c)] : []),
    status(market, 'open'),
    advance(later),
    order(stage, c, side * market.spec.minLots, -side * 2 * wide),
    advance(SECOND_US),
    ...trade(stage, a, b, side * market.spec.minLots),
  ];
}

/**
 * Recorded trades move the last price while the book stays: the mark follows at the next whole
 * second, or not at all.
 */
export function printsAlone(context: Context): readonly Planned[] {
  const { dice } = context;
  const fits = ({ spec: { markSource } }: KnownMarket): boolean =>
    markSource === 'last' || (markSource === 'median' && dice.chance(300));
  const stage = setStage(context, 2, fits, () => true);
  if (stage === null) return [];
  const { market, side } = stage;
  // Two of these in a minute are beyond what a double counts exactly.
  const huge = dice.chance(350) ? HUGE + 2 * dice.below(1000) : 0;
  const print = (movePpm: number): readonly Planned[] => [
    ({ nowUs }) => ({
      kind: 'tapeTrade',
      timeUs: nowUs,
      market: market.id,
      priceTicks: priceTicks(away(market.markTicks, movePpm)),
      lots: lots(side * (huge === 0 ? market.spec.minLots : huge)),
    }),
    advance(dice.pick([1, 1000, 400_000])),
    advance(dice.pick([0, 1, 3]) * SECOND_US),
  ];
  return [
    refresh(market),
    ...clearBook(context, market),
    advance(2 * SECOND_US),
    ...print(side * dice.pick([300, 3000])),
    ...print(-side * dice.pick([300, 3000])),
    ...print(0),
    ...print(side * dice.pick([0, 3000])),
  ];
}

/**
 * An order far through a synthetic book holds its levels away, while history moves and other orders
 * change the book. Then it leaves.
 */
export function heldLevel(context: Context): readonly Planned[] {
  const { dice } = context;
  const fits = ({ spec: { markSource, indexSource, impactModel } }: KnownMarket): boolean =>
    (markSource === 'mid' || indexSource === 'mid') && impactModel !== 'squareRoot';
  const stage = setStage(context, 2, fits, () => true);
  if (stage === null) return [];
  const { market, side, size } = stage;
  const [holder, other] = stage.actors;
  const { minLots } = market.spec;
  const start = market.markTicks;
  const wide = dice.pick([3000, 20_000]);
  const asBars = dice.chance(500);
  const depth = lots(minLots);
  const history = (movePpm: number, alone = false): readonly Planned[] => [
    ({ nowUs }) => {
      const ticks = priceTicks(away(start, movePpm));
      const at = { timeUs: nowUs, market: market.id };
      if (!asBars) {
        const bid = priceTicks(Math.max(1, ticks - dice.below(6)));
        const levels = [
          { side: 'bid', priceTicks: bid, lots: depth },
          { side: 'ask', priceTicks: priceTicks(ticks + 1), lots: depth },
        ] as const;
        return { kind: 'tapeQuotes', ...at, levels };
      }
      return {
        ...{ kind: 'tapeBar', ...at, openTicks: ticks, highTicks: ticks, lowTicks: ticks },
        ...{ closeTicks: ticks, quoteTicks: ticks, volumeLots: depth, depthLots: depth },
        ...{ spreadTicks: dice.below(3), path: 'nearest', fill: 'touch' },
      };
    },
    advance(dice.pick([1000, 300_000, SECOND_US])),
    ...(alone ? [] : [order(stage, other, side * minLots, -side * 3 * wide)]),
    advance(dice.pick([1, 2]) * SECOND_US),
  ];
  return [
    ...clearBook(context, market),
    ...[holder, other].flatMap((actor) => purse(stage, actor, 4_000_000)),
    ...history(0),
    order(stage, holder, -side * size, -side * wide),
    ...history(0),
    ...history(side * dice.pick([200, 2000])),
    ...history(0),
    // Only the stated prices change.
    ...history(0, true),
    ...history(0, true),
    cancels(market, holder),
    ...history(-side * dice.pick([0, 1000])),
  ];
}

/**
 * A reduce-only order rests at a price at which its owner is bankrupt, beside larger orders of the
 * same side: the requirement of what stays decides whether it may fill.
 */
export function reducedAtLoss(context: Context): readonly Planned[] {
  const { dice } = context;
  const stage = setStage(context, 3);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c] = actors;
  const part = Math.ceil(size * dice.pick([0.3, 0.4, 0.5]));
  const initialPpm = market.spec.tiers[0]?.initialMarginPpm ?? 0;
  const lossPpm = Math.ceil(initialPpm * dice.pick([1.3, 1.5, 1.7, 1.9]));
  // The mark moves toward the order, or to the other side, where the loss is greater still.
  const moves = dice.chance(300)
    ? [price(market, () => away(market.markTicks, side * dice.pick([-3000, 3000, 20_000])))]
    : [];
  return [
    refresh(market),
    ...clearBook(context, market),
    ...purse(stage, a, dice.pick([1_300_000, 1_400_000, 1_600_000])),
    ...purse(stage, b, 5_000_000),
    ...purse(stage, c, 5_000_000),
    ...trade(stage, a, b, side * size),
    order(stage, a, -side * Math.ceil(size * dice.pick([1.4, 1.6])), side * 1000),
    order(stage, a, -side * part, -side * lossPpm, { reduceOnly: true }),
    ...moves,
    order(stage, c, side * Math.ceil(part * dice.pick([0.5, 1, 2])), 0, { ioc: true }),
    refresh(market),
    order(stage, c, side * part, 0, { ioc: true }),
  ];
}

/**
 * A user who holds two halted markets is cleared in a third one and owes a clearing debt. The halts
 * end one after the other, with gains that repay it in parts. Or the second one is open and
 * isolated: its ratio is raised during the debt, with new money.
 */
export function owedWhileHalted(context: Context): readonly Planned[] {
  const { dice } = context;
  const third = setStage(context, 3);
  const first = third === null ? null : setStage(context, 3, ({ id }) => id !== third.market.id);
  if (third === null || first === null) return [];
  const taken = [third.market.id, first.market.id];
  const second = setStage(context, 3, ({ id }) => !taken.includes(id));
  const [a, b] = third.actors;
  if (a === undefined || b === undefined) return [];
  const isolated = dice.chance(400) ? second : null;
  const halted = second === null || isolated !== null ? [first] : [first, second];
  const hold = (stage: Stage): readonly Planned[] => [
    refresh(stage.market),
    ...clearBook(context, stage.market),
    ...purse(stage, b, 4_000_000),
    ...purse(stage, a, 1_100_000),
    ...trade(stage, a, b, stage.side * Math.ceil(stage.size / 2)),
  ];
  const gain = dice.pick([3000, 20_000, 60_000]);
  const opens = halted.flatMap(({ market, side }) => [
    status(market, 'open'),
    ...(dice.chance(500)
      ? [price(market, () => away(market.markTicks, side * dice.pick([-3000, 3000])))]
      : []),
    refresh(third.market),
  ]);
  const raises = (stage: Stage): readonly Planned[] => [
    refresh(stage.market),
    ...purse(stage, a, dice.pick([1_000_000, 6_000_000])),
    mode(a, stage.market, true, dice.pick([2, 3])),
  ];
  return [
    ...(isolated === null ? [] : [mode(a, isolated.market, true, 1), ...hold(isolated)]),
    ...halted.flatMap(hold),
    ...hold(third),
    ...halted.map(({ market }) => status(market, 'halted')),
    // A halted market keeps its mark, and thaws at the index of that time.
    ...halted.map(({ market, side }) => price(market, () => away(market.markTicks, side * gain))),
    lose(third, a, dice.pick([1.1, 1.5, 3])),
    ...(dice.chance(300) ? [insure(third, dice.pick([1000, 100_000]))] : []),
    ...(isolated === null ? [] : raises(isolated)),
    // New money, and a second loss during the debt.
    ...(dice.chance(300) ? [...hold(third), lose(third, a, dice.pick([1.5, 3]))] : []),
    ...opens,
    ...halted.map(({ market }) => refresh(market)),
  ];
}

/**
 * A market ends at the edge of its band, where an isolated position has lost more than its margin:
 * insurance pays the debt within the limits of the exchange and of the market.
 */
export function delistedAtLoss(context: Context): readonly Planned[] {
  const { dice, world } = context;
  const open = world.markets.filter(({ status: is }) => is === 'open');
  if (open.length < 3 || !dice.chance(400)) return [];
  // The debt is what the band takes beyond the margin.
  const reaches = ({ spec: { priceBandPpm, tiers } }: KnownMarket): boolean =>
    priceBandPpm > (tiers[0]?.initialMarginPpm ?? PPM);
  const stage = setStage(context, 3, reaches);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b] = actors;
  if (a === undefined || (a.positions[market.id] ?? 0) !== 0) return [];
  const ends: Planned = ({ nowUs }) => {
    const from = world.view.market(market.id).indexTicks ?? market.markTicks;
    const band = Math.floor((from * market.spec.priceBandPpm) / PPM);
    const ticks = Math.max(1, from - side * (band - dice.pick([0, 0, 1])));
    return {
      kind: 'delistMarket',
      timeUs: nowUs,
      market: market.id,
      priceTicks: priceTicks(ticks),
    };
  };
  return [
    refresh(market),
    ...clearBook(context, market),
    mode(a, market, dice.chance(800), 1),
    ...purse(stage, a, 1_500_000),
    ...purse(stage, b, 5_000_000),
    ...trade(stage, a, b, side * size),
    insure(stage, dice.pick([1000, 20_000, 100_000, 1_000_000])),
    ends,
  ];
}
