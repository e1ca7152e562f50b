/**
 * The parts of an episode: a market whose price one command sets, subaccounts with a known amount
 * of money, and commands that are drawn when their turn comes.
 */
import type { Command, NewOrder, PlaceOrder } from '../../../engine/commands.ts';
import {
  lots,
  ppm,
  priceTicks,
  quanta,
  timeUs,
  type AccountId,
  type Quanta,
} from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import { NEVER_MS } from '../../run-setup.ts';
import { isSettable, setPrice, type Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';

export interface Stage {
  readonly market: KnownMarket;
  /** Of different accounts. */
  readonly actors: readonly KnownSubaccount[];
  /** 1: the first actor is long; −1: short. */
  readonly side: 1 | -1;
  /** A size of about a hundred of the collateral, in lots. */
  readonly size: number;
}

/** Value of the usual size, in Quanta. */
const USUAL_QUANTA = 100_000_000;
const COLLATERAL = 1_000_000;

/** null if no market fits or too few users have money. */
export function setStage(
  context: Context,
  count: number,
  fits: (market: KnownMarket) => boolean = () => true,
  /** By default, markets whose price one command sets. */
  moves: (market: KnownMarket) => boolean = isSettable,
): Stage | null {
  const { dice, world } = context;
  if (world.view.markets().some(({ markTicks }) => markTicks === null)) return null;
  const markets = world.markets.filter(
    (market) => market.status === 'open' && moves(market) && fits(market),
  );
  if (markets.length === 0) return null;
  // A price near the opening leaves room for moves to both sides.
  const market = dice.pick(markets);
  const actors = actorsOf(context, market, count);
  if (actors === null) return null;
  const lotQuanta = market.markTicks * market.spec.quantaPerTickLot;
  const usual = Math.floor((USUAL_QUANTA * dice.pick([1, 1, 3])) / lotQuanta);
  const { minLots, maxLots } = market.spec;
  const size = Math.min(Math.max(usual, 4 * minLots), Math.floor(maxLots / 4));
  return { market, actors, side: dice.chance(500) ? 1 : -1, size };
}

/** Users of different accounts; those without a position first. */
function actorsOf(
  { dice, world }: Context,
  market: KnownMarket,
  count: number,
): readonly KnownSubaccount[] | null {
  const found: KnownSubaccount[] = [];
  const start = dice.below(world.subaccounts.length);
  const turned = [...world.subaccounts.slice(start), ...world.subaccounts.slice(0, start)];
  const isFlat = ({ positions }: KnownSubaccount): boolean => positions.every((held) => held === 0);
  const inOrder = [...turned.filter(isFlat), ...turned.filter((owner) => !isFlat(owner))];
  for (const owner of inOrder) {
    if (found.length === count) break;
    if (found.some(({ account }) => account === owner.account)) continue;
    if (owner.isolated[market.id] === true && dice.chance(700)) continue;
    found.push(owner);
  }
  return found.length < count ? null : found;
}

export const advance =
  (us: number): Planned =>
  (context) => {
    context.wait(us);
    return { kind: 'advanceTime', timeUs: context.nowUs };
  };

/** Waits until a time, if it is not past. */
export const advanceTo =
  (time: (context: Context) => number): Planned =>
  (context) => {
    const wait = time(context) - context.nowUs;
    return wait < 0 ? null : advance(wait)(context);
  };

/** A price of the market's source, which also thaws the market. */
export const price =
  (market: KnownMarket, ticks: (context: Context) => number): Planned =>
  (context) => {
    const { openingTicks, spec } = market;
    const highest = Math.min(openingTicks * 8, spec.maxPriceTicks);
    const bounded = Math.max(Math.ceil(openingTicks / 8), Math.min(ticks(context), highest));
    return setPrice(market, bounded)(context);
  };

export const status =
  (market: KnownMarket, to: 'open' | 'halted'): Planned =>
  ({ nowUs }) => ({ kind: 'setMarketStatus', timeUs: nowUs, market: market.id, status: to });

/** The last price again. */
export const refresh = (market: KnownMarket): Planned => price(market, () => market.markTicks);

/** The index of a market with a recorded mark, which differs from the mark by so many 1e-6. */
export const index =
  (market: KnownMarket, awayPpm: number): Planned =>
  ({ nowUs }) => {
    if (market.spec.markSource !== 'external' || market.spec.indexSource === 'mid') return null;
    const ticks = priceTicks(away(market.markTicks, awayPpm));
    return {
      kind: 'setIndex',
      timeUs: nowUs,
      market: market.id,
      priceTicks: ticks,
      text: String(ticks),
    };
  };

/** A price moved by so many 1e-6; by a tick at least. */
export function away(ticks: number, byPpm: number): number {
  if (byPpm === 0) return ticks;
  const move = Math.max(1, Math.round((ticks * Math.abs(byPpm)) / 1_000_000));
  return Math.max(1, ticks + Math.sign(byPpm) * move);
}

/** Cancels all orders of users in the market. */
export function clearBook(context: Context, market: KnownMarket): readonly Planned[] {
  const owners = new Set(
    context.world.live
      .filter((order) => order.market === market.id)
      .map((order) => order.subaccount),
  );
  return [...owners].map((subaccount) => ({ nowUs }) => ({
    kind: 'cancelAll',
    timeUs: nowUs,
    subaccount,
    market: market.id,
  }));
}

export interface OrderFields {
  readonly ioc?: boolean;
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
  readonly nonce?: bigint;
  readonly delegate?: AccountId | null;
}

/** A limit order of these signed lots. */
export function placeOrder(
  context: Context,
  { owner, market }: { readonly owner: KnownSubaccount; readonly market: KnownMarket },
  signedLots: number,
  ticks: number,
  fields: OrderFields = {},
): PlaceOrder {
  return {
    kind: 'placeOrder',
    timeUs: context.nowUs,
    subaccount: owner.id,
    delegate: fields.delegate ?? null,
    ...terms(context, market, signedLots, ticks, fields),
  };
}

type Terms = Omit<PlaceOrder, 'kind' | 'timeUs' | 'subaccount' | 'delegate'>;

function terms(
  context: Context,
  market: KnownMarket,
  signedLots: number,
  ticks: number,
  fields: OrderFields,
): Terms {
  return {
    market: market.id,
    orderType: 'limit',
    lots: lots(signedLots),
    priceTicks: priceTicks(Math.max(1, Math.min(ticks, market.spec.maxPriceTicks))),
    ioc: fields.ioc ?? false,
    postOnly: fields.postOnly ?? false,
    reduceOnly: fields.reduceOnly ?? false,
    nonce: fields.nonce ?? context.nonce(),
    expiresAtMs: NEVER_MS,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };
}

/** A limit order of a group. */
export const groupOrder = (
  context: Context,
  market: KnownMarket,
  signedLots: number,
  ticks: number,
  fields: OrderFields = {},
): NewOrder => ({
  ...terms(context, market, signedLots, ticks, fields),
  triggerTicks: null,
  trailingPpm: null,
  periodMs: null,
  parent: null,
  attached: false,
});

/** A limit order at a price that is so many 1e-6 above the mark. */
export const order =
  (
    { market }: Pick<Stage, 'market'>,
    owner: KnownSubaccount | undefined,
    signedLots: number,
    abovePpm = 0,
    fields: OrderFields = {},
  ): Planned =>
  (context) => {
    if (owner === undefined || signedLots === 0) return null;
    return placeOrder(
      context,
      { owner, market },
      signedLots,
      away(market.markTicks, abovePpm),
      fields,
    );
  };

/** Trades at the mark: the second actor rests an order, the first takes it. */
export const trade = (
  stage: Pick<Stage, 'market'>,
  taker: KnownSubaccount | undefined,
  maker: KnownSubaccount | undefined,
  signedLots: number,
): readonly Planned[] => [
  order(stage, maker, -signedLots),
  order(stage, taker, signedLots, 0, { ioc: true }),
];

/** Leaves an actor so much free collateral, in 1e-6 of the initial margin of the usual size. */
export function purse(
  { market, size }: Stage,
  owner: KnownSubaccount | undefined,
  ofInitialPpm: number,
): readonly Planned[] {
  if (owner === undefined) return [];
  const need = (): bigint => {
    const value = size * market.markTicks * market.spec.quantaPerTickLot;
    const rate = (market.spec.tiers[0]?.initialMarginPpm ?? 0) / 1e6;
    const fee = (2 * Math.abs(market.spec.takerFeePpm)) / 1e6;
    return BigInt(Math.ceil(value * (rate * (ofInitialPpm / 1e6) + fee)));
  };
  const free = ({ world }: Context): bigint => {
    const { crossEquityQuanta, crossInitialQuanta } = world.view.margin(owner.id);
    return crossEquityQuanta - crossInitialQuanta;
  };
  return [
    (context) => {
      const { withdrawableQuanta } = context.world.view.margin(owner.id);
      const over = free(context) - need();
      const amount = over < withdrawableQuanta ? over : withdrawableQuanta;
      return amount <= 0n ? null : money(context, 'withdraw', owner, quanta(amount));
    },
    (context) => {
      const missing = need() - free(context);
      return missing <= 0n ? null : money(context, 'deposit', owner, quanta(missing));
    },
  ];
}

export const money = (
  { nowUs }: Context,
  kind: 'deposit' | 'withdraw',
  { address: account, index: subaccountIndex }: Pick<KnownSubaccount, 'address' | 'index'>,
  amount: Quanta,
): Command => ({ kind, timeUs: nowUs, account, subaccountIndex, amount });

/** Withdraws all that may leave, or a part of it. */
export const strip =
  (owner: KnownSubaccount | undefined, part = 1): Planned =>
  (context) => {
    if (owner === undefined) return null;
    const free = context.world.view.margin(owner.id).withdrawableQuanta;
    const amount = part === 1 ? free : BigInt(Math.floor(Number(free) * part));
    return amount <= 0n ? null : money(context, 'withdraw', owner, quanta(amount));
  };

/** Deposits to insurance so many 1e-6 of the value of the usual size. */
export const insure =
  ({ market, size }: Stage, valuePpm: number): Planned =>
  (context) => {
    const value = (size * market.markTicks * market.spec.quantaPerTickLot * valuePpm) / 1e6;
    const account = context.setup.config.insuranceAccount;
    const amount = quanta(BigInt(Math.max(1, Math.floor(value))));
    return money(context, 'deposit', { address: account, index: 0 }, amount);
  };

/** A deposit to the vault of so much collateral at least. */
export const endowVault = (
  owner: KnownSubaccount | undefined,
  quantaNeeded: bigint,
): readonly Planned[] => {
  if (owner === undefined) return [];
  const amount = quanta(quantaNeeded + BigInt(COLLATERAL));
  return [
    (context) => money(context, 'deposit', owner, amount),
    (context) => ({
      kind: 'transfer',
      timeUs: context.nowUs,
      from: owner.address,
      fromIndex: owner.index,
      to: context.setup.config.clsAccount,
      toIndex: 0,
      amount,
      market: null,
      signer: owner.address,
      nonce: context.nonce(),
      expiresAtMs: NEVER_MS,
    }),
  ];
};

/**
 * The price at which the equity of a holder is `share` of the way from its maintenance to zero; the
 * mark itself if the position has no such price.
 */
export function beyondLiquidation(
  { world }: Context,
  owner: KnownSubaccount,
  market: KnownMarket,
  share: number,
): number {
  const position = world.view.positions(owner.id).find((held) => held.market === market.id);
  const liquidation = position?.liquidationTicks ?? null;
  if (position === undefined || liquidation === null) return market.markTicks;
  const rate = market.spec.tiers[0]?.maintenanceMarginPpm ?? 0;
  const beyond = Math.ceil((liquidation * rate * share) / 1_000_000);
  return position.lots > 0 ? liquidation - beyond : liquidation + beyond;
}

export const nextMultiple = (nowUs: number, stepUs: number): number =>
  timeUs(nowUs - (nowUs % stepUs) + stepUs);

const DAY_US = 86_400_000_000;
const DAY_INSTANTS = 20_000;

/** Whether a day has few instants of sampled funding, which the oracle visits one by one. */
export const canPassDay = (markets: readonly KnownMarket[]): boolean =>
  markets.reduce(
    (sum, { spec: { funding } }) =>
      sum + (funding.source === 'external' ? 0 : DAY_US / funding.sampleIntervalUs),
    0,
  ) <= DAY_INSTANTS;
