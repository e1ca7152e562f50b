/** Episodes of losses: slices, take-overs by the vault, deleveraging, and shortfalls. */
import { ppb, PPM, quanta } from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import { NEVER_MS } from '../../run-setup.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import { mode } from './isolated-episodes.ts';
import {
  advance,
  advanceTo,
  away,
  beyondLiquidation,
  clearBook,
  endowVault,
  index,
  insure,
  money,
  nextMultiple,
  order,
  price,
  purse,
  refresh,
  setStage,
  strip,
  trade,
  type Stage,
} from './stage.ts';

const MINUTE_US = 60_000_000;
const HOUR_US = 60 * MINUTE_US;
/** A wait for the next hour is at most so long where the oracle visits thousands of instants. */
const NEAR_US = 5 * MINUTE_US;

/** The first actor has all its money at risk against two others of equal size and money. */
export function leveraged(context: Context, stage: Stage): readonly Planned[] {
  const { market, side, size, actors } = stage;
  const [a, b, c] = actors;
  const half = Math.ceil(size / 2);
  const { dice } = context;
  const tied = dice.chance(600);
  return [
    refresh(market),
    ...clearBook(context, market),
    ...purse(stage, a, dice.pick([1_020_000, 1_100_000, 1_500_000])),
    ...purse(stage, b, 1_500_000),
    ...purse(stage, c, tied ? 1_500_000 : 3_000_000),
    order(stage, b, -side * half),
    order(stage, c, -side * (tied ? half : size - half + market.spec.minLots)),
    order(stage, a, side * 2 * half, 0, { ioc: true }),
    ...(dice.chance(400) ? [strip(b), strip(c)] : []),
  ];
}

/** A price at which a holder has lost this share of what lies below its maintenance. */
export const lose = (
  { market }: Stage,
  owner: KnownSubaccount | undefined,
  share: number,
): Planned =>
  price(market, (now) =>
    owner === undefined ? market.markTicks : beyondLiquidation(now, owner, market, share),
  );

/** Liquidation on a book with some bids, slice by slice, with pauses and new prices in between. */
export function slicedLiquidation(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const stage = setStage(context, 4);
  if (stage === null) return [];
  const { actors, market, side, size } = stage;
  const [a, , , d] = actors;
  const pauseUs = setup.config.liquidationPauseUs;
  const bids = [1, 2, 3].map((nth) => (now: Context) => {
    if (a === undefined) return null;
    const ticks = beyondLiquidation(now, a, market, 0.1 * nth);
    const abovePpm = ((ticks - market.markTicks) / market.markTicks) * 1e6;
    return order(stage, d, side * Math.ceil(size / dice.pick([1, 3, 10])), abovePpm)(now);
  });
  return [
    ...leveraged(context, stage),
    ...purse(stage, d, 4_000_000),
    ...bids,
    lose(stage, a, dice.pick([0, 0.05, 0.2, 0.33])),
    advance(dice.pick([0, Math.floor(pauseUs / 2), pauseUs - 1].filter((us) => us >= 0))),
    lose(stage, a, dice.pick([0.05, 0.2, 0.33])),
    advance(dice.pick([pauseUs, Math.ceil(pauseUs / 2), pauseUs + 1])),
    refresh(market),
    order(stage, a, -side * Math.ceil(size / 5), -side * 5000, { ioc: true, reduceOnly: true }),
    advance(pauseUs),
    lose(stage, a, dice.pick([0.2, 0.33, 0.34, 0.7, 1.2])),
  ];
}

/**
 * A holder whose liquidation pauses closes the rest, opens another position and is in danger again,
 * all within the pause: the new position does not wait for its end.
 */
export function reopenedInPause(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const pauseUs = setup.config.liquidationPauseUs;
  if (pauseUs === 0 || setup.config.liquidationSlicePpm === PPM) return [];
  const stage = setStage(context, 4);
  if (stage === null) return [];
  const { actors, market, side, size } = stage;
  const [a, b, , d] = actors;
  if (a === undefined) return [];
  const bids = (): readonly Planned[] => [
    ...purse(stage, d, 6_000_000),
    (now) => {
      const ticks = beyondLiquidation(now, a, market, 0.3);
      const abovePpm = ((ticks - market.markTicks) / market.markTicks) * 1e6;
      return order(stage, d, side * 2 * size, abovePpm)(now);
    },
  ];
  const held = (): number => a.positions[market.id] ?? 0;
  return [
    ...leveraged(context, stage),
    ...bids(),
    lose(stage, a, dice.pick([0.05, 0.15])),
    ...(dice.chance(500) ? [refresh(market)] : [price(market, () => away(market.markTicks, side))]),
    // The rest is closed at the mark, or bought by the bid below it.
    ...purse(stage, d, 6_000_000),
    (now) => order(stage, d, held())(now),
    (now) => order(stage, a, -held(), 0, { ioc: true, reduceOnly: dice.chance(500) })(now),
    ...(dice.chance(300) ? [advance(Math.floor(pauseUs / 3))] : []),
    ...clearBook(context, market),
    ...purse(stage, a, dice.pick([1_020_000, 1_100_000])),
    ...purse(stage, b, 4_000_000),
    order(stage, b, -side * size),
    order(stage, a, side * size, 0, { ioc: true }),
    ...bids(),
    lose(stage, a, dice.pick([0.05, 0.15, 0.3])),
    advance(dice.pick([1, pauseUs])),
    refresh(market),
  ];
}

/**
 * A holder whose liquidation pauses is saved by money or by a price, and in danger again within the
 * pause: the position does not wait for its end.
 */
export function savedInPause(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const {
    liquidationPauseUs: pauseUs,
    liquidationSlicePpm,
    partialLiquidationNotional,
  } = setup.config;
  // A loss of a greater share than the slice leaves the rest in danger; a third is too much.
  const slice = liquidationSlicePpm / PPM;
  if (pauseUs === 0 || slice > 0.28) return [];
  const loss = (): number => slice + (0.32 - slice) * dice.pick([0.3, 0.6]);
  // Only a position above the limit is sold in slices.
  const largeIn = ({ markTicks, spec: { quantaPerTickLot } }: KnownMarket): number =>
    Math.ceil((2 * Number(partialLiquidationNotional)) / (markTicks * quantaPerTickLot));
  const hasRoom = (market: KnownMarket): boolean => {
    const { openInterestLots, openInterestCapLots } = context.world.view.market(market.id);
    const room = Math.min(openInterestCapLots - openInterestLots, market.spec.maxLots);
    return 4 * largeIn(market) < room;
  };
  // A greater fee than what is left of the requirement stops each sale on the book.
  const paysFee = ({ spec: { tiers } }: KnownMarket): boolean =>
    setup.config.liquidationFeePpm < 0.5 * (tiers[0]?.maintenanceMarginPpm ?? 0);
  const found = setStage(context, 4, (market) => hasRoom(market) && paysFee(market));
  if (found === null) return [];
  const { market, actors, side } = found;
  const [a, b, , d] = actors;
  if (a === undefined) return [];
  const size = Math.max(found.size, largeIn(market));
  const stage = { ...found, size };
  const bids = (share: number): readonly Planned[] => [
    ...purse(stage, d, 12_000_000),
    (now) => {
      const ticks = beyondLiquidation(now, a, market, share);
      const abovePpm = ((ticks - market.markTicks) / market.markTicks) * 1e6;
      return order(stage, d, side * 2 * size, abovePpm)(now);
    },
  ];
  const [first, second] = [loss(), dice.chance(700) ? loss() : 0.4];
  const paused = dice.pick([0, 1, Math.floor(pauseUs / 3)]);
  return [
    refresh(market),
    ...clearBook(context, market),
    ...purse(stage, a, dice.pick([1_100_000, 2_000_000])),
    ...purse(stage, b, 4_000_000),
    ...trade(stage, a, b, side * size),
    // A bid at a mark in danger rests within the band if that price is near.
    lose(stage, a, -0.5),
    ...bids(first),
    lose(stage, a, first),
    advance(paused),
    ...(dice.chance(500)
      ? // Money is seen at the next mark.
        [...purse(stage, a, 300_000), price(market, () => away(market.markTicks, side))]
      : [price(market, (now) => beyondLiquidation(now, a, market, -dice.pick([0.3, 1])))]),
    advance(paused),
    ...bids(second),
    lose(stage, a, second),
    advance(dice.pick([1, pauseUs])),
    refresh(market),
  ];
}

/**
 * The vault has a position with a gain in a halted market, and about as much free collateral as a
 * position of another market needs: with the gain it could take that one over, without it not.
 */
export function frozenGains(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const first = setStage(context, 4);
  if (first === null) return [];
  const second = setStage(context, 4, ({ id }) => id !== first.market.id);
  if (second === null) return [];
  const [a, , , d] = first.actors;
  const [e] = second.actors;
  const { market, side, size } = first;
  const value = BigInt(size) * BigInt(market.markTicks) * BigInt(market.spec.quantaPerTickLot);
  const initial = (value * BigInt(market.spec.tiers[0]?.initialMarginPpm ?? 0)) / BigInt(PPM);
  const vaultOf = ({ world }: Context) => world.view.subaccountIdOf(setup.config.clsAccount, 0);
  /** Leaves the vault what the position needs, less a part of its gain. */
  const leave = (part: number): Planned[] => {
    const missing = (now: Context): bigint => {
      const vault = vaultOf(now);
      if (vault === undefined) return 0n;
      const gain = now.world.view
        .positions(vault)
        .reduce((sum, { upnlQuanta }) => sum + (upnlQuanta > 0n ? upnlQuanta : 0n), 0n);
      const { spec, id, markTicks } = second.market;
      const lots = Math.abs(e?.positions[id] ?? 0);
      const needed = lots * markTicks * spec.quantaPerTickLot;
      const rate = (spec.tiers[0]?.initialMarginPpm ?? 0) / PPM;
      const free = now.world.view.margin(vault).freeCollateralCrossQuanta;
      return BigInt(Math.ceil(needed * rate - Number(gain) * part)) - free;
    };
    return [0, 1].map((nth) => (now) => {
      const amount = missing(now);
      // The deposit, then its transfer, which is drawn when nothing else has changed.
      return amount <= 0n ? null : (endowVault(d, amount)[nth]?.(now) ?? null);
    });
  };
  return [
    ...endowVault(d, (initial * 5n) / 4n),
    ...leveraged(context, first),
    lose(first, a, dice.pick([0.4, 0.6, 0.9])),
    price(market, () => away(market.markTicks, side * dice.pick([50_000, 150_000, 300_000]))),
    ({ nowUs }) => ({
      kind: 'setMarketStatus',
      timeUs: nowUs,
      market: market.id,
      status: 'halted',
    }),
    ...leveraged(context, second),
    ...leave(dice.pick([0.2, 0.5, 0.9])),
    lose(second, e, dice.pick([0.4, 0.6])),
    ({ nowUs }) => ({ kind: 'setMarketStatus', timeUs: nowUs, market: market.id, status: 'open' }),
    refresh(market),
    refresh(second.market),
  ];
}

/** The vault takes positions over, offers them minute by minute, and pays holders of shares. */
export function vaultTakeover(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  // Some markets end near their opening price: there the vault may have nothing to offer.
  const isLow = ({ spec, openingTicks }: KnownMarket): boolean =>
    spec.maxPriceTicks < 1.3 * openingTicks;
  const low = dice.chance(700) ? setStage(context, 4, isLow) : null;
  const stage = low ?? setStage(context, 4);
  if (stage === null) return [];
  const { actors, market, side, size } = stage;
  const [a, , , d] = actors;
  const value = BigInt(size) * BigInt(market.markTicks) * BigInt(market.spec.quantaPerTickLot);
  // Much more than the position needs, or about its initial margin.
  const initial = (value * BigInt(market.spec.tiers[0]?.initialMarginPpm ?? 0)) / 1_000_000n;
  const funds = dice.pick([value, 4n * value, initial, (initial * 5n) / 4n]);
  const minute = (): readonly Planned[] => [
    advanceTo(({ nowUs }) => nextMultiple(nowUs, MINUTE_US) - dice.pick([1, 1000, 1_000_000])),
    price(market, () =>
      low !== null && dice.chance(600)
        ? market.spec.maxPriceTicks - dice.pick([0, 0, 1])
        : away(market.markTicks, dice.pick([-300, 0, 300])),
    ),
    index(market, dice.pick([-3000, -300, 0, 300, 3000])),
    // A quote beyond that of the vault, which takes it.
    ...(dice.chance(300)
      ? [order(stage, d, side * Math.ceil(size / 7), side * dice.pick([6000, 15_000, 40_000]))]
      : []),
    advanceTo(({ nowUs }) => nextMultiple(nowUs, MINUTE_US)),
    // Takes a part of what the vault offers, or all.
    order(stage, d, side * Math.ceil(size / dice.pick([1, 7, 30])), side * 40_000, { ioc: true }),
  ];
  return [
    ...endowVault(d, funds),
    ...leveraged(context, stage),
    ...purse(stage, d, 4_000_000),
    index(market, dice.pick([-5000, 0, 5000])),
    lose(stage, a, dice.pick([0.34, 0.4, 0.6, 0.9, 0.97, 1])),
    ...minute(),
    redeem(d, dice.pick([0.001, 0.1])),
    ...minute(),
    advance(Math.min(setup.config.vaultLockupUs, MINUTE_US)),
    refresh(market),
    redeem(d, dice.pick([0.01, 0.3])),
  ];
}

/**
 * Money out of the vault for a part of the shares, at an amount without a round number of them; or
 * exactly what the vault may pay, where that is less than the shares are worth.
 */
const redeem =
  (holder: KnownSubaccount | undefined, part: number): Planned =>
  (context) => {
    if (holder === undefined || holder.shares <= 0) return null;
    const { view } = context.world;
    const vault = view.subaccountIdOf(context.setup.config.clsAccount, 0);
    const free = vault === undefined ? 0n : view.margin(vault).withdrawableQuanta;
    const isAll = free > 0n && free < BigInt(holder.shares) && context.dice.chance(400);
    // All that is free, a Quantum more, or what the margin of the vault's positions holds.
    const more = context.dice.pick([0n, 0n, 1n, free / 4n]);
    return {
      kind: 'transfer',
      timeUs: context.nowUs,
      from: context.setup.config.clsAccount,
      fromIndex: 0,
      to: holder.address,
      toIndex: holder.index,
      amount: quanta(isAll ? free + more : BigInt(1 + Math.floor(holder.shares * part))),
      market: null,
      signer: holder.address,
      nonce: context.nonce(),
      expiresAtMs: NEVER_MS,
    };
  };

/** A gap below zero: insurance within its hourly limit, then auto-deleveraging of tied parties. */
export function bankruptcy(context: Context): readonly Planned[] {
  const { dice } = context;
  const stage = setStage(context, 3);
  if (stage === null) return [];
  const { actors, market } = stage;
  const [a, b, c] = actors;
  return [
    ...(dice.chance(600) ? [insure(stage, dice.pick([1, 1000, 20_000, 200_000]))] : []),
    ...leveraged(context, stage),
    // A first step in the money of the others ranks them by profit.
    ...(dice.chance(500) ? [lose(stage, a, dice.pick([-2, -1]))] : []),
    lose(stage, a, dice.pick([1, 1.01, 1.3, 2, 4])),
    strip(b, 0.5),
    strip(c),
    refresh(market),
  ];
}

/**
 * One price ruins three holders at once. Two of them are the other side of the first one's position
 * in a second market: parties without equity, often beside the tape's own accounts.
 */
export function ruinedTogether(context: Context): readonly Planned[] {
  const { dice } = context;
  const held = setStage(context, 4);
  const lost = held === null ? null : setStage(context, 4, ({ id }) => id !== held.market.id);
  if (held === null || lost === null) return [];
  const { actors } = held;
  const [a, b, c, d] = actors;
  const part = Math.ceil(held.size / 2);
  const longs = [a, b, c].flatMap((owner) => [
    ...purse(lost, owner, 1_100_000),
    ...trade(lost, owner, d, lost.side * lost.size),
  ]);
  return [
    ...[held, lost].flatMap(({ market }) => [refresh(market), ...clearBook(context, market)]),
    ...actors.flatMap((owner) => purse(held, owner, 1_500_000)),
    order(held, b, -held.side * part),
    order(held, c, -held.side * (part + held.market.spec.minLots * dice.pick([0, 1]))),
    order(held, a, held.side * 2 * part, 0, { ioc: true }),
    price(held.market, () => away(held.market.markTicks, held.side * dice.pick([-2000, 0, 2000]))),
    ...purse(lost, d, 12_000_000),
    ...longs,
    lose(lost, a, dice.pick([1.2, 2, 4])),
    ...[held, lost].map(({ market }) => refresh(market)),
  ];
}

/**
 * A recorded funding rate takes more than the payer has, which no gain of this step covers: the
 * rest is a shortfall. Then money moves, and the hour of insurance ends.
 */
export function shortfall(context: Context): readonly Planned[] {
  const { dice } = context;
  const stage = setStage(context, 4, ({ spec }) => spec.funding.source === 'external');
  if (stage === null) return [];
  const { actors, market } = stage;
  const [a, b, c, d] = actors;
  const insured = dice.chance(700);
  return [
    ...(insured ? [insure(stage, dice.pick([10, 1000, 20_000, 50_000]))] : []),
    // Its isolated margin receives funding, so that a part of it may leave.
    ...(c !== undefined && dice.chance(400) ? [mode(c, market, true, 1)] : []),
    ...leveraged(context, stage),
    index(market, 0),
    ruin(stage, a, dice.pick([1100, 1500, 3000])),
    refresh(market),
    ...moneyMoves(context, [b, c, d]),
    ...hourEnds(context, stage),
    ...moneyMoves(context, [b, d]),
    ...(dice.chance(400) ? [repay(dice.pick([0.3, 1]))] : []),
    strip(d, 0.3),
  ];
}

/** A rate at which a holder pays its equity times a factor in thousandths. */
const ruin =
  ({ market }: Stage, owner: KnownSubaccount | undefined, permille: number): Planned =>
  ({ nowUs, world }) => {
    if (owner === undefined) return null;
    const held = owner.positions[market.id] ?? 0;
    const indexTicks = world.view.market(market.id).indexTicks ?? market.markTicks;
    const value = held * indexTicks * market.spec.quantaPerTickLot;
    if (value === 0) return null;
    const equity = Math.max(1, Number(world.view.margin(owner.id).crossEquityQuanta));
    const rate = Math.ceil(((equity * permille) / 1000 / value) * 1e9);
    return {
      kind: 'settleFunding',
      timeUs: nowUs,
      market: market.id,
      ratePpb: ppb(Math.max(-1e9, Math.min(rate, 1e9))),
    };
  };

/** Deposits and withdrawals of users, in parts without a round share of the shortfall. */
function moneyMoves(
  { dice }: Context,
  owners: readonly (KnownSubaccount | undefined)[],
): readonly Planned[] {
  const pays =
    (owner: KnownSubaccount): Planned =>
    (now) =>
      money(now, 'deposit', owner, quanta(BigInt(1 + dice.below(9_000_000))));
  return owners.flatMap((owner): readonly Planned[] =>
    owner === undefined
      ? []
      : [
          strip(owner, dice.pick([0.01, 0.1, 0.37])),
          ...(dice.chance(600) ? [pays(owner)] : []),
          strip(owner, dice.pick([0.05, 0.5])),
        ],
  );
}

/** A deposit to insurance of a part of the shortfall, or all of it. */
const repay =
  (part: number): Planned =>
  (now) => {
    const size = Number(-now.world.view.funds().shortfallQuanta);
    if (size <= 0) return null;
    const account = now.setup.config.insuranceAccount;
    const amount = quanta(BigInt(Math.ceil(size * part)));
    return money(now, 'deposit', { address: account, index: 0 }, amount);
  };

/** The end of the hour, if it is near or cheap to reach; then the price again. */
function hourEnds({ dice, world }: Context, { market }: Stage): readonly Planned[] {
  const isCheap =
    world.markets.every(({ spec }) => spec.funding.source === 'external') && dice.chance(500);
  const wait: Planned = (now) => {
    const hour = nextMultiple(now.nowUs, HOUR_US);
    if (!isCheap && hour - now.nowUs > NEAR_US) return null;
    return advanceTo(() => hour + dice.below(2))(now);
  };
  return [wait, refresh(market)];
}
