/**
 * The lots of a side of the book that a taker could fill now (R-7.1, decision 0145). Left out are
 * reduce-only lots beyond what better orders of their owner leave of the position, and orders that
 * the owner could not pay after those. A taker does not fill them: they are cut or
 * cancelled.
 */
import { larger, NO_MONEY, notionalMoney, plus, type Money } from '../../num/money.ts';
import { lots, type OrderId } from '../../num/units.ts';
import { OrderFees, totalFee } from '../accounts/order-fees.ts';
import type { Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { PriceLadder } from '../book/price-ladder.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { affordsFill } from '../margin/margin.ts';
import { mustMark } from '../margin/requirement.ts';
import type { Market } from '../market/market.ts';
import { coverOf, reducibleLots } from '../orders/protective-orders.ts';

/** A side that needs more orders of users than this is too thin. */
const MAX_ORDERS = 1000;

/** Lots and costs of one owner's orders at better prices. */
interface Taken {
  lots: number;
  /** Losses against the mark, and fees. */
  costs: Money;
}

/** One walk along a side of a book, best price first. */
export class FillableLots {
  private readonly state: ExchangeState;
  private readonly market: Market;
  private readonly fees = new OrderFees('maker');
  private readonly owners = new Map<Subaccount, Taken>();
  /** Lots of the legs at better prices: two of a pair share one cover. */
  private readonly legs = new Map<OrderId, number>();
  private ordersLeft = MAX_ORDERS;

  constructor(state: ExchangeState, market: Market) {
    this.state = state;
    this.market = market;
  }

  /** Lots of the next level, at most `wanted`; null beyond the limit of orders. */
  take(ladder: PriceLadder, level: number, wanted: number): number | null {
    const table = this.state.orders;
    let size = 0;
    for (let slot = ladder.head(level); slot !== NONE && size < wanted; slot = table.next(slot)) {
      const most = Math.min(table.left(slot), wanted - size);
      const taken = table.isHouse(slot) ? most : this.takeOrder(slot, most);
      if (taken === null) return null;
      size += taken;
    }
    return size;
  }

  /** Lots of the next order of a user, at most `most`; null beyond the limit of orders. */
  takeOrder(slot: number, most: number): number | null {
    if (this.ordersLeft === 0) return null;
    this.ordersLeft -= 1;
    const { state, market } = this;
    const table = state.orders;
    const owner = state.subaccount(table.subaccount(slot));
    const exposure = owner.exposure(market.id);
    const taken = this.takenBy(owner);
    const reduceOnly = table.isReduceOnly(slot);
    const size = reduceOnly
      ? Math.min(most, this.reducing(slot, reducibleLots(exposure, table.side(slot)) - taken.lots))
      : most;
    if (size <= 0) return 0;

    const side = table.side(slot);
    const price = table.price(slot);
    const fees = this.fees.set(state, slot, size, price);
    const fee = totalFee(fees);
    fees.protocol = plus(fees.protocol, taken.costs);
    const deal = { lots: lots(side * size), priceTicks: price, fees };
    if (!affordsFill(state, exposure, market, deal, reduceOnly ? NONE : slot)) return 0;
    taken.lots += size;
    if (table.conditional(slot)?.leg === true) this.legs.set(table.id(slot), size);
    const loss = Math.max(0, side * (price - mustMark(market)));
    const lost = notionalMoney(size, loss, market.spec.quantaPerTickLot);
    taken.costs = plus(taken.costs, plus(lost, larger(fee, NO_MONEY)));
    return size;
  }

  /** Lots of a reduce-only order that can fill while these are left of the position. */
  private reducing(slot: number, positionLeft: number): number {
    const table = this.state.orders;
    const leg = table.conditional(slot);
    if (leg?.leg !== true) return positionLeft;
    const shared = leg.sibling === null ? 0 : (this.legs.get(leg.sibling.orderId) ?? 0);
    return Math.min(positionLeft, coverOf(table, slot, leg) - shared);
  }

  private takenBy(owner: Subaccount): Taken {
    let taken = this.owners.get(owner);
    if (taken === undefined) {
      taken = { lots: 0, costs: NO_MONEY };
      this.owners.set(owner, taken);
    }
    return taken;
  }
}
