/**
 * Aims: commands that put a figure of a rule exactly on its limit, or one Quantum, tick or residue
 * beside it. Random amounts almost never do, and a wrong comparison shows only there.
 */
import type { Command } from '../../engine/commands.ts';
import type { MarginTier } from '../../engine/config.ts';
import type { PositionView } from '../../engine/read/views.ts';
import { ppb, priceTicks, quanta } from '../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../fuzz-world.ts';
import type { Context } from './draw-context.ts';

/** A command of a plan, drawn when its turn comes; null if it no longer applies. */
export type Planned = (context: Context) => Command | null;

const MAX_SUPPLY = 2n ** 62n;
const PPM = 1_000_000n;
const PPB = 1_000_000_000n;

/** The commands of an aim; empty if this state offers none. */
export function drawAim(context: Context): readonly Planned[] {
  switch (context.dice.below(12)) {
    case 0:
      return fundingResidue(context);
    case 1:
      return context.dice.chance(300) ? supplyLimit(context) : [];
    default:
      return equityAtLimit(context);
  }
}

/** Requirement of a notional: the integral of the tiers' rates, rounded up. */
function requirementOf(value: bigint, tiers: readonly MarginTier[]): bigint {
  let weighted = 0n;
  for (const [i, { floorQuanta, maintenanceMarginPpm }] of tiers.entries()) {
    if (value <= floorQuanta) break;
    const below = tiers[i - 1]?.maintenanceMarginPpm ?? 0;
    weighted += (value - floorQuanta) * BigInt(maintenanceMarginPpm - below);
  }
  return (weighted + PPM - 1n) / PPM;
}

interface Held {
  readonly owner: KnownSubaccount;
  readonly market: KnownMarket;
  readonly position: PositionView;
  /** The other positions that share its equity. */
  readonly others: readonly PositionView[];
}

/** A cross position in a market whose mark one command sets. */
function heldCross(context: Context): Held | null {
  const { world } = context;
  for (let tries = 0; tries < 4; tries += 1) {
    const holder = context.holder();
    if (holder === null || !isSettable(holder.market)) continue;
    const { owner, market } = holder;
    const cross = world.view.positions(owner.id).filter(({ isolated }) => !isolated);
    const position = cross.find((held) => held.market === market.id);
    if (position === undefined) continue;
    return { owner, market, position, others: cross.filter((held) => held !== position) };
  }
  return null;
}

/** Whether one command sets the price of the market. */
export const isSettable = ({ spec, status }: KnownMarket): boolean =>
  status !== 'delisted' &&
  (spec.markSource === 'external' || (spec.markSource !== 'last' && spec.indexSource !== 'mid'));

export const setPrice =
  (market: KnownMarket, ticks: number): Planned =>
  ({ nowUs }) =>
    market.spec.markSource === 'external'
      ? { kind: 'setMark', timeUs: nowUs, market: market.id, priceTicks: priceTicks(ticks) }
      : {
          kind: 'setIndex',
          timeUs: nowUs,
          market: market.id,
          priceTicks: priceTicks(ticks),
          text: String(ticks),
        };

/** Pays in or out what makes a unit's equity exactly a limit at the next price. */
function equityAtLimit(context: Context): readonly Planned[] {
  const { dice, world } = context;
  const held = heldCross(context);
  if (held === null) return [];
  const { owner, market, position, others } = held;
  const ticks = priceNear(context, held);
  if (ticks === null) return [];
  const unit = BigInt(market.spec.quantaPerTickLot);
  const size = BigInt(position.lots);
  const { crossEquityQuanta } = world.view.margin(owner.id);
  const then = crossEquityQuanta + size * BigInt(ticks - market.markTicks) * unit;
  const valueOf = (lots: bigint, of: bigint): bigint => (lots < 0n ? -lots : lots) * of;
  let maintenance = requirementOf(valueOf(size, BigInt(ticks) * unit), market.spec.tiers);
  for (const other of others) {
    const known = world.markets[other.market];
    if (known === undefined) return [];
    const of = BigInt(known.markTicks) * BigInt(known.spec.quantaPerTickLot);
    maintenance += requirementOf(valueOf(BigInt(other.lots), of), known.spec.tiers);
  }
  const twoThirds = (maintenance * 2n + 2n) / 3n;
  const target =
    dice.pick([maintenance, maintenance, twoThirds, twoThirds, 0n, (maintenance * 9n) / 10n]) +
    BigInt(dice.pick([0, 0, 0, -1, 1]));
  const missing = target - then;
  const [account, subaccountIndex] = [owner.address, owner.index];
  const pay: Planned = ({ nowUs }) =>
    missing === 0n
      ? null
      : {
          kind: missing > 0n ? 'deposit' : 'withdraw',
          timeUs: nowUs,
          account,
          subaccountIndex,
          amount: quanta(missing > 0n ? missing : -missing),
        };
  return [pay, setPrice(market, ticks)];
}

/** A price beyond the liquidation of a position, or one at which its notional is a known limit. */
function priceNear(context: Context, { market, position, others }: Held): number | null {
  const { dice, setup, world } = context;
  const { openingTicks, spec, markTicks } = market;
  const [low, high] = [Math.ceil(openingTicks / 8), openingTicks * 8];
  const isSound = (ticks: number): boolean =>
    ticks >= low && ticks <= high && ticks <= spec.maxPriceTicks;
  if (dice.chance(400)) {
    const limits = [
      setup.config.partialLiquidationNotional,
      setup.config.partialLiquidationNotional,
      ...spec.tiers.map(({ floorQuanta }) => floorQuanta),
      // At equal notionals the market's number decides.
      ...others.map(({ market: id, lots }) => {
        const known = world.markets[id];
        const oneLot = (known?.markTicks ?? 0) * (known?.spec.quantaPerTickLot ?? 0);
        return BigInt(Math.abs(lots)) * BigInt(oneLot);
      }),
    ].filter((limit) => limit > 0n);
    const oneTick = BigInt(Math.abs(position.lots)) * BigInt(spec.quantaPerTickLot);
    const exact = limits.filter((limit) => limit % oneTick === 0n);
    const limit = dice.pick(exact.length > 0 ? exact : [0n, ...limits]);
    const ticks = Number(limit / oneTick) + dice.pick([0, 0, 0, 1]);
    if (isSound(ticks)) return ticks;
  }
  const liquidation = position.liquidationTicks ?? markTicks;
  const beyond = position.lots > 0 ? -1 : 1;
  const ticks = liquidation + beyond * dice.below(2 + (liquidation >> 6));
  return isSound(ticks) ? ticks : null;
}

interface FundingBase {
  readonly market: KnownMarket;
  /** Of a position at the index. */
  readonly value: bigint;
  /** A new index; null: the present one. */
  readonly indexTicks: number | null;
  /** The factor that the value and 10⁹ share. */
  readonly shared: bigint;
}

/** A position that pays a recorded rate, at the index or a tick or more above it. */
function fundingBase(context: Context): FundingBase[] {
  const holder = context.holder();
  if (holder === null) return [];
  const { owner, market } = holder;
  if (market.spec.funding.source !== 'external' || market.status === 'delisted') return [];
  const size = BigInt(Math.abs(owner.positions[market.id] ?? 0));
  const index = context.world.view.market(market.id).indexTicks ?? 0;
  const moves = market.spec.indexSource !== 'mid' && market.spec.markSource === 'external';
  const ticks = index + (moves && index > 0 ? context.dice.below(4) : 0);
  const value = size * BigInt(ticks) * BigInt(market.spec.quantaPerTickLot);
  if (value === 0n) return [];
  const shared = gcd(value, PPB);
  return [{ market, value, indexTicks: ticks === index ? null : ticks, shared }];
}

/** A recorded rate at which a payment is a whole number of Quanta, or a residue beside it. */
function fundingResidue(context: Context): readonly Planned[] {
  const { dice } = context;
  const bases = [0, 1, 2, 3].flatMap(() => fundingBase(context));
  // Where few factors are shared, a residue is a single one: beyond 2^53 doubles lose it.
  const [base] = bases.sort((a, b) => (a.shared < b.shared ? -1 : 1));
  if (base === undefined) return [];
  const { market, value, indexTicks } = base;
  const shared = gcd(value, PPB);
  const modulus = PPB / shared;
  // value × rate leaves `shared`, or nothing, modulo 10⁹.
  const rate = dice.chance(700) ? inverse((value / shared) % modulus, modulus) : modulus;
  const signed = Number(dice.chance(500) ? rate : rate - modulus);
  if (rate === 0n || signed === 0 || Math.abs(signed) > Number(PPB)) return [];
  return [
    ({ nowUs }) =>
      indexTicks === null
        ? null
        : {
            kind: 'setIndex',
            timeUs: nowUs,
            market: market.id,
            priceTicks: priceTicks(indexTicks),
            text: String(indexTicks),
          },
    ({ nowUs }) => ({
      kind: 'settleFunding',
      timeUs: nowUs,
      market: market.id,
      ratePpb: ppb(signed),
    }),
  ];
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

/** x with a × x ≡ 1; a and the modulus have no common factor. */
function inverse(a: bigint, modulus: bigint): bigint {
  let [r, s] = [modulus, a];
  let [x, y] = [0n, 1n];
  while (s !== 0n) {
    const times = r / s;
    [r, s] = [s, r - times * s];
    [x, y] = [y, x - times * y];
  }
  return ((x % modulus) + modulus) % modulus;
}

/** Deposits up to the limit of all money, or one Quantum beyond, and takes it out again. */
function supplyLimit(context: Context): readonly Planned[] {
  const { dice, world } = context;
  const owner = context.subaccount();
  if (world.view.markets().some(({ markTicks }) => markTicks === null)) return [];
  let supply = 0n;
  for (let id = 0; id < world.view.subaccountCount; id += 1) {
    supply += world.view.margin(id as KnownSubaccount['id']).netDepositsQuanta;
  }
  const amount = quanta(MAX_SUPPLY - supply + BigInt(dice.pick([0, 0, 1])));
  const [account, subaccountIndex] = [owner.address, owner.index];
  const moves =
    (kind: 'deposit' | 'withdraw'): Planned =>
    ({ nowUs }) => ({ kind, timeUs: nowUs, account, subaccountIndex, amount });
  return [moves('deposit'), moves('withdraw')];
}
