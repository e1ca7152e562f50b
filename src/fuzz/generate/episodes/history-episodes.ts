/** Episodes about time in records: entries of one moment, prices of a day ago, and recordings. */
import { lots, priceTicks, quanta } from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import { NEVER_MS } from '../../run-setup.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import {
  advance,
  advanceTo,
  away,
  canPassDay,
  clearBook,
  nextMultiple,
  placeOrder,
  price,
  purse,
  refresh,
  setStage,
  trade,
} from './stage.ts';

const SECOND_US = 1_000_000;
const DAY_US = 86_400 * SECOND_US;
const MINUTE_US = 60 * SECOND_US;
const HOLDERS = 4;
/** Trades that an episode makes to drop earlier ones. */
const FEW = 10;

/**
 * Several subaccounts of one account hold shares: midnight records all of them at once. An exchange
 * that keeps few records drops some of the later ones, from another time on for each.
 */
export function vaultHolders(context: Context): readonly Planned[] {
  const { setup, world } = context;
  if (world.view.markets().some(({ markTicks }) => markTicks === null)) return [];
  const account = context.user();
  const amount = quanta(setup.config.minVaultDeposit + BigInt(1 + context.dice.below(5_000_000)));
  const kept = setup.config.retention.vaultSnapshotsPerHolder;
  const dropped = kept < FEW ? kept : 0;
  const holders = Array.from({ length: HOLDERS + dropped }, (_, i) => i % HOLDERS);
  // The last two hold more often than the others.
  const often = dropped === 0 ? [] : holders.map((i) => HOLDERS - 1 - (i % 2));
  return [...holders, ...often]
    .map((subaccountIndex): readonly Planned[] => [
      ...(dropped > 0 ? [advance(context.dice.pick([0, 1000, 400_000]))] : []),
      ({ nowUs }) => ({ kind: 'deposit', timeUs: nowUs, account, subaccountIndex, amount }),
      (now) => ({
        kind: 'transfer',
        timeUs: now.nowUs,
        from: account,
        fromIndex: subaccountIndex,
        to: setup.config.clsAccount,
        toIndex: 0,
        amount,
        market: null,
        signer: account,
        nonce: now.nonce(),
        expiresAtMs: NEVER_MS,
      }),
    ])
    .flat();
}

/** Minutes of candles for which a market has room at first. */
const ROOM = 64;

/**
 * Trades in more minutes than there is room for at first, after the oldest ones are dropped. Only
 * an exchange that keeps slightly more minutes reaches that in time.
 */
export function manyMinutes(context: Context): readonly Planned[] {
  const { dice, setup, world } = context;
  const kept = setup.config.retention.candleMinutesPerMarket;
  if (kept <= ROOM || kept > 2 * ROOM || !canPassDay(world.markets)) return [];
  const open = world.markets.filter(({ status, priced }) => status === 'open' && priced);
  if (open.length === 0) return [];
  const market = dice.pick(open);
  const print: Planned = ({ nowUs }) => ({
    kind: 'tapeTrade',
    timeUs: nowUs,
    market: market.id,
    priceTicks: priceTicks(away(market.markTicks, dice.between(-500, 500))),
    lots: lots(dice.pick([-1, 1]) * market.spec.minLots),
  });
  const prints = (count: number): Planned[] =>
    Array.from({ length: count }, () => [print, advance(MINUTE_US)]).flat();
  // The first minutes are dropped as the last ones come.
  return [refresh(market), ...prints(2), advance((kept - ROOM) * MINUTE_US), ...prints(ROOM + 6)];
}

/**
 * Trades within one minute and at its start, and a day later: some seconds before, or to the
 * microsecond a day after a trade and after the start of its minute, and one beside each.
 */
export function dayLater(context: Context): readonly Planned[] {
  const { dice, setup, world } = context;
  if (!canPassDay(world.markets)) return [];
  const stage = setStage(context, 2);
  if (stage === null) return [];
  const { actors, market, side } = stage;
  const [a, b] = actors;
  const size = side * market.spec.minLots;
  const instants: number[] = [];
  const remember: Planned = ({ nowUs }) => {
    const minuteUs = nowUs - (nowUs % MINUTE_US);
    const both = minuteUs === nowUs ? [nowUs] : [minuteUs, nowUs];
    instants.push(...both.flatMap((us) => [us - 1, us, us + 1]).map((us) => us + DAY_US));
    return null;
  };
  const isExact = dice.chance(750);
  // An exchange that keeps few trades then knows that minute by its candle alone.
  const kept = setup.config.retention.tradesPerMarket;
  const later = kept < FEW ? kept + 1 : dice.pick([0, 4]);
  const startsMinute = isExact && dice.chance(500);
  const last: readonly Planned[] = isExact
    ? [0, 1, 2, 3, 4, 5].flatMap((nth) => [advanceTo(() => instants[nth] ?? 0), refresh(market)])
    : [advance(DAY_US - dice.pick([10, 5, 1]) * SECOND_US)];
  return [
    refresh(market),
    ...clearBook(context, market),
    ...purse(stage, a, 2_000_000),
    ...purse(stage, b, 2_000_000),
    advanceTo(({ nowUs }) => nextMultiple(nowUs, MINUTE_US) - dice.pick([1, 10 * SECOND_US])),
    refresh(market),
    ...trade(stage, a, b, size),
    startsMinute
      ? advanceTo(({ nowUs }) => nextMultiple(nowUs, MINUTE_US))
      : advance(15 * SECOND_US),
    // At another price: otherwise any of the two could be that of a day ago.
    price(market, () => away(market.markTicks, dice.pick([-400, 400]))),
    ...trade(stage, b, a, size),
    remember,
    ...(later === 0
      ? []
      : [
          advance(MINUTE_US),
          refresh(market),
          ...Array.from({ length: later }, (_, i) =>
            i % 2 === 0 ? trade(stage, a, b, size) : trade(stage, b, a, size),
          ).flat(),
        ]),
    ...last,
    refresh(market),
    // Several commands of that instant, so that each check sees it.
    ...trade(stage, a, b, size),
    refresh(market),
    ...trade(stage, b, a, size),
    ...trade(stage, a, b, size),
  ];
}

/**
 * Users take of a recorded level again and again. It is stated again to the microsecond when a half
 * of what they took returns, then with less and with more than that. A trade explains a decrease to
 * the microsecond when that is still possible.
 */
export function timedRecording(context: Context): readonly Planned[] {
  const { dice } = context;
  const fits = ({ spec: { impactModel } }: KnownMarket): boolean =>
    impactModel === 'halving' || (impactModel !== 'squareRoot' && dice.chance(500));
  const stage = setStage(context, 2, fits, () => true);
  if (stage === null) return [];
  const { actors, market, side } = stage;
  const [a, b] = actors;
  const unit = Math.max(market.spec.minLots, Math.floor(stage.size / 8));
  const halfUs = market.spec.impactHalfLifeUs;
  const ticks = priceTicks(away(market.markTicks, side * 1000));
  const at = ({ nowUs }: Context) => ({ timeUs: nowUs, market: market.id });
  const level = { side: side > 0 ? 'ask' : 'bid', priceTicks: ticks } as const;
  const state =
    (units: number): Planned =>
    (now) => ({ kind: 'tapeDepth', ...at(now), levels: [{ ...level, lots: lots(units * unit) }] });
  const place =
    (owner: KnownSubaccount | undefined, units: number, ioc: boolean): Planned =>
    (now) =>
      owner === undefined ? null : placeOrder(now, { owner, market }, units * unit, ticks, { ioc });
  const take = (units: number): readonly Planned[] => [
    refresh(market),
    place(a, side * units, true),
  ];
  const beside = (us: number): Planned => advance(us + dice.pick([-1, 0, 0, 1]));
  return [
    ...clearBook(context, market),
    ...purse(stage, a, 5_000_000),
    ...purse(stage, b, 5_000_000),
    (now) => ({ kind: 'tapeSnapshot', ...at(now), levels: [{ ...level, lots: lots(16 * unit) }] }),
    // Half of them returns, and then others are taken.
    ...take(8),
    beside(halfUs),
    ...(dice.chance(500) ? [state(16)] : []),
    ...take(3),
    advance(Math.floor(halfUs * dice.pick([0.5, 1.5, 2.5]))),
    state(16),
    beside(halfUs),
    state(16),
    // A smaller level has fewer lots that were taken; more are taken of the next one.
    state(1),
    state(12),
    ...take(2),
    state(12),
    // A decrease that a trade explains within a second.
    refresh(market),
    place(b, -side, false),
    state(9),
    beside(SECOND_US),
    (now) => ({ kind: 'tapeTrade', ...at(now), priceTicks: ticks, lots: lots(side * 2 * unit) }),
    state(7),
  ];
}
