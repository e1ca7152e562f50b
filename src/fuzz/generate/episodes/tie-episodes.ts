/**
 * Episodes about ties: several timers that end in one instant, such as slices, expiries, pauses,
 * notices, marks from the book, and minutes or days. Their order decides the result.
 */
import { lots, PPM, ppm, priceTicks } from '../../../num/units.ts';
import type { Command, NewOrder, TapeLevel } from '../../../engine/commands.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import type { Planned } from '../aims.ts';
import { nextSample } from '../premium-samples.ts';
import type { Context } from '../draw-context.ts';
import { leveraged, lose } from './loss-episodes.ts';
import {
  advance,
  advanceTo,
  away,
  beyondLiquidation,
  canPassDay,
  clearBook,
  endowVault,
  groupOrder,
  nextMultiple,
  order,
  placeOrder,
  price,
  purse,
  refresh,
  setStage,
  trade,
  type Stage,
} from './stage.ts';

const SECOND_US = 1_000_000;
const MINUTE_US = 60 * SECOND_US;
export const DAY_US = 1440 * MINUTE_US;
/** A day or a minute is the instant only if it is near. */
export const NEAR_US = 2 * MINUTE_US;

/** An instant that is chosen when the episode reaches its first use. */
class Instant {
  private chosen = 0;
  private readonly leadUs: number;
  private readonly sampled: KnownMarket | null;

  /**
   * `leadUs`: the longest timer that has to begin before. `sampled`: a market of which a sample of
   * the premium may be the instant.
   */
  constructor(leadUs: number, sampled: KnownMarket | null = null) {
    this.leadUs = leadUs;
    this.sampled = sampled;
  }

  at({ nowUs, dice, world, setup }: Context): number {
    if (this.chosen !== 0) return this.chosen;
    const from = nowUs + this.leadUs;
    const { sampled: market } = this;
    if (market !== null && market.spec.funding.source !== 'external' && dice.chance(500)) {
      this.chosen = nextSample(setup.config.samplingSeed, market, from);
      return this.chosen;
    }
    const day = nextMultiple(from, DAY_US);
    const minute = nextMultiple(from, MINUTE_US);
    const sampled = world.markets.filter(({ spec }) => spec.funding.source !== 'external');
    const isDay =
      day - from < NEAR_US ? dice.chance(850) : canPassDay(world.markets) && dice.chance(300);
    const funding = sampled.map(({ spec }) => nextMultiple(from, spec.funding.intervalUs));
    const near = funding.filter((at) => at - from < NEAR_US);
    if (isDay) this.chosen = day;
    else if (near.length > 0 && dice.chance(500)) this.chosen = dice.pick(near);
    else this.chosen = dice.chance(400) ? minute : nextMultiple(from, SECOND_US);
    return this.chosen;
  }

  /** Waits until so long before the instant. */
  readonly before = (us: number): Planned => advanceTo((now) => this.at(now) - us);
}

/** Whether the mark moves at whole seconds, with the book or the last price. */
const followsBook = ({ spec }: KnownMarket): boolean =>
  spec.indexSource === 'mid' || spec.markSource === 'last' || spec.markSource === 'mid';

/** Quotes around a price and a print at it: the mark follows at the next whole second. */
function quotes({ market }: Stage, ticks: () => number): readonly Planned[] {
  const level = (side: TapeLevel['side'], distance: number): TapeLevel => ({
    side,
    priceTicks: priceTicks(Math.max(1, ticks() + (side === 'bid' ? -distance : distance))),
    lots: lots(2 * market.spec.minLots),
  });
  return [
    ({ nowUs }) => ({
      kind: 'tapeSnapshot',
      timeUs: nowUs,
      market: market.id,
      levels: [level('bid', 1), level('bid', 2), level('ask', 1), level('ask', 2)],
    }),
    ({ nowUs }) => ({
      kind: 'tapeTrade',
      timeUs: nowUs,
      market: market.id,
      priceTicks: priceTicks(ticks()),
      lots: lots(market.spec.minLots),
    }),
  ];
}

/** Slices of which one is due at the instant. */
function twapUntil(
  { market }: Stage,
  owner: KnownSubaccount | undefined,
  signedLots: number,
  instant: Instant,
): Planned {
  return (context) => {
    const waits = instant.at(context) - context.nowUs;
    if (owner === undefined || waits < 1000 || waits % 1000 !== 0) return null;
    const limit = signedLots > 0 ? away(market.markTicks, 5000) : away(market.markTicks, -5000);
    const slice = (): NewOrder => ({
      ...groupOrder(context, market, signedLots, limit),
      orderType: 'twap',
      periodMs: BigInt(waits / 1000),
    });
    return {
      kind: 'placeOrders',
      timeUs: context.nowUs,
      subaccount: owner.id,
      delegate: null,
      orders: [slice(), slice(), slice()],
    };
  };
}

/** An order that ends at the instant, if it still rests. */
function orderUntil(
  { market }: Stage,
  owner: KnownSubaccount | undefined,
  signedLots: number,
  abovePpm: number,
  instant: Instant,
): Planned {
  return (context) => {
    if (owner === undefined) return null;
    const ticks = away(market.markTicks, abovePpm);
    const expiresAtMs = BigInt(Math.floor(instant.at(context) / 1000));
    return { ...placeOrder(context, { owner, market }, signedLots, ticks), expiresAtMs };
  };
}

/** A stop that closes a part of a position at market when the mark reaches a price. */
function stopAt(
  { market }: Stage,
  owner: KnownSubaccount | undefined,
  signedLots: number,
  ticks: number,
): Planned {
  return (context): Command | null => {
    if (owner === undefined) return null;
    const worst = signedLots > 0 ? Math.min(ticks * 2, market.spec.maxPriceTicks) : 1;
    const own = groupOrder(context, market, signedLots, worst, { ioc: true, reduceOnly: true });
    return {
      kind: 'placeOrders',
      timeUs: context.nowUs,
      subaccount: owner.id,
      delegate: null,
      orders: [{ ...own, orderType: 'stopLoss', triggerTicks: priceTicks(ticks) }],
    };
  };
}

/**
 * The mark follows the book at a whole second, in which a slice is due, an order expires, and often
 * a minute or a day begins: stops, slices and liquidation meet the same few orders.
 */
export function movedAtInstant(context: Context): readonly Planned[] {
  const { dice, world } = context;
  const stage = setStage(context, 4, followsBook, () => true);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c, d] = actors;
  const base = market.markTicks;
  const move = -side * dice.pick([600, 3000, 9000, 40_000]);
  const target = away(base, move);
  const part = side * Math.max(market.spec.minLots, Math.ceil(size / 4));
  const instant = new Instant(4 * SECOND_US);
  const value = BigInt(size) * BigInt(base) * BigInt(market.spec.quantaPerTickLot);
  return [
    ...quotes(stage, () => base),
    ...clearBook(context, market),
    ...(dice.chance(500) ? endowVault(d, value) : []),
    ...purse(stage, a, dice.pick([1_020_000, 1_100_000, 4_000_000])),
    ...[b, c, d].flatMap((actor) => purse(stage, actor, 4_000_000)),
    ...trade(stage, a, b, side * size),
    stopAt(stage, a, -part, away(base, Math.ceil(move / 2))),
    order(stage, c, part, move - side * 300),
    orderUntil(stage, c, part, dice.pick([move - side * 100, move - side * 600]), instant),
    instant.before(dice.pick([SECOND_US, 2 * SECOND_US, 700_000])),
    twapUntil(stage, d, -part, instant),
    instant.before(dice.pick([1, 1000, 400_000])),
    ...quotes(stage, () => target),
    ...(world.markets.length > 1 && dice.chance(300) ? clearBook(context, market) : []),
    instant.before(dice.pick([0, 0, -1, -SECOND_US])),
    advance(SECOND_US),
    ...quotes(stage, () => base),
    advance(SECOND_US),
  ];
}

/**
 * A liquidation pauses until the instant at which a slice is due, an order expires, new terms take
 * effect, and often a minute or a day begins. Then the vault takes over, or the book the next
 * slice.
 */
export function pausedUntilInstant(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const { liquidationPauseUs: pauseUs, termsNoticeUs: noticeUs, indexStaleUs } = setup.config;
  const stage = setStage(context, 4);
  if (stage === null || pauseUs === 0) return [];
  const { market, side, size, actors } = stage;
  const [a, , c, d] = actors;
  const part = side * Math.max(market.spec.minLots, Math.ceil(size / 4));
  // A smaller bid ends the liquidation at once, without a pause.
  const slice = Math.ceil((size * setup.config.liquidationSlicePpm) / PPM) + market.spec.minLots;
  const instant = new Instant(Math.max(pauseUs, 3 * SECOND_US));
  const value = BigInt(size) * BigInt(market.markTicks) * BigInt(market.spec.quantaPerTickLot);
  const isFresh = pauseUs <= indexStaleUs;
  return [
    ...(dice.chance(700) ? endowVault(d, value) : []),
    ...leveraged(context, stage),
    ...purse(stage, d, 6_000_000),
    ...(noticeUs > 0 && noticeUs <= pauseUs ? [instant.before(noticeUs), newTerms(market)] : []),
    instant.before(pauseUs),
    refresh(market),
    ...purse(stage, d, 20_000_000),
    // At the price at which the liquidation begins, which is within the band of its mark.
    (now) => {
      if (a === undefined) return null;
      const ticks = beyondLiquidation(now, a, market, 0);
      const abovePpm = ((ticks - market.markTicks) / market.markTicks) * PPM;
      return order(stage, d, side * slice, abovePpm)(now);
    },
    lose(stage, a, dice.pick([0.05, 0.15])),
    orderUntil(stage, c, part, -side * dice.pick([2000, 20_000]), instant),
    ...(dice.chance(300) ? [] : clearBook(context, market)),
    twapUntil(stage, d, dice.pick([-part, part]), instant),
    ...(isFresh ? [] : [instant.before(Math.floor(pauseUs / 2)), refresh(market)]),
    // At the last moment the equity falls, or stays.
    ...(dice.chance(300) ? [instant.before(1), lose(stage, a, 0.2)] : []),
    instant.before(dice.pick([0, 0, -1, -SECOND_US])),
    refresh(market),
    price(market, () => away(market.markTicks, side * 300)),
    advance(pauseUs),
    refresh(market),
  ];
}

/**
 * The notice of new terms ends at an instant, often a boundary of the funding interval, with a
 * position and quotes that have a premium.
 */
export function noticeUntilInstant(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const { termsNoticeUs: noticeUs } = setup.config;
  const stage = noticeUs === 0 ? null : setStage(context, 3);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c] = actors;
  const instant = new Instant(noticeUs + SECOND_US, market);
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(stage, actor, 4_000_000)),
    ...trade(stage, a, b, side * size),
    order(stage, b, size, dice.pick([-1000, 1000])),
    order(stage, c, -size, dice.pick([2000, 8000])),
    instant.before(noticeUs),
    refresh(market),
    newTerms(market),
    instant.before(dice.pick([1, 1000, 400_000])),
    refresh(market),
    instant.before(dice.pick([0, 0, -1, -SECOND_US])),
    refresh(market),
    advance(SECOND_US),
  ];
}

/**
 * The notice of a higher maintenance margin ends at an instant, often a midnight, at which holders
 * of the vault have their shares recorded: it endangers a position that the vault may take over.
 */
export function tightenedUntilInstant(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const { termsNoticeUs: noticeUs } = setup.config;
  const stage = noticeUs === 0 ? null : setStage(context, 4);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, , , d] = actors;
  const { spec: before } = market;
  const instant = new Instant(noticeUs + SECOND_US);
  const value = BigInt(size) * BigInt(market.markTicks) * BigInt(before.quantaPerTickLot);
  const tiers = before.tiers.map((tier) => {
    const maintenanceMarginPpm = ppm(Math.min(PPM, Math.ceil(tier.maintenanceMarginPpm * 1.5)));
    const initialMarginPpm = ppm(Math.max(tier.initialMarginPpm, maintenanceMarginPpm));
    return { ...tier, initialMarginPpm, maintenanceMarginPpm };
  });
  const gaps = tiers.flatMap(({ initialMarginPpm, maintenanceMarginPpm }) => [
    initialMarginPpm - maintenanceMarginPpm,
    Math.floor(maintenanceMarginPpm / 2),
  ]);
  const maxMarkDeviationPpm = ppm(Math.min(before.maxMarkDeviationPpm, ...gaps));
  return [
    ...endowVault(d, dice.pick([4n * value, (value * 3n) / 2n])),
    ...leveraged(context, stage),
    // The equity is a little above the maintenance in force.
    lose(stage, a, -dice.pick([0.1, 0.25, 0.4])),
    instant.before(noticeUs),
    refresh(market),
    ({ nowUs }) => ({
      kind: 'setMarketTerms',
      timeUs: nowUs,
      market: market.id,
      spec: { ...market.spec, tiers, maxMarkDeviationPpm },
    }),
    instant.before(dice.pick([1, 1000, 400_000])),
    refresh(market),
    instant.before(dice.pick([0, 0, -1, -SECOND_US])),
    refresh(market),
    price(market, () => away(market.markTicks, side * dice.pick([-300, 300]))),
    ({ nowUs }) => ({ kind: 'setMarketTerms', timeUs: nowUs, market: market.id, spec: before }),
  ];
}

/** Terms with another fee, and with another cap of funding, which has a notice. */
const newTerms =
  (market: KnownMarket): Planned =>
  ({ nowUs, dice }) => {
    const { spec } = market;
    const takerFeePpm = dice.pick([spec.takerFeePpm, 2 * spec.takerFeePpm]);
    const capPpm = ppm(spec.funding.capPpm === 0 ? 1 : spec.funding.capPpm - 1);
    const funding = { ...spec.funding, capPpm };
    const changed = { ...spec, takerFeePpm, funding, maxOpenOrders: spec.maxOpenOrders + 1 };
    return {
      kind: 'setMarketTerms',
      timeUs: nowUs,
      market: market.id,
      spec: changed as typeof spec,
    };
  };
