/**
 * Sums over the markets of a subaccount for the exact margin rules: each market's part is
 * kept with the values that it depends on, and computed again when one of them differs. So an order
 * costs one comparison per market, and arithmetic only for markets that changed since.
 *
 * Invariant (`marginSums`): the sums equal those of parts computed from the orders and positions.
 */
import { moneyOf, NO_MONEY, plus, type Money } from '../../num/money.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import { isolatedHold } from './isolated-margin.ts';
import { MarginPart, MarginSums } from './margin-part.ts';
import {
  admittedMoney,
  frozenNotional,
  initialMoney,
  maintenanceMoney,
  mustMark,
  worstLots,
} from './requirement.ts';
import { restingSums } from './summed-orders.ts';

/** Computes the part of an exposure. */
function compute(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  part: MarginPart,
): void {
  const market = state.market(exposure.market);
  const resting = restingSums(state, subaccount, exposure, market);
  part.take(exposure, market);
  const cross = !exposure.isolated;
  part.upnl = cross ? admittedMoney(exposure, market) : NO_MONEY;
  part.frozen = cross ? moneyOf(frozenNotional(exposure, market)) : NO_MONEY;
  part.maintenance = cross ? maintenanceMoney(market, exposure.positionLots) : NO_MONEY;
  part.taken = takenOf(state, subaccount, exposure, market);
  part.cost =
    cross && resting !== null ? plus(resting.fees, resting.loss(mustMark(market))) : NO_MONEY;
}

/**
 * Cross equity used by a market: its requirement, or the cash that its orders reserve if isolated.
 */
export function takenOf(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): Money {
  if (exposure.isolated) return moneyOf(isolatedHold(state, subaccount, exposure, market));
  const worst = worstLots(exposure.positionLots, exposure.bidLots, exposure.askLots);
  return initialMoney(exposure, market, worst);
}

/** The sums over all markets of the subaccount; brings them and all parts up to date. */
export function marginSums(state: ExchangeState, subaccount: Subaccount): MarginSums {
  const sums = (subaccount.margin ??= new MarginSums());
  for (const exposure of subaccount.opened) {
    const market = state.market(exposure.market);
    const part = (exposure.part ??= new MarginPart());
    if (part.isCurrent(exposure, market)) continue;
    sums.subtract(part);
    compute(state, subaccount, exposure, part);
    sums.add(part);
  }
  return sums;
}

const NOTHING: Readonly<MarginSums> = new MarginSums();

/** The part of an exposure in its subaccount's sums, which must be up to date. */
export function partOf(exposure: Exposure | null): Readonly<MarginSums> {
  return exposure?.part ?? NOTHING;
}
