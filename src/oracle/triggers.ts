/** Triggers (§4): each recomputation of their source checks all of them, in the order of. */
import { settleConsequences } from './consequences.ts';
import { release } from './execute.ts';
import { coverOf, fillable } from './legs.ts';
import { isFrozen } from './mark.ts';
import { abs, max, min, shareDown, shareUp, sign } from './numbers.ts';
import { isLive, leftOf, marketOf, type Market, type Order, type World } from './world.ts';

/** Source of a trigger; for a trailing stop always the mark (D-23). */
function sourceOf(world: World, market: Market, trailing: boolean): bigint | null {
  if (trailing) return market.mark;
  switch (world.config.triggerSource) {
    case 'mark':
      return market.mark;
    case 'index':
      return market.index;
    case 'last':
      return market.last;
  }
}

/** Take-profit or trailing activation: sell at or above, buy at or below; stop-loss the reverse. */
function holds(order: Order, price: bigint): boolean {
  if (order.trigger === null) return true;
  return isAbove(order) ? price >= order.trigger : price <= order.trigger;
}

const isAbove = ({ lots, type }: Order): boolean => lots < 0n === (type !== 'stopLoss');

/** Price and side at which a trigger or trailing stop fires, or a trailing stop activates. */
export const firesAt = (order: Order): bigint | null =>
  order.best === null ? order.trigger : trailingPrice(order, order.best);
export const firesAbove = (order: Order): boolean =>
  order.best === null ? isAbove(order) : order.lots > 0n;

/** in whole ticks, rounded away from an early fire (D-54). */
function trailingPrice({ lots, trailing }: Order, best: bigint): bigint {
  const level = best * (1_000_000n + sign(lots) * (trailing ?? 0n));
  return lots < 0n ? shareDown(level, 1_000_000n) : shareUp(level, 1_000_000n);
}

interface Due {
  readonly order: Order;
  readonly distance: bigint;
  readonly source: bigint;
}

/** Fires all due orders, in rounds if they watch the last price; each at most once. */
export function runTriggers(world: World): void {
  const fired = new Set<Order>();
  do {
    const found = [...dueOfChangedSources(world), ...dueOfNew(world)];
    for (const { order } of found) if (fired.has(order)) order.armed = true;
    const due = found.filter(({ order }) => !fired.has(order));
    if (due.length === 0) return;
    due.sort(inOrder);
    for (const one of due) fire(world, one, fired);
    settleConsequences(world);
  } while (
    world.config.triggerSource === 'last' &&
    world.markets.some(({ sourceChanged }) => sourceChanged)
  );
}

const profitLast = ({ type }: Order): number => (type === 'takeProfit' ? 1 : 0);

const inOrder = (a: Due, b: Due): number =>
  a.order.market - b.order.market ||
  profitLast(a.order) - profitLast(b.order) ||
  Number(a.distance - b.distance) ||
  a.order.id - b.order.id;

function fire(world: World, { order, source }: Due, fired: Set<Order>): void {
  if (!isLive(order) || order.status !== 'pending') return;
  // If both legs of a pair are due in one instant the stop-loss fires and the take-profit waits.
  const siblingFired = [...fired].some(({ id }) => id === order.sibling);
  if (order.leg && (siblingFired || fillable(world, order) === 0n)) {
    order.armed = coverOf(world, order) > 0n;
    return;
  }
  fired.add(order);
  release(world, order, 'trigger', source);
}

function dueOfChangedSources(world: World): Due[] {
  const due: Due[] = [];
  for (const market of world.markets) {
    const { sourceChanged, recomputed } = market;
    market.sourceChanged = false;
    market.recomputed = false;
    if ((!sourceChanged && !recomputed) || isFrozen(world, market)) continue;
    const source = sourceOf(world, market, false);
    const before = market.lastSource ?? source ?? 0n;
    for (const order of world.live) {
      if (order.market !== market.id || order.status !== 'pending' || !order.armed) continue;
      const trails = order.trailing !== null;
      const price = trails
        ? followed(order, market, recomputed)
        : firedBy(order, sourceChanged, source);
      if (price === null) continue;
      order.armed = false;
      const seen = trails ? market.mark : source;
      due.push({ order, distance: abs(price - before), source: seen ?? 0n });
    }
    if (sourceChanged) market.lastSource = source;
  }
  return due;
}

const firedBy = (order: Order, changed: boolean, source: bigint | null): bigint | null =>
  changed && source !== null && holds(order, source) ? order.trigger : null;

/** The price at which a trailing stop fires, if it does. */
function followed(order: Order, market: Market, recomputed: boolean): bigint | null {
  const { mark } = market;
  if (!recomputed || mark === null) return null;
  if (order.best === null) {
    if (holds(order, mark)) order.best = mark;
    return null;
  }
  const sells = order.lots < 0n;
  order.best = sells ? max(order.best, mark) : min(order.best, mark);
  const price = trailingPrice(order, order.best);
  return (sells ? mark <= price : mark >= price) ? price : null;
}

/** Triggers of the current command: those whose condition holds fire at once. */
function dueOfNew(world: World): Due[] {
  const due: Due[] = [];
  for (const order of world.newTriggers) {
    if (order.status !== 'pending' || order.armed || leftOf(order) === 0n) continue;
    const market = marketOf(world, order.market);
    const trails = order.trailing !== null;
    const source = sourceOf(world, market, trails);
    const held = source !== null && !isFrozen(world, market) && holds(order, source);
    if (trails) {
      order.armed = true;
      if (order.trigger === null || held) order.best = market.mark;
    } else if (held) due.push({ order, distance: 0n, source });
    else order.armed = true;
  }
  world.newTriggers = [];
  return due;
}
