/** Episodes about notionals: positions of one unit that are worth exactly the same. */
import { PPM } from '../../../num/units.ts';
import type { KnownMarket, KnownSubaccount } from '../../fuzz-world.ts';
import type { Planned } from '../aims.ts';
import type { Context } from '../draw-context.ts';
import { clearBook, order, price, purse, refresh, setStage, trade } from './stage.ts';

/** Terms of the ratio of two prices: small ones leave fine steps of both prices. */
const MOST_TERM = 12;

/** Lots and steps of two markets: at `n × first.ticks` and `n × second.ticks` both are equal. */
interface EqualSizes {
  readonly first: { readonly lots: number; readonly ticks: number };
  readonly second: { readonly lots: number; readonly ticks: number };
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Whether one command sets the mark exactly. */
const isExact = ({ spec }: KnownMarket): boolean =>
  spec.markSource === 'external' || (spec.markSource === 'index' && spec.indexSource !== 'mid');

function equalSizes(a: KnownMarket, b: KnownMarket, value: number): EqualSizes | null {
  for (let low = 1; low <= MOST_TERM; low += 1) {
    const isUp = a.markTicks >= b.markTicks;
    const high = Math.round(
      (low * Math.max(a.markTicks, b.markTicks)) / Math.min(a.markTicks, b.markTicks),
    );
    const [first, second] = isUp ? [high, low] : [low, high];
    const [unitA, unitB] = [a.spec.quantaPerTickLot * first, b.spec.quantaPerTickLot * second];
    const shared = gcd(unitA, unitB);
    const [lotsA, lotsB] = [unitB / shared, unitA / shared];
    const one = lotsA * a.markTicks * a.spec.quantaPerTickLot;
    const times = Math.max(1, Math.floor(value / one));
    const [sizeA, sizeB] = [lotsA * times, lotsB * times];
    const fits = ({ spec }: KnownMarket, size: number): boolean =>
      size >= spec.minLots && size <= spec.maxLots / 4;
    if (one > 4 * value || !fits(a, sizeA) || !fits(b, sizeB)) continue;
    return { first: { lots: sizeA, ticks: first }, second: { lots: sizeB, ticks: second } };
  }
  return null;
}

/**
 * A holder has two positions, and both prices move until it is in danger. At the second of them the
 * positions are worth exactly the same: the market's number decides which one is sold first.
 */
export function equalNotionals(context: Context): readonly Planned[] {
  const { dice } = context;
  const one = setStage(context, 3, isExact);
  if (one === null) return [];
  const two = setStage(context, 3, (market) => market !== one.market && isExact(market));
  if (two === null) return [];
  const [a, b, c] = one.actors;
  const { market: first, side, size } = one;
  const value = size * first.markTicks * first.spec.quantaPerTickLot;
  const sizes = equalSizes(first, two.market, value);
  if (a === undefined || sizes === null) return [];
  const second = two.market;
  const [stageOne, stageTwo] = [
    { ...one, size: sizes.first.lots },
    { ...two, size: sizes.second.lots },
  ];
  const steps = (): number => Math.max(1, Math.round(first.markTicks / sizes.first.ticks));
  const share = dice.pick([0.7, 0.8, 0.9]);
  let target = 0;
  /** The number of steps at which the equity is a share of the maintenance. */
  const chosen = ({ world }: Context, owner: KnownSubaccount): number => {
    if (target !== 0) return target;
    const { crossEquityQuanta, maintenanceRequirementQuanta } = world.view.margin(owner.id);
    const over = Number(crossEquityQuanta) - share * Number(maintenanceRequirementQuanta);
    const perStep = 2 * sizes.first.lots * sizes.first.ticks * first.spec.quantaPerTickLot;
    target = Math.max(1, steps() - side * Math.ceil(over / perStep));
    return target;
  };
  const start = steps();
  const rate = (market: KnownMarket): number => (market.spec.tiers[0]?.initialMarginPpm ?? 0) / PPM;
  // One purse for both positions, in parts of the initial margin of the first.
  const both = Math.ceil(1_100_000 * (1 + rate(second) / Math.max(rate(first), 0.01)));
  return [
    price(first, () => start * sizes.first.ticks),
    price(second, () => start * sizes.second.ticks),
    ...clearBook(context, first),
    ...clearBook(context, second),
    ...purse(stageOne, a, both),
    ...purse(stageOne, b, 8_000_000),
    ...purse(stageOne, c, 8_000_000),
    ...trade(stageOne, a, b, side * sizes.first.lots),
    ...trade(stageTwo, a, b, side * sizes.second.lots),
    ...purse({ ...stageOne, size: 0 }, a, 0),
    order(stageOne, c, side * sizes.first.lots, -side * 60_000),
    order(stageTwo, c, side * sizes.second.lots, -side * 60_000),
    price(first, (now) => chosen(now, a) * sizes.first.ticks),
    price(second, (now) => chosen(now, a) * sizes.second.ticks),
    refresh(first),
    refresh(second),
  ];
}
