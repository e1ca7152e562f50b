/** Draws operator commands: terms, restrictions and delistings. */
import type { Command, SetMarketStatus } from '../../engine/commands.ts';
import type { MarginTier, MarketSpec } from '../../engine/config.ts';
import { lots, ppb, ppm, priceTicks, quanta, type Ppm } from '../../num/units.ts';
import type { Dice } from '../dice.ts';
import type { Context } from './draw-context.ts';

type Status = SetMarketStatus['status'];

const STATUSES: readonly Status[] = ['postOnly', 'reduceOnly', 'cancelOnly', 'halted', 'halted'];

/** A restriction; usually its end if there is one. */
export function makeStatus(context: Context): Command {
  const { dice } = context;
  const restricted = context.world.markets.filter(
    ({ status }) => status !== 'open' && status !== 'delisted',
  );
  const reopens = restricted.length > 0 && dice.chance(900);
  const market = reopens ? dice.pick(restricted) : context.market();
  return {
    kind: 'setMarketStatus',
    timeUs: context.nowUs,
    market: market.id,
    status: reopens ? 'open' : dice.pick(STATUSES),
  };
}

/** Changes one or two terms of a market. */
export function makeTerms(context: Context): Command {
  const { dice } = context;
  const market = context.market();
  let spec = changed(context, market.asked);
  if (dice.chance(300)) spec = changed(context, spec);
  return { kind: 'setMarketTerms', timeUs: context.nowUs, market: market.id, spec };
}

function changed(context: Context, spec: MarketSpec): MarketSpec {
  const { dice } = context;
  if (context.faulty) {
    return dice.pick<MarketSpec>([
      { ...spec, symbol: `${spec.symbol}X` },
      { ...spec, maxPriceTicks: priceTicks(spec.maxPriceTicks - 1) },
      { ...spec, tiers: [] },
      { ...spec, takerFeePpm: ppm(1_000_001) },
    ]);
  }
  switch (dice.below(10)) {
    case 0: {
      const takerFeePpm = ppm(dice.pick([0, 350, 5000]));
      return { ...spec, takerFeePpm, makerFeePpm: ppm(dice.pick([0, 100, 0 - takerFeePpm])) };
    }
    case 1:
      return { ...spec, maxMarkDeviationPpm: ppm(dice.below(gapOf(spec.tiers) + 1)) };
    case 2: {
      const { funding } = spec;
      const capPpm = ppm(dice.pick([1000, 40_000, 500_000]));
      const marginCapPpm = ppm(dice.pick([100_000, 750_000]));
      return { ...spec, funding: { ...funding, capPpm, marginCapPpm } };
    }
    case 3: {
      const notional = dice.chance(300)
        ? null
        : quanta(BigInt(dice.pick([5, 50, 500])) * 1_000_000n);
      return { ...spec, maxOpenInterestNotional: notional };
    }
    case 4: {
      const lower = dice.pick([0, 20, 200]);
      return {
        ...spec,
        openNotionalLower: quanta(BigInt(lower) * 1_000_000n),
        openNotionalUpper: quanta(BigInt(lower + dice.pick([1, 100])) * 1_000_000n),
      };
    }
    case 5:
      return {
        ...spec,
        priceBandPpm: ppm(dice.pick([10_000, 100_000, 500_000])),
        maxOpenInterestLots: lots(dice.pick([spec.maxOpenInterestLots, Number.MAX_SAFE_INTEGER])),
      };
    case 6: {
      // Premiums, and what the vault quotes and insurance pays.
      const { funding } = spec;
      const impactNotional = quanta(BigInt(dice.pick([1, 20, 500])) * 1_000_000n);
      return {
        ...spec,
        funding: { ...funding, impactNotional, interestPpb: ppb(dice.pick([0, -9000, 100_000])) },
        vaultQuotePpm: ppm(dice.pick([0, 500, 10_000])),
        insuranceHourlyPpm: ppm(dice.pick([0, 100_000, 1_000_000])),
      };
    }
    case 7: {
      // Limits of orders, which live ones may exceed.
      const maxLots = lots(
        Math.max(spec.minLots, Math.floor(spec.maxLots / dice.pick([1, 2, 10]))),
      );
      return { ...spec, maxLots, maxOpenOrders: dice.pick([1, 4, 200]) };
    }
    default: {
      const tiers = dice.chance(250)
        ? otherTiers(dice, spec.tiers)
        : scaled(spec.tiers, dice.pick([500, 800, 1250, 2000]));
      const maxMarkDeviationPpm = ppm(Math.min(spec.maxMarkDeviationPpm, gapOf(tiers)));
      return { ...spec, tiers, maxMarkDeviationPpm };
    }
  }
}

/** Max mark deviation. */
const gapOf = (tiers: readonly MarginTier[]): number =>
  Math.min(
    ...tiers.flatMap(({ initialMarginPpm, maintenanceMarginPpm }) => [
      initialMarginPpm - maintenanceMarginPpm,
      Math.floor(maintenanceMarginPpm / 2),
    ]),
  );

/** All rates scaled by a factor in thousandths. */
function scaled(tiers: readonly MarginTier[], permille: number): MarginTier[] {
  const rate = (of: number): number =>
    Math.max(1, Math.min(1_000_000, Math.floor((of * permille) / 1000)));
  return tiers.map(({ floorQuanta, initialMarginPpm, maintenanceMarginPpm }) => ({
    floorQuanta,
    initialMarginPpm: ppm(rate(initialMarginPpm)),
    maintenanceMarginPpm: ppm(Math.min(rate(initialMarginPpm), rate(maintenanceMarginPpm))),
  }));
}

/** One tier at a rate between the first and the last one; two tiers if there is one. */
function otherTiers(dice: Dice, tiers: readonly MarginTier[]): MarginTier[] {
  const [first] = tiers;
  const last = tiers.at(-1);
  if (first === undefined || last === undefined) return [];
  if (tiers.length > 1) {
    const part = dice.pick([0, 300, 600, 1000]);
    const rate = (low: number, high: number): Ppm =>
      ppm(low + Math.floor(((high - low) * part) / 1000));
    return [
      {
        ...first,
        initialMarginPpm: rate(first.initialMarginPpm, last.initialMarginPpm),
        maintenanceMarginPpm: rate(first.maintenanceMarginPpm, last.maintenanceMarginPpm),
      },
    ];
  }
  const [steeper] = scaled(tiers, dice.pick([1250, 2000]));
  if (steeper === undefined) return [];
  return [first, { ...steeper, floorQuanta: quanta(BigInt(dice.pick([50, 300])) * 1_000_000n) }];
}

/** Delists a market while others remain, at the index or at a price near the edge of its band. */
export function makeDelisting(context: Context): Command {
  const { dice, world } = context;
  const open = world.markets.filter(({ status }) => status !== 'delisted');
  if (open.length < 2 && !context.faulty) return makeStatus(context);
  const market = open.length < 2 ? context.market() : dice.pick(open);
  const from = market.indexTicks;
  const edge = Math.floor((from * market.spec.priceBandPpm) / 1_000_000);
  // Often on the edge of the band or beside it; for the last market only a rejection.
  const within = dice.chance(500) ? edge + dice.between(-1, 1) : dice.below(edge + 2);
  const away = open.length < 2 ? edge + 2 : within;
  const least = context.faulty ? 0 : 1;
  const price = Math.max(least, dice.chance(500) ? from + away : from - away);
  return {
    kind: 'delistMarket',
    timeUs: context.nowUs,
    market: market.id,
    priceTicks: open.length >= 2 && dice.chance(600) ? null : priceTicks(price),
  };
}
