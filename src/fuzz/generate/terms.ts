/**
 * Draws order terms that are likely to have an effect: near the mark or at the best price, with a
 * nearly affordable size, sometimes closing or flipping a position.
 */
import {
  accountId,
  lots,
  marketId,
  ppm,
  priceTicks,
  subaccountId,
  type AccountId,
  type Address,
  type Lots,
  type MarketId,
  type Ppm,
  type PriceTicks,
  type SubaccountId,
} from '../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../fuzz-world.ts';
import type { Context } from './draw-context.ts';

export interface DrawnTerms {
  readonly owner: KnownSubaccount;
  readonly marketKnown: KnownMarket;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  /** Signed. */
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly delegate: AccountId | null;
  readonly clientId: string | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
}

/** An open-interest limit above this counts as no limit. */
const MAX_INTEREST = 1e12;
const CLIENT_IDS = Array.from({ length: 12 }, (_, i) => `c${String(i)}`);

export function drawTerms(context: Context): DrawnTerms {
  const { dice } = context;
  const owner = context.trader();
  const market = context.market();
  const held = owner.positions[market.id] ?? 0;
  const isolated = owner.isolated[market.id] === true;
  // One in three holders reduces: all, a part, or beyond.
  const closes = held !== 0 && dice.chance(isolated ? 600 : 330);
  const side = closes ? (held > 0 ? -1 : 1) : dice.chance(500) ? 1 : -1;
  const flags = dice.below(16);
  const ioc = flags < (closes && isolated ? 9 : 3);
  // A forced exit takes any price within the band.
  const panics = closes && ioc && dice.chance(500);
  // A flip adds to open interest: up to its limit, or one lot beyond.
  const turns = closes && hasLimit(market) && dice.chance(300);
  const price = panics || turns ? bandEdge(market, side) : drawPrice(context, market, side);
  const size = turns
    ? within(1, Math.abs(held) + roomOf(context, market) + dice.below(2), market.spec.maxLots)
    : closes
      ? closingSize(context, market, held)
      : drawSize(context, owner, market, ioc ? market.markTicks : price);
  const delegate = delegateOf(context, owner);
  const drawn = {
    owner,
    marketKnown: market,
    subaccount: owner.id,
    market: market.id,
    lots: lots(side * size),
    priceTicks: priceTicks(price),
    ioc,
    postOnly: flags === 3 || flags === 4,
    reduceOnly: closes ? !turns && dice.chance(500) : flags === 5,
    delegate,
    clientId: dice.chance(80) ? dice.pick(CLIENT_IDS) : null,
    ...drawOriginator(context, delegate !== null),
  };
  return context.faulty ? spoil(context, drawn) : drawn;
}

/** Around the mark, at the best price of either side, at the edge of the band, or far away. */
export function drawPrice(context: Context, market: KnownMarket, side: 1 | -1): number {
  const { dice, profile, world } = context;
  const mark = market.markTicks;
  const spread = Math.max(2, Math.floor((mark * profile.prices.spreadPpm) / 1_000_000));
  const style = dice.below(100);
  if (style < 30) return atLeastOne(mark - side * dice.below(spread));
  if (style < 50) return atLeastOne(mark + side * dice.below(spread));
  if (style < 90) {
    const { bestBid, bestAsk } = world.view.market(market.id);
    const own = side > 0 ? bestBid : bestAsk;
    const other = side > 0 ? bestAsk : bestBid;
    const best = style < 60 ? own : other;
    return atLeastOne((best?.priceTicks ?? mark) + dice.between(-1, 1));
  }
  if (style < 96) return atLeastOne(bandEdge(market, side) + dice.between(-2, 2));
  const band = bandEdge(market, 1) - mark;
  // Deep in the book, reached only by forced exits.
  if (style < 98) return atLeastOne(mark - side * dice.below(band + 1));
  return atLeastOne(mark - side * Math.min(mark, band * dice.between(1, 11)));
}

/** The worst price that the band allows. */
function bandEdge({ markTicks, spec }: KnownMarket, side: 1 | -1): number {
  return atLeastOne(markTicks + side * Math.floor((markTicks * spec.priceBandPpm) / 1_000_000));
}

const atLeastOne = (price: number): number => Math.max(1, price);

function drawSize(
  context: Context,
  owner: KnownSubaccount,
  market: KnownMarket,
  price: number,
): number {
  const { dice, profile } = context;
  const { spec } = market;
  const oneLot = Math.max(1, price) * spec.quantaPerTickLot;
  // Occasionally exactly up to the open-interest limit, or one lot beyond.
  if (hasLimit(market) && dice.chance(150)) {
    return within(spec.minLots, roomOf(context, market) + dice.below(2), spec.maxLots);
  }
  // The notional of a position at the floor of a tier: a lot less, exactly, or a lot more.
  const tier = spec.tiers.at(-1);
  if (spec.tiers.length > 1 && tier !== undefined && dice.chance(60)) {
    const held = Math.abs(owner.positions[market.id] ?? 0);
    const lotQuanta = Math.max(1, market.markTicks) * spec.quantaPerTickLot;
    const atFloor = Math.floor(Number(tier.floorQuanta) / lotQuanta) - held;
    return within(spec.minLots, atFloor + dice.between(-1, 1), spec.maxLots);
  }
  if (dice.chance(profile.crisis.fullPermille)) {
    return within(spec.minLots, exactSize(context, owner, market, price), spec.maxLots);
  }
  // Usually a small part of what margin allows; sometimes all of it and slightly more.
  const max = Math.min(
    profile.leveragePercent,
    105_000_000 / (spec.tiers[0]?.initialMarginPpm ?? 1),
  );
  const percent = dice.chance(800) ? dice.below(Math.max(10, max >> 3)) : dice.below((max | 0) + 1);
  const affordable = Math.floor(((Math.max(owner.cash, 1_000_000) / 100) * percent) / oneLot);
  // Capacity under the limit is used up quickly, so most orders fit into the remainder.
  const room = hasLimit(market) && dice.chance(800) ? roomOf(context, market) : 0;
  const size = room > 0 ? Math.min(affordable, room) : affordable;
  return within(spec.minLots, dice.chance(300) ? rounded(size) : size, spec.maxLots);
}

/** Down to 1, 2 or 5 times a power of ten: notionals of such sizes can equal round limits. */
function rounded(size: number): number {
  let power = 1;
  while (power * 10 <= size) power *= 10;
  const first = Math.floor(size / power);
  return (first >= 5 ? 5 : first >= 2 ? 2 : 1) * power;
}

/** Largest size that free collateral allows with the taker's fee, or one lot more or less. */
function exactSize(
  context: Context,
  owner: KnownSubaccount,
  market: KnownMarket,
  price: number,
): number {
  const { spec } = market;
  const figures = context.world.view.margin(owner.id);
  const free = Number(figures.crossEquityQuanta - figures.crossInitialQuanta);
  const rate = (spec.tiers[0]?.initialMarginPpm ?? 0) + spec.takerFeePpm;
  const forOneLot = (price * spec.quantaPerTickLot * rate) / 1_000_000;
  return Math.floor(free / forOneLot) + context.dice.between(-1, 1);
}

function closingSize(context: Context, market: KnownMarket, held: number): number {
  const size = Math.abs(held);
  const { spec } = market;
  const { flipPermille } = context.profile.crisis;
  if (flipPermille > 0 && context.dice.chance(flipPermille)) {
    return within(spec.minLots, size + 1 + context.dice.below(size), spec.maxLots);
  }
  switch (context.dice.below(6)) {
    case 0:
      return within(spec.minLots, Math.floor(size / 2), spec.maxLots);
    case 1:
      return within(spec.minLots, Math.floor(size / 9), spec.maxLots);
    case 2:
      return within(spec.minLots, size * 2, spec.maxLots);
    default:
      return within(spec.minLots, size, spec.maxLots);
  }
}

const hasLimit = ({ spec }: KnownMarket): boolean => spec.maxOpenInterestLots < MAX_INTEREST;

/** Lots that can still be opened in a market with a limit. */
const roomOf = ({ world }: Context, { id, spec }: KnownMarket): number =>
  spec.maxOpenInterestLots - world.view.market(id).openInterestLots;

const within = (min: number, value: number, max: number): number =>
  Math.max(min, Math.min(value, max));

/** Sometimes a delegate of the owner, if it has any. */
export function delegateOf(context: Context, owner: KnownSubaccount): AccountId | null {
  const { grants } = context.world;
  if (grants.length === 0 || !context.dice.chance(250)) return null;
  // Occasionally another subaccount of the account.
  const anywhere = context.dice.chance(100);
  const own = grants.filter(
    ({ account, index }) => account === owner.account && (anywhere || index === owner.index),
  );
  return own.length === 0 ? null : context.dice.pick(own).delegate;
}

function drawOriginator(
  context: Context,
  delegated: boolean,
): Pick<DrawnTerms, 'originator' | 'originatorFeePpm'> {
  if (!context.dice.chance(delegated ? 150 : context.profile.crisis.originatorPermille)) {
    return { originator: null, originatorFeePpm: ppm(0) };
  }
  const originatorFeePpm = ppm(context.dice.pick([0, 1, 100, 100, 1000]));
  return { originator: context.user(), originatorFeePpm };
}

/** The order with one fault. */
function spoil(context: Context, drawn: DrawnTerms): DrawnTerms {
  const { dice } = context;
  const { spec } = drawn.marketKnown;
  const sign = drawn.lots > 0 ? 1 : -1;
  switch (dice.below(13)) {
    case 0:
      return { ...drawn, market: marketId(99) };
    case 1:
      return { ...drawn, subaccount: subaccountId(dice.pick([0, 1, 3, 9999])) };
    case 2:
      return { ...drawn, lots: lots(spec.minLots > 1 ? sign * (spec.minLots - 1) : 0) };
    case 3:
      return { ...drawn, lots: lots(sign * (spec.maxLots + dice.below(2))) };
    case 4:
      return { ...drawn, priceTicks: priceTicks(dice.below(2)) };
    case 5:
      return { ...drawn, priceTicks: priceTicks(spec.maxPriceTicks + dice.below(2)) };
    case 6:
      return { ...drawn, ioc: true, postOnly: true, reduceOnly: dice.chance(500) };
    case 7:
      return { ...drawn, originator: context.user(), originatorFeePpm: ppm(1001) };
    case 8:
      return { ...drawn, originator: null, originatorFeePpm: ppm(5) };
    case 9:
      return { ...drawn, delegate: accountId(dice.below(8)) };
    case 10:
      return { ...drawn, clientId: CLIENT_IDS[0] ?? null };
    case 11: {
      const { insuranceAccount, shortfallAccount } = context.setup.config;
      const originator = dice.pick([insuranceAccount, shortfallAccount]);
      return { ...drawn, originator, originatorFeePpm: ppm(dice.pick([0, 10])) };
    }
    default:
      return drawn;
  }
}
