/**
 * Episodes about quotes away from the index: lots that no taker could fill, which impact prices
 * leave out (decision 0145), small orders that end a walk (decision 0156), and a premium at the
 * bound of funding while terms change.
 */
import { PPM, ppm, quanta } from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import type { Planned } from '../aims.ts';
import { nextSample } from '../premium-samples.ts';
import type { Context } from '../draw-context.ts';
import { cancels } from './edge-episodes.ts';
import {
  advance,
  advanceTo,
  clearBook,
  groupOrder,
  money,
  nextMultiple,
  order,
  placeOrder,
  purse,
  refresh,
  setStage,
  trade,
  type Stage,
} from './stage.ts';

const SECOND_US = 1_000_000;
/** The most refreshes of the index while quotes rest. */
const REFRESHES = 10;

/** Orders may rest within so many price bands of the mark. */
const RESTING_BANDS = 9;

const lotQuanta = ({ markTicks, spec }: KnownMarket): number => markTicks * spec.quantaPerTickLot;

/** Lots of so many 1e-6 of the impact notional; a lot at least. */
function impactLots(market: KnownMarket, ofNotionalPpm: number): number {
  const notional = Number(market.spec.funding.impactNotional);
  const size = Math.ceil((notional * ofNotionalPpm) / (PPM * lotQuanta(market)));
  return Math.max(market.spec.minLots, size);
}

const lowestMaintenance = ({ spec }: KnownMarket): number =>
  Math.min(...spec.tiers.map((tier) => tier.maintenanceMarginPpm));

const isSampled = ({ spec }: KnownMarket): boolean => spec.funding.source !== 'external';

/** Whether the impact notional is several of the smallest orders, and two of the largest. */
const isDivisible = (market: KnownMarket): boolean =>
  (isSampled(market) || market.spec.markSource === 'median') &&
  6 * market.spec.minLots * lotQuanta(market) <= Number(market.spec.funding.impactNotional) &&
  impactLots(market, 3 * PPM) <= market.spec.maxLots;

/** Withdraws what may leave but for so many 1e-6 of the loss of one quote beside the mark. */
const keepLosses =
  (
    { market, size }: Stage,
    owner: KnownSubaccount | undefined,
    awayPpm: number,
    keep: number,
  ): Planned =>
  (context) => {
    if (owner === undefined) return null;
    const loss = (size * lotQuanta(market) * Math.abs(awayPpm)) / PPM;
    const { withdrawableQuanta } = context.world.view.margin(owner.id);
    const amount = withdrawableQuanta - BigInt(Math.ceil((loss * keep) / PPM));
    return amount <= 0n ? null : money(context, 'withdraw', owner, quanta(amount));
  };

/** Waits for the next second and the next sample of the premium, with a fresh index. */
const untilSampled = ({ market }: Stage): readonly Planned[] => [
  refresh(market),
  advance(SECOND_US),
  refresh(market),
  (context) =>
    isSampled(market)
      ? advanceTo(({ nowUs, setup }) => nextSample(setup.config.samplingSeed, market, nowUs))(
          context,
        )
      : null,
];

/**
 * Quotes beyond the index that their owner could not fill whole: reduce-only ones of a smaller
 * position, or several of which its money pays a part. Then a taker meets them.
 */
export function unfillableQuotes(context: Context): readonly Planned[] {
  const { dice } = context;
  const found = setStage(context, 4, isDivisible);
  if (found === null) return [];
  const { market, side, actors } = found;
  const [a, b, c, d] = actors;
  const part = impactLots(market, dice.pick([200_000, 350_000, 600_000]));
  const stage = { ...found, size: part };
  const thick = impactLots(market, 1_500_000);
  const beyond = side * dice.pick([1000, 3000, 8000]);
  const reduces = dice.chance(500);
  const quote = (fields = {}): Planned => order(stage, a, side * part, beyond, fields);
  const quotes = reduces
    ? [
        ...trade(stage, a, b, -side * Math.ceil(part * dice.pick([0.5, 1, 1.5]))),
        quote({ reduceOnly: true }),
        quote({ reduceOnly: true }),
        quote({ reduceOnly: dice.chance(700) }),
      ]
    : [
        quote(),
        quote(),
        order(stage, a, side * part, beyond - side * dice.pick([0, 200])),
        quote(),
        keepLosses(stage, a, beyond, dice.pick([500_000, 1_300_000, 1_700_000, 2_500_000])),
      ];
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse({ ...stage, size: thick }, actor, 4_000_000)),
    order(stage, d, -side * thick, beyond + side * dice.pick([100, 2000])),
    order(stage, c, side * thick, -side * dice.pick([500, 3000])),
    ...quotes,
    ...untilSampled(stage),
    order(stage, b, -side * dice.pick([part, 3 * part]), -side * 200, { ioc: true }),
    ...untilSampled(stage),
  ];
}

/** Levels of small orders, a few more than a walk for an impact price takes. */
const SMALL_LEVELS = 260;
const SMALL_GROUP = SMALL_LEVELS / 4;
/** Largest small order, of the impact notional. */
const SMALL_PPM = Math.floor(PPM / 256);

/**
 * Small orders at many levels before a quote of the whole impact notional. Some are as large as
 * those that count.
 */
export function smallOrders(context: Context): readonly Planned[] {
  const { dice } = context;
  const fits = (market: KnownMarket): boolean =>
    isDivisible(market) &&
    impactLots(market, SMALL_PPM) > 2 * market.spec.minLots &&
    market.spec.maxOpenOrders >= SMALL_LEVELS / 2 &&
    2 * SMALL_LEVELS * PPM < market.markTicks * Math.min(PPM, 4 * market.spec.priceBandPpm);
  const found = setStage(context, 4, fits);
  if (found === null) return [];
  const { market, side, actors } = found;
  const [a, b, c, d] = actors;
  const thick = impactLots(market, 1_500_000);
  const stage = { ...found, size: thick };
  const small = Math.ceil(dice.pick([0.5, 0.9, 1]) * impactLots(market, SMALL_PPM));
  const ticks = (level: number): number => market.markTicks + side * (2 + level);
  const quote =
    (owner: KnownSubaccount | undefined, size: number, level: number): Planned =>
    (now) =>
      owner ? placeOrder(now, { owner, market }, size, ticks(level)) : null;
  const group =
    (owner: KnownSubaccount | undefined, from: number): Planned =>
    (now) => {
      const orders = Array.from({ length: SMALL_GROUP }, (_, i) =>
        groupOrder(now, market, side * small, ticks(from + i)),
      );
      const { nowUs } = now;
      return owner
        ? { kind: 'placeOrders', timeUs: nowUs, subaccount: owner.id, delegate: null, orders }
        : null;
    };
  return [
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(stage, actor, 8_000_000)),
    quote(d, -side * thick, SMALL_LEVELS + 2),
    quote(c, side * thick, 0),
    ...[a, b, a, b].map((owner, i) => group(owner, 1 + i * SMALL_GROUP)),
    ...untilSampled(stage),
    quote(d, -side * thick, 0),
    cancels(market, a),
    ...untilSampled(stage),
    cancels(market, b),
  ];
}

/** Waits until a time, while the index stays fresh. */
const waitFresh = (market: KnownMarket, staleUs: number, endUs: number): readonly Planned[] =>
  Array.from({ length: REFRESHES }, () => [
    advanceTo(({ nowUs }) => Math.min(endUs, nowUs + Math.ceil(staleUs / 2))),
    (context: Context) => (context.nowUs === endUs ? null : refresh(market)(context)),
  ]).flat();

/**
 * A premium above the maintenance rate during an interval, and announced terms that raise this rate
 * at the very instant of its settlement. A mark that follows the quotes often falls there, too.
 */
export function fundedAtNotice(context: Context): readonly Planned[] {
  const { dice, setup, nowUs } = context;
  const { termsNoticeUs: noticeUs, indexStaleUs: staleUs } = setup.config;
  const fits = (market: KnownMarket): boolean => {
    const { funding, priceBandPpm } = market.spec;
    const longestUs = Math.max(noticeUs, funding.intervalUs) + SECOND_US;
    return (
      isSampled(market) &&
      2 * lowestMaintenance(market) * funding.divisor <= RESTING_BANDS * priceBandPpm &&
      2 * longestUs <= REFRESHES * staleUs &&
      impactLots(market, 3 * PPM) <= market.spec.maxLots
    );
  };
  const stage = noticeUs === 0 ? null : setStage(context, 4, fits);
  if (stage === null) return [];
  const { market, side, size, actors } = stage;
  const [a, b, c, d] = actors;
  const { spec: before } = market;
  const { divisor, intervalUs } = before.funding;
  const premiumPpm = Math.ceil(lowestMaintenance(market) * divisor * dice.pick([1.2, 1.5, 2]));
  const thick = impactLots(market, 1_500_000);
  const quoted = { ...stage, size: Math.max(size, thick) };
  const leadUs = Math.max(noticeUs, intervalUs) + SECOND_US;
  const settlesUs = nextMultiple(nowUs + leadUs, intervalUs);
  const tiers = before.tiers.map((tier) => ({
    ...tier,
    initialMarginPpm: ppm(Math.min(PPM, 2 * tier.initialMarginPpm)),
    maintenanceMarginPpm: ppm(Math.min(PPM, Math.ceil(1.5 * tier.maintenanceMarginPpm))),
  }));
  const takesBack = cancels(market, c);
  const funding = { ...before.funding, capPpm: ppm(500_000), marginCapPpm: ppm(4 * PPM) };
  return [
    advanceTo(() => settlesUs - leadUs),
    refresh(market),
    ...clearBook(context, market),
    ...actors.flatMap((actor) => purse(quoted, actor, 40_000_000)),
    ...trade(stage, a, b, side * size),
    order(stage, d, -side * thick, side * (premiumPpm + 500)),
    order(stage, c, side * thick, side * premiumPpm),
    ...waitFresh(market, staleUs, settlesUs - noticeUs),
    ({ nowUs: now }) => ({
      kind: 'setMarketTerms',
      timeUs: now,
      market: market.id,
      spec: { ...market.spec, tiers, funding },
    }),
    // A mark moves at the next whole second, and the quotes were sampled until now.
    ...(dice.chance(600)
      ? [...waitFresh(market, staleUs, settlesUs - dice.pick([1000, 400_000])), takesBack]
      : waitFresh(market, staleUs, settlesUs - 1)),
    advanceTo(() => settlesUs),
    advance(SECOND_US),
    ({ nowUs: now }) => ({ kind: 'setMarketTerms', timeUs: now, market: market.id, spec: before }),
  ];
}
