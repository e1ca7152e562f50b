/** Episodes about restricted markets: stale, halted, or at a limit of open interest. */
import { lots, ppm, quanta } from '../../../num/units.ts';
import type { KnownMarket } from '../../fuzz-world.ts';
import type { Planned } from '../aims.ts';
import { nextSample } from '../premium-samples.ts';
import type { Context } from '../draw-context.ts';
import {
  advance,
  advanceTo,
  away,
  clearBook,
  order,
  price,
  purse,
  refresh,
  setStage,
  status,
  trade,
  type Stage,
} from './stage.ts';

/** Positions and resting orders of several sizes, then trades while the market is frozen. */
export function frozenMarket(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const stage = setStage(context, 3);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c] = actors;
  const part = side * Math.ceil(size / dice.pick([1, 2, 3]));
  const beside = (): number => dice.pick([300, 1000, 3000]);
  const halts = dice.chance(250);
  const staleUs = setup.config.indexStaleUs;
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(stage, actor, 3_000_000)),
    ...trade(stage, a, b, side * size),
    // Both holders rest orders that would close more than they hold, or turn their position.
    order(stage, b, part * dice.pick([1, 2]), -side * beside()),
    order(stage, b, side * size, -side * beside(), { reduceOnly: dice.chance(300) }),
    order(stage, a, -part * dice.pick([1, 2]), side * beside()),
    order(stage, c, side * size, -side * beside()),
    order(stage, c, -side * size, side * beside()),
    halts ? status(market, 'halted') : advance(staleUs),
    ...(halts ? [] : [advance(dice.pick([0, 1, 1, 1]))]),
    order(stage, a, -Math.ceil(part / 2), -side * 4000, { ioc: true }),
    order(stage, a, -side * size, -side * 4000, { ioc: true, reduceOnly: dice.chance(500) }),
    order(stage, b, part * 3, side * 4000, { ioc: true }),
    order(stage, c, part, side * 4000, { ioc: dice.chance(500) }),
    order(stage, b, part, side * beside(), { postOnly: dice.chance(500) }),
    order(stage, a, -side * size * 2, -side * 4000, { ioc: true }),
    ...thaw(context, market, halts),
    order(stage, a, -side * size, -side * 4000, { ioc: true }),
    order(stage, b, side * size, side * 4000, { ioc: true }),
  ];
}

/** The market thaws, at its old price or another one; at once, or when a halt ends in time. */
function thaw({ dice, setup }: Context, market: KnownMarket, halted: boolean): readonly Planned[] {
  const move = dice.pick([0, 0, -20_000, 20_000, -100_000, 100_000]);
  const moved = price(market, () => away(market.markTicks, move));
  // In the very instant of a sample, which a market that thaws just then does not take.
  const atSample = dice.chance(400) && market.spec.funding.source !== 'external';
  const tie = advanceTo(({ nowUs }) => nextSample(setup.config.samplingSeed, market, nowUs));
  if (!halted) return atSample ? [tie, moved] : [moved];
  // A market thaws with its status only if its price is not stale.
  const pause = dice.pick([0, setup.config.indexStaleUs, setup.config.indexStaleUs + 1, 1000]);
  return [
    atSample ? tie : advance(pause),
    status(market, 'open'),
    ...(dice.chance(700) ? [moved] : []),
  ];
}

/** Opens, hands over and closes positions while open interest is at its limit or above it. */
export function cappedMarket(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const stage = setStage(context, 4);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c, d] = actors;
  const lot = side * market.spec.minLots;
  const before = market.spec;
  const inMoney = dice.chance(300);
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(stage, actor, 4_000_000)),
    ...trade(stage, a, b, side * size),
    limit(context, market, inMoney),
    advanceTo(({ nowUs }) => nowUs + (dice.chance(500) ? setup.config.termsNoticeUs : 0)),
    refresh(market),
    // A price that makes a limit in money smaller or larger in lots.
    ...(inMoney ? [price(market, () => away(market.markTicks, dice.pick([-9000, 0, 9000])))] : []),
    // A handover changes no open interest; a new pair raises it by a lot, or by what is left.
    ...trade(stage, c, a, side * Math.ceil(size / 3)),
    ...trade(stage, d, a, lot),
    ...trade(stage, d, b, -lot),
    ...trade(stage, d, c, lot),
    (now) => order(stage, a, side * roomOf(now, stage), 0)(now),
    (now) =>
      order(stage, d, -side * (roomOf(now, stage) + market.spec.minLots), 0, { ioc: true })(now),
    ...trade(stage, a, d, -side * Math.ceil(size / 4)),
    // One fill closes a part of a position and opens the rest on the other side.
    ...trade(stage, c, b, -side * size),
    ({ nowUs }) => ({ kind: 'setMarketTerms', timeUs: nowUs, market: market.id, spec: before }),
  ];
}

/**
 * An order that trades and then stops midway: at the price band, at the limit of open interest, or
 * where its margin ends.
 */
export function stoppedSweep(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const stage = setStage(context, 4);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c, d] = actors;
  const before = market.spec;
  const bandPpm = before.priceBandPpm;
  const part = Math.max(before.minLots, Math.ceil(size / 3));
  const rich = actors.flatMap((actor) => purse(stage, actor, 5_000_000));
  const sweep = (abovePpm: number): Planned =>
    order(stage, d, side * 3 * part, side * abovePpm, { ioc: dice.chance(700) });
  return [
    refresh(market),
    ...clearBook(context, market),
    ...rich,
    // A price at the band trades, the one beyond it does not.
    order(stage, b, -side * part),
    order(stage, c, -side * part, side * bandPpm),
    order(stage, c, -side * part, side * (bandPpm + dice.pick([0, 20_000]) + 2000)),
    sweep(2 * bandPpm + 50_000),
    ...clearBook(context, market),
    ...rich,
    // A holder closes, which leaves open interest as it is; then a new pair would raise it.
    ...trade(stage, a, b, side * 2 * part),
    atOpenInterest(market, before.minLots * dice.pick([0, 0, 1])),
    advance(setup.config.termsNoticeUs),
    refresh(market),
    order(stage, a, -side * part),
    order(stage, c, -side * 2 * part, side * 300),
    sweep(3000),
    ({ nowUs }) => ({ kind: 'setMarketTerms', timeUs: nowUs, market: market.id, spec: before }),
    ...clearBook(context, market),
    ...rich,
    // Each fill beside the mark costs equity, until the margin of the next one is missing.
    ...purse(stage, d, dice.pick([1_010_000, 1_100_000])),
    order(stage, c, -side * part, side * Math.ceil(bandPpm / 2)),
    order(stage, c, -side * part, side * Math.ceil((bandPpm * 3) / 4)),
    order(stage, b, -side * part, side * Math.ceil((bandPpm * 9) / 10)),
    sweep(bandPpm),
  ];
}

/** Orders near the margin limit while terms with a higher initial margin are announced. */
export function announcedMargin(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const { termsNoticeUs } = setup.config;
  const fits = ({ spec }: KnownMarket): boolean => mostInitialPpm(spec) <= 400_000;
  const stage = termsNoticeUs === 0 ? null : setStage(context, 2, fits);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b] = actors;
  const before = market.spec;
  // Only tiers with a higher maintenance margin wait for the notice.
  const tiers = before.tiers.map((tier) => ({
    ...tier,
    initialMarginPpm: ppm(2 * tier.initialMarginPpm),
    maintenanceMarginPpm: ppm(tier.maintenanceMarginPpm + 1),
  }));
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(stage, actor, 1_500_000)),
    ({ nowUs }) => ({
      kind: 'setMarketTerms',
      timeUs: nowUs,
      market: market.id,
      spec: { ...market.spec, tiers },
    }),
    refresh(market),
    advance(Math.floor(termsNoticeUs / dice.pick([2, 10]))),
    refresh(market),
    // Affordable under the terms in force, but not under the next ones.
    order(stage, a, side * size, -side * 1000),
    order(stage, b, -side * Math.ceil((size * 9) / 10), side * 1000),
    ...trade(stage, a, b, side * Math.ceil(size / 2)),
    ...trade(stage, a, b, side * Math.ceil(size / 2)),
    advance(termsNoticeUs),
    refresh(market),
    order(stage, a, side * Math.ceil(size / 3), -side * 1000),
    ({ nowUs }) => ({ kind: 'setMarketTerms', timeUs: nowUs, market: market.id, spec: before }),
  ];
}

const mostInitialPpm = ({ tiers }: KnownMarket['spec']): number =>
  Math.max(...tiers.map(({ initialMarginPpm }) => initialMarginPpm));

/** A limit of open interest at what is open, and some lots more. */
const atOpenInterest =
  (market: KnownMarket, more: number): Planned =>
  ({ nowUs, world }) => {
    const open = world.view.market(market.id).openInterestLots;
    const spec = { ...market.spec, maxOpenInterestLots: lots(Math.max(1, open + more)) };
    return { kind: 'setMarketTerms', timeUs: nowUs, market: market.id, spec };
  };

const roomOf = ({ world }: Context, { market }: Stage): number =>
  Math.max(
    market.spec.minLots,
    Math.min(
      market.spec.maxOpenInterestLots - world.view.market(market.id).openInterestLots,
      Math.floor(market.spec.maxLots / 4),
    ),
  );

/** A limit of a lot less than the open interest to some lots more, in lots or in money. */
const limit =
  ({ dice }: Context, market: KnownMarket, inMoney: boolean): Planned =>
  ({ nowUs, world }) => {
    const { spec } = market;
    const open = world.view.market(market.id).openInterestLots;
    const most = Math.max(1, open + spec.minLots * dice.pick([-1, -1, 0, 0, 1, 2]));
    const oneLot = BigInt(market.markTicks) * BigInt(spec.quantaPerTickLot);
    const changed = inMoney
      ? { ...spec, maxOpenInterestNotional: quanta(BigInt(most) * oneLot) }
      : { ...spec, maxOpenInterestLots: lots(most) };
    return { kind: 'setMarketTerms', timeUs: nowUs, market: market.id, spec: changed };
  };
