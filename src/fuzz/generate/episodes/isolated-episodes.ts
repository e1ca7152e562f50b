/** Episodes about isolated margin: its rate, its excess and its fills, also in a frozen market. */
import { PPM, ppm, quanta } from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import { NEVER_MS } from '../../run-setup.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import {
  advance,
  away,
  clearBook,
  order,
  price,
  purse,
  refresh,
  setStage,
  status,
  strip,
  trade,
  type Stage,
} from './stage.ts';

/** A second of a sampled market is cheap for the oracle, an hour is not. */
const SECOND_US = 1_000_000;

/**
 * One isolated position from its opening to its close. Its rate rises and falls, excess margin
 * leaves it, and a part is closed; then the same while the market is stale or halted, with a gain,
 * a loss or neither.
 */
export function isolatedPosition(context: Context): readonly Planned[] {
  const { dice, setup } = context;
  const fits = ({ spec }: KnownMarket): boolean => lowestRate(spec) <= PPM / 4;
  const isTiered = (market: KnownMarket): boolean => market.spec.tiers.length > 1 && fits(market);
  const tiered = dice.chance(500) ? setStage(context, 3, isTiered) : null;
  const found = tiered ?? setStage(context, 3, fits);
  if (found === null) return [];
  const stage = { ...found, size: atTier(context, found) };
  const { market, side, size, actors } = stage;
  const [a, b, c] = actors;
  if (a === undefined || (a.positions[market.id] ?? 0) !== 0) return [];
  const part = side * Math.ceil(size / dice.pick([2, 3, 7]));
  const rate = (times: number): Planned => mode(a, market, true, times);
  const changes = (): readonly Planned[] => [
    rate(dice.pick([2, 3, 4])),
    leave(a, market, dice.pick([0.5, 1])),
    rate(dice.pick([1, 1, 1.5, 2])),
    leave(a, market, 1, dice.pick([0, 0, 1])),
    rate(dice.pick([1, 4])),
  ];
  const isHalt = dice.chance(400);
  const staleUs = setup.config.indexStaleUs;
  const freezes = !isHalt && staleUs <= 60 * SECOND_US;
  const restricts = isHalt || freezes;
  return [
    refresh(market),
    ...clearBook(context, market),
    ...purse(stage, a, 8_000_000),
    ...purse(stage, b, 4_000_000),
    ...purse(stage, c, 4_000_000),
    mode(a, market, true, dice.pick([1, 2, 3])),
    ...trade(stage, a, b, side * size),
    ...changes(),
    price(market, () => away(market.markTicks, side * dice.pick([-4000, 0, 4000, 20_000]))),
    ...changes(),
    // Orders of both sides hold margin; a fill returns a part of it, or turns the position.
    order(stage, a, part, -side * 2000),
    order(stage, a, -part, side * 2000),
    ...trade(stage, c, a, part),
    rate(dice.pick([1, 2, 4])),
    isHalt ? status(market, 'halted') : advance(freezes ? staleUs + 1 : 0),
    ...(restricts ? changes() : []),
    strip(a),
    ...(isHalt ? [status(market, 'open')] : []),
    refresh(market),
    ...changes(),
    ...(dice.chance(500) ? trade(stage, c, a, 2 * side * size) : []),
    rate(dice.pick([1, 2])),
    ...clearBook(context, market),
    ...purse(stage, c, 6_000_000),
    (now) => order(stage, c, a.positions[market.id] ?? 0)(now),
    (now) => order(stage, a, -(a.positions[market.id] ?? 0), 0, { ioc: true })(now),
    ...(dice.chance(700) ? [mode(a, market, false, 1)] : []),
  ];
}

/** A size whose double passes the floor of the last tier, where that is near; the usual one. */
function atTier({ dice }: Context, { market, size }: Stage): number {
  const { tiers, maxLots, minLots, quantaPerTickLot } = market.spec;
  const floor = Number(tiers.at(-1)?.floorQuanta ?? 0n);
  const lots = Math.ceil((floor * dice.pick([0.6, 0.9])) / (market.markTicks * quantaPerTickLot));
  if (floor === 0 || lots < minLots || 4 * lots > maxLots || !dice.chance(800)) return size;
  return lots;
}

const lowestRate = ({ tiers }: KnownMarket['spec']): number => tiers[0]?.initialMarginPpm ?? PPM;

/** Margin mode, and a rate of so many times the market's own. */
export const mode =
  (owner: KnownSubaccount, market: KnownMarket, isolated: boolean, times: number): Planned =>
  (context) => ({
    kind: 'updateMargin',
    timeUs: context.nowUs,
    subaccount: owner.id,
    market: market.id,
    isolated,
    marginPpm: ppm(Math.min(PPM, Math.ceil(lowestRate(market.spec) * times))),
    nonce: context.nonce(),
    expiresAtMs: NEVER_MS,
    delegate: null,
  });

/** Moves a part of the excess margin to the owner's cash, or some Quanta more than that. */
const leave =
  (owner: KnownSubaccount, { id }: KnownMarket, part: number, more = 0): Planned =>
  (context) => {
    const excess = context.world.view.isolatedExcess(owner.id, id);
    const amount = BigInt(Math.floor(Number(excess) * part)) + BigInt(more);
    if (amount <= 0n) return null;
    return {
      kind: 'transfer',
      timeUs: context.nowUs,
      from: owner.address,
      fromIndex: owner.index,
      to: owner.address,
      toIndex: owner.index,
      amount: quanta(amount),
      market: id,
      signer: owner.address,
      nonce: context.nonce(),
      expiresAtMs: NEVER_MS,
    };
  };
