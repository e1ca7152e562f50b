/** State held against state: balances, positions, margin, records, books, marks. */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/views.ts';
import { marketId, orderId, subaccountId } from '../../num/units.ts';
import type { Comparison } from './divergence.ts';
import type { ReferenceExchange } from './reference-exchange.ts';

export function compareState(
  to: Comparison,
  world: ReferenceExchange,
  exchange: ExchangeView,
  _heard: readonly EngineEvent[] | null,
  _full: boolean,
): void {
  world.subs.forEach((_sub, id) => compareSubaccount(to, world, exchange, id));
  for (const order of world.orders) {
    const view = exchange.order(orderId(order.id));
    if (view === undefined) continue;
    const of = (what: string) => () => `${what} of order ${order.id}`;
    to.same('R-2.8', of('status'), order.status, view.status);
    to.same('R-2.9', of('reason'), order.reason, view.reason);
    const left = order.lots > 0n ? order.left : -order.left;
    to.same('R-2.9', of('remaining lots'), left, view.remainingLots);
  }
  world.markets.forEach((_market, id) => compareMarket(to, world, exchange, id));
}

function compareSubaccount(
  to: Comparison,
  world: ReferenceExchange,
  exchange: ExchangeView,
  id: number,
): void {
  const sub = world.subs[id];
  if (sub === undefined) return;
  const of = (what: string) => () => `${what} of subaccount ${id}`;
  const view = exchange.subaccount(subaccountId(id));
  to.same('R-1.6', of('cash'), sub.cash, view.balanceQuanta);
  const positions = exchange.positions(view.id);
  sub.positions.forEach((position, market) => {
    const shown = positions.find((other) => other.market === marketId(market));
    const inMarket = (what: string) => () => `${what} of subaccount ${id} in market ${market}`;
    to.same('R-5.2', inMarket('position'), position.lots, shown?.lots ?? 0);
    if (position.lots === 0n) return;
    to.same('R-5.2', inMarket('cost'), position.cost, shown?.costQuanta);
  });
  if (sub.system) return;
  const margin = exchange.margin(view.id);
  to.same('R-5.4', of('cross equity'), world.equity(sub), margin.crossEquityQuanta);
  to.same('R-5.4', of('initial requirement'), world.initial(sub), margin.initialRequirementQuanta);
  to.same(
    'R-5.4',
    of('maintenance requirement'),
    world.maintenance(sub),
    margin.maintenanceRequirementQuanta,
  );
  to.same('R-5.9', of('withdrawable'), world.withdrawable(sub), margin.withdrawableQuanta);
  to.same('R-5.8', of('net deposits'), sub.netDeposits, margin.netDepositsQuanta);
}

function compareMarket(
  to: Comparison,
  world: ReferenceExchange,
  exchange: ExchangeView,
  id: number,
): void {
  const market = world.markets[id];
  if (market === undefined) return;
  const of = (what: string) => () => `${what} of market ${id}`;
  const view = exchange.market(marketId(id));
  to.same('R-5.3', of('mark'), market.mark, view.markTicks);
  to.same('R-2.5', of('last price'), market.last, view.lastTicks);
  to.same('R-1.6', of('open interest'), world.openInterest(id), view.openInterestLots);
  for (const side of ['bid', 'ask'] as const) {
    const sums = new Map<bigint, bigint>();
    for (const order of world.queue(id, side === 'bid' ? 1n : -1n)) {
      sums.set(order.price, (sums.get(order.price) ?? 0n) + order.left);
    }
    const levels = exchange.depth(marketId(id), side, 1_000_000);
    to.same(
      'R-2.5',
      of(`${side} levels`),
      [...sums].map(([price, size]) => `${size}@${price}`).join(' '),
      levels.map((level) => `${level.lots}@${level.priceTicks}`).join(' '),
    );
  }
}
