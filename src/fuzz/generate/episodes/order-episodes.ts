/** Episodes about orders that wait: legs with small fills, and trailing stops that meet again. */
import type { NewOrder, OrderType } from '../../../engine/commands.ts';
import { lots, priceTicks } from '../../../num/units.ts';
import type { KnownSubaccount } from '../../fuzz-world.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import { lose } from './loss-episodes.ts';
import {
  away,
  clearBook,
  groupOrder,
  order,
  placeOrder,
  price,
  purse,
  refresh,
  setStage,
  trade,
  type Stage,
} from './stage.ts';

const TRIGGER_PPM = 4000;

/** A pair of legs around a price; thin liquidity fills a part of one, then of the other. */
export function partialLegs(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const stage = setStage(context, 3);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c] = actors;
  if (a === undefined) return [];
  const whole = Math.max(8, 2 * size);
  const filled = dice.pick([whole, Math.ceil(whole / 2), Math.ceil(whole / 3)]);
  const covered = dice.pick([Math.ceil(whole / 2), whole, 2 * whole]);
  const thin = Math.max(market.spec.minLots, Math.ceil(covered / dice.pick([3, 5, 9])));
  const base = market.markTicks;
  const lastPrice = setup.config.triggerSource === 'last';
  /** Thin liquidity at the trigger above (1) or below (−1), then the price that fires it. */
  const round = (up: 1 | -1): readonly Planned[] => {
    const ticks = away(base, up * TRIGGER_PPM);
    const abovePpm = (): number => ((ticks - market.markTicks) / market.markTicks) * 1e6;
    return [
      (now) => order(stage, c, side * thin, abovePpm() - side * 600)(now),
      price(market, () => ticks),
      ...(lastPrice ? trade(stage, b, c, market.spec.minLots) : []),
      order(stage, c, side * thin, -side * 600),
      // What is left of its cover, to the lot: the leg has nothing more to protect, or waits.
      ...(dice.chance(800) ? [takeCover(stage, a, c), price(market, () => ticks)] : []),
    ];
  };
  const turns = dice.chance(500) ? ([1, -1, 1, -1, 1] as const) : ([-1, 1, 1, -1, -1] as const);
  return [
    refresh(market),
    ...clearBook(context, market),
    ...purse(stage, a, 5_000_000),
    ...purse(stage, b, 5_000_000),
    ...purse(stage, c, 5_000_000),
    order(stage, b, -side * filled),
    bracket(stage, a, { whole, covered, attached: dice.chance(400) }),
    ...turns.slice(0, 2).flatMap(round),
    // The parent fills further, so its legs cover more.
    price(market, () => base),
    order(stage, b, -side * Math.ceil(whole / 3), 0, { ioc: true }),
    ...turns.slice(2).flatMap(round),
  ];
}

/**
 * A liquidation sweeps two orders of one holder: both legs of a pair, of which the first one takes
 * the whole cover; or a reduce-only order that closes the position, and the leg behind it.
 */
export function sweptLegs(context: Context): readonly Planned[] {
  const { dice } = context;
  const stage = setStage(context, 4);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c, d] = actors;
  if (a === undefined) return [];
  const whole = Math.max(8, 2 * size);
  const base = market.markTicks;
  const ofPair = dice.chance(600);
  const to = (ppm: number): Planned => price(market, () => away(base, side * ppm));
  return [
    refresh(market),
    ...clearBook(context, market),
    ...[a, b, c].flatMap((actor) => purse(stage, actor, 5_000_000)),
    // A position beside the pair, so that the first leg does not close all of it.
    ...(ofPair ? trade(stage, a, b, side * size) : []),
    order(stage, b, -side * whole),
    bracket(stage, a, { whole, covered: whole, attached: dice.chance(400), rests: true }),
    ...purse(stage, d, 2_200_000),
    ...trade(stage, d, c, -side * whole),
    ...(ofPair ? [to(-TRIGGER_PPM)] : []),
    to(TRIGGER_PPM),
    ...(ofPair ? [] : [order(stage, a, -side * whole, -side * 3000, { reduceOnly: true })]),
    lose(stage, d, dice.pick([0.05, 0.2, 0.4])),
    refresh(market),
  ];
}

/** Takes from a resting leg exactly the lots that its parent has filled and its pair has not. */
const takeCover =
  ({ market }: Stage, owner: KnownSubaccount, taker: KnownSubaccount | undefined): Planned =>
  (context) => {
    const { view } = context.world;
    const own = view.openOrders(owner.id).filter((one) => one.market === market.id);
    const leg = own.find(({ orderType, parent, status }) => {
      const isLeg = orderType === 'takeProfit' || orderType === 'stopLoss';
      return isLeg && parent !== null && status !== 'pending';
    });
    const parent = leg?.parent == null ? undefined : view.order(leg.parent.orderId);
    if (leg === undefined || parent === undefined || taker === undefined) return null;
    const sibling = leg.sibling === null ? undefined : view.order(leg.sibling.orderId);
    const size = (of: { readonly settledLots: number } | undefined): number =>
      Math.abs(of?.settledLots ?? 0);
    const cover = Math.min(Math.abs(leg.lots), size(parent)) - size(leg) - size(sibling);
    if (cover < market.spec.minLots) return null;
    const signed = -Math.sign(leg.lots) * cover;
    return placeOrder(context, { owner: taker, market }, signed, leg.priceTicks, { ioc: true });
  };

interface Bracket {
  /** Lots of the parent, and of each leg. */
  readonly whole: number;
  readonly covered: number;
  readonly attached: boolean;
  /** Legs rest at a limit; by default in half of all cases. */
  readonly rests?: boolean;
}

/** A limit order at the mark with take-profit and stop-loss of one size. */
const bracket =
  (
    { market, side }: Stage,
    owner: KnownSubaccount,
    { whole, covered, attached, rests = false }: Bracket,
  ): Planned =>
  (context) => {
    const own = groupOrder(context, market, side * whole, market.markTicks);
    const isLimit = rests || context.dice.chance(500);
    const leg = (orderType: OrderType): NewOrder => {
      const up = (orderType === 'takeProfit' ? 1 : -1) * side;
      const trigger = away(market.markTicks, up * TRIGGER_PPM);
      // At market within the band, or at a limit beyond the trigger.
      const worst = side > 0 ? 1 : Math.min(trigger * 2, market.spec.maxPriceTicks);
      return {
        ...own,
        orderType,
        lots: lots(-side * (attached ? whole : covered)),
        priceTicks: priceTicks(isLimit ? away(trigger, -side * 2000) : worst),
        ioc: !isLimit,
        reduceOnly: true,
        triggerTicks: priceTicks(trigger),
        nonce: attached ? own.nonce : context.nonce(),
        attached,
      };
    };
    return {
      kind: 'placeOrders',
      timeUs: context.nowUs,
      subaccount: owner.id,
      delegate: null,
      orders: [own, leg('takeProfit'), leg('stopLoss')],
    };
  };

/** Trailing stops of both sides at several marks, which the price leaves and meets again. */
export function trailingStops(context: Context): readonly Planned[] {
  const { dice } = context;
  const stage = setStage(context, 3);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c] = actors;
  if (a === undefined || b === undefined) return [];
  const base = market.markTicks;
  const to = (ppm: number): Planned => price(market, () => away(base, ppm));
  const stops = (distancePpm: number): readonly Planned[] => [
    stop(stage, a, -side * Math.ceil(size / 9), distancePpm),
    stop(stage, b, side * Math.ceil(size / 9), distancePpm),
  ];
  const far = dice.pick([20_000, 50_000, 100_000]);
  const steps = [to(2000), to(-1500), to(500), to(2000), to(-1500), to(3000), to(-2500)];
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(stage, actor, 4_000_000)),
    ...trade(stage, a, b, side * size),
    order(stage, c, side * size, -side * 3000),
    order(stage, c, -side * size, side * 3000),
    ...stops(far),
    ...steps.flatMap((step, i) => [
      step,
      ...stops(i % 2 === 0 ? far : dice.pick([far, 3000, 6000])),
    ]),
    to(2000),
    to(dice.pick([-9000, 9000])),
    to(0),
  ];
}

const stop =
  ({ market }: Stage, owner: KnownSubaccount, signedLots: number, trailingPpm: number): Planned =>
  (context) => ({
    kind: 'placeOrders',
    timeUs: context.nowUs,
    subaccount: owner.id,
    delegate: null,
    orders: [
      {
        ...groupOrder(
          context,
          market,
          signedLots,
          signedLots > 0 ? Math.min(market.markTicks * 2, market.spec.maxPriceTicks) : 1,
          { ioc: true, reduceOnly: context.dice.chance(700) },
        ),
        orderType: 'trailingStop',
        trailingPpm,
      },
    ],
  });
