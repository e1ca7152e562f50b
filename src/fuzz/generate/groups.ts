/** Draws batches, brackets, protective orders, trailing stops, TWAP and icebergs (§3, §4). */
import type { NewOrder, OrderType, PlaceOrders } from '../../engine/commands.ts';
import { lots, MAX_PRICE_TICKS, orderId, ppm, priceTicks, type OrderId } from '../../num/units.ts';
import type { KnownMarket } from '../fuzz-world.ts';
import { NEVER_MS } from '../run-setup.ts';
import type { Context } from './draw-context.ts';
import { drawTerms, type DrawnTerms } from './terms.ts';

const MAX_ORDERS = 100;

/** Plain limit orders, occasionally with a trigger order. */
export function makeBatch(context: Context): PlaceOrders {
  context.spoilGroup();
  const { dice, profile } = context;
  if (dice.chance(profile.fullBatchPermille)) return makeFullBatch(context);
  const first = drawTerms(context);
  const expiresAtMs = context.expiresAtMs();
  const orders = Array.from({ length: dice.between(1, 5) }, (_, i) => {
    const terms = i === 0 ? first : drawTerms(context);
    const order = plain(context, terms, expiresAtMs);
    return dice.chance(150) ? withTrigger(context, order, terms.marketKnown) : order;
  });
  return group(context, first, orders);
}

/** A batch of the maximum size with equal orders: it fills a nonce window quickly. */
function makeFullBatch(context: Context): PlaceOrders {
  // Usually from one subaccount, so that its nonce window fills up.
  const [one] = context.world.subaccounts;
  const drawn = drawTerms(context);
  const terms =
    one === undefined || context.dice.chance(300)
      ? drawn
      : { ...drawn, subaccount: one.id, delegate: null };
  const first = plain(context, { ...terms, clientId: null }, context.expiresAtMs());
  const others = Array.from({ length: MAX_ORDERS - 1 }, () => ({
    ...first,
    nonce: context.nonce(),
  }));
  return group(context, terms, [first, ...others]);
}

/** Both legs are of one size: that of their parent, or for some nonces half or twice of it. */
function legSize({ lots: size, nonce }: NewOrder): NewOrder['lots'] {
  if (nonce % 6n === 0n) return lots(-Math.sign(size) * Math.ceil(Math.abs(size) / 2));
  return lots(nonce % 6n === 1n ? -2 * size : 0 - size);
}

/** An order with protective orders for its fills, as one submit or as a batch of three. */
export function makeBracket(context: Context): PlaceOrders {
  context.spoilGroup();
  const { dice } = context;
  const terms = { ...drawTerms(context), reduceOnly: false };
  const limit = plain(context, terms, context.expiresAtMs());
  const attached = dice.chance(500);
  // Only the order of a submit may be one that waits itself.
  const own = attached ? sometimesWaiting(context, limit, terms.marketKnown) : limit;
  const kinds: OrderType[] = dice.chance(600)
    ? ['takeProfit', 'stopLoss']
    : [dice.chance(500) ? 'stopLoss' : 'takeProfit'];
  if (!attached && kinds.length === 1)
    kinds.push(kinds[0] === 'stopLoss' ? 'takeProfit' : 'stopLoss');
  const crossed = dice.chance(100);
  const legs = kinds.map((kind) => ({
    ...leg(context, own, kind, terms.marketKnown, crossed),
    ...(attached ? {} : { lots: legSize(own) }),
    nonce: attached ? own.nonce : context.nonce(),
    attached,
  }));
  return group(context, terms, [own, ...legs]);
}

/** Take-profit, stop-loss or both, for a position or a live order. */
export function makeProtect(context: Context): PlaceOrders {
  context.spoilGroup();
  const { dice, world } = context;
  const terms = drawTerms(context);
  const holder = context.holder();
  const live = world.live.length > 0 && dice.chance(300) ? dice.pick(world.live) : null;
  const order = live === null ? undefined : world.view.order(live.id);
  const market = world.markets[order?.market ?? holder?.market.id ?? terms.market];
  if (market === undefined)
    return group(context, terms, [plain(context, terms, context.expiresAtMs())]);
  const held = holder?.owner.positions[market.id] ?? terms.lots;
  const subaccount = order?.subaccount ?? holder?.owner.id ?? terms.subaccount;
  const guarded: NewOrder = {
    ...plain(context, terms, context.expiresAtMs()),
    market: market.id,
    lots: lots(order?.lots ?? held),
    priceTicks: priceTicks(order?.priceTicks ?? market.markTicks),
  };
  const kinds: OrderType[] = dice.pick([['takeProfit'], ['stopLoss'], ['takeProfit', 'stopLoss']]);
  // Rarely an order that has ended, or that does not exist.
  const { lastOrderId } = world.view;
  const parent: OrderId | null =
    live?.id ?? (dice.chance(30) ? orderId(dice.between(1, lastOrderId + 1)) : null);
  const crossed = dice.chance(150);
  const orders = kinds.map((kind) => ({
    ...leg(context, guarded, kind, market, crossed),
    nonce: context.nonce(),
    parent,
    clientId: null,
  }));
  return { ...group(context, terms, orders), subaccount, delegate: null };
}

export function makeTrailing(context: Context): PlaceOrders {
  context.spoilGroup();
  const { dice } = context;
  const terms = drawTerms(context);
  const order: NewOrder = {
    ...plain(context, terms, context.expiresAtMs()),
    orderType: 'trailingStop',
    postOnly: false,
    trailingPpm: context.faulty
      ? dice.pick([0, 1, 5, 999_999, 1_000_000])
      : dice.pick([500, 5000, 20_000, 100_000]),
    triggerTicks: dice.chance(500)
      ? null
      : context.faulty && dice.chance(200)
        ? priceTicks(0)
        : near(context, terms.marketKnown),
  };
  return group(context, terms, [order]);
}

export function makeTwap(context: Context): PlaceOrders {
  context.spoilGroup();
  const { dice } = context;
  // Marks are recomputed at whole seconds, so slices and triggers coincide.
  if (dice.chance(400)) context.waitForSecond();
  const terms = drawTerms(context);
  // A long one passes the end of all times.
  const periodMs = context.faulty
    ? dice.pick([0n, NEVER_MS])
    : BigInt(dice.pick([1, 50, 700, 1000, 3000]));
  const first: NewOrder = {
    ...plain(context, terms, context.expiresAtMs()),
    orderType: 'twap',
    postOnly: false,
    periodMs,
  };
  const orders = slices(context, first, dice.between(1, 5));
  return group(context, terms, orders);
}

export function makeIceberg(context: Context): PlaceOrders {
  context.spoilGroup();
  const terms = drawTerms(context);
  const first: NewOrder = {
    ...plain(context, terms, context.expiresAtMs()),
    orderType: 'iceberg',
    ioc: context.faulty,
    reduceOnly: false,
  };
  return group(context, terms, slices(context, first, context.dice.between(1, 4)));
}

/** Equal slices; the last may be smaller. */
function slices(context: Context, first: NewOrder, count: number): NewOrder[] {
  const orders = [first];
  for (let i = 1; i < count; i += 1) {
    const smaller = i === count - 1 && context.dice.chance(300) ? Math.trunc(first.lots / 2) : 0;
    const size = smaller === 0 ? first.lots : lots(smaller);
    orders.push({ ...first, lots: size, nonce: context.nonce(), clientId: null });
  }
  return orders;
}

function group(context: Context, terms: DrawnTerms, orders: readonly NewOrder[]): PlaceOrders {
  return {
    kind: 'placeOrders',
    timeUs: context.nowUs,
    subaccount: terms.subaccount,
    delegate: terms.delegate,
    orders: context.mismatched ? unmatched(context, orders) : orders,
  };
}

/** A group with an inconsistent order, without orders, or with too many. */
function unmatched(context: Context, orders: readonly NewOrder[]): readonly NewOrder[] {
  const { dice } = context;
  const last = orders.at(-1);
  if (last === undefined) return orders;
  const others = orders.slice(0, -1);
  switch (dice.below(18)) {
    case 0:
      return [];
    case 1:
      return Array.from({ length: MAX_ORDERS + 1 }, () => ({ ...last, nonce: context.nonce() }));
    case 2:
      return [...others, { ...last, market: context.market().id }];
    case 3:
      return [...others, { ...last, lots: lots(0 - last.lots) }];
    case 4:
      return [...others, { ...last, priceTicks: priceTicks(last.priceTicks + 1) }];
    case 5:
      return [...others, { ...last, periodMs: last.periodMs === null ? 5n : last.periodMs + 1n }];
    case 6:
      return [...others, { ...last, orderType: 'twap', periodMs: 5n }];
    case 7:
      return [...others, { ...last, lots: lots(last.lots * 2) }];
    case 8:
      return [...others, { ...last, triggerTicks: priceTicks(last.triggerTicks === null ? 5 : 0) }];
    case 9:
      return [...others, { ...last, parent: last.parent === null ? orderId(1) : null }];
    case 10:
      return [...others, { ...last, trailingPpm: last.trailingPpm === null ? 500 : null }];
    case 11:
      // Repeats the nonce of the previous order.
      return [...orders, { ...last, clientId: null }];
    case 12:
      return [...orders, { ...last, nonce: context.nonce(), clientId: null }];
    case 13: {
      // One expired order among valid ones.
      const late = BigInt(Math.floor(context.nowUs / 1000) - 1);
      return [
        { ...last, expiresAtMs: late },
        { ...last, nonce: context.nonce(), clientId: null },
      ];
    }
    case 14:
      // All orders on the opposite side, including that of the protected position.
      return orders.map((order) => ({ ...order, lots: lots(0 - order.lots) }));
    case 15:
    case 16: {
      // A smaller order that is not the last.
      const like = (): NewOrder => ({ ...last, nonce: context.nonce(), clientId: null });
      const smaller = { ...like(), lots: lots(Math.trunc(last.lots / 2) || last.lots) };
      return [...orders, smaller, like()];
    }
    default:
      return [last, ...others];
  }
}

function plain(context: Context, terms: DrawnTerms, expiresAtMs: bigint): NewOrder {
  return {
    market: terms.market,
    orderType: 'limit',
    lots: terms.lots,
    priceTicks: terms.priceTicks,
    ioc: terms.ioc,
    postOnly: terms.postOnly,
    reduceOnly: terms.reduceOnly,
    nonce: context.nonce(),
    expiresAtMs,
    clientId: terms.clientId,
    originator: terms.originator,
    originatorFeePpm: terms.originatorFeePpm,
    triggerTicks: null,
    trailingPpm: null,
    periodMs: null,
    parent: null,
    attached: false,
  };
}

/** Occasionally a stop entry, or a trailing one. */
function sometimesWaiting(context: Context, order: NewOrder, market: KnownMarket): NewOrder {
  const { dice } = context;
  if (dice.chance(700)) return order;
  if (dice.chance(700)) return withTrigger(context, order, market);
  return {
    ...order,
    orderType: 'trailingStop',
    postOnly: false,
    trailingPpm: dice.pick([500, 5000, 20_000]),
  };
}

function withTrigger(context: Context, order: NewOrder, market: KnownMarket): NewOrder {
  const orderType = context.dice.chance(500) ? 'stopLoss' : 'takeProfit';
  return { ...order, orderType, postOnly: false, triggerTicks: near(context, market) };
}

/** A reduce-only protective order; its trigger is usually on the protective side. */
function leg(
  context: Context,
  guarded: NewOrder,
  orderType: OrderType,
  market: KnownMarket,
  /** Trigger beyond the price: it fires at once, as does its sibling. */
  crossed: boolean,
): NewOrder {
  const { dice } = context;
  const side = guarded.lots > 0 ? 1 : -1;
  const protects = !crossed && dice.chance(900);
  const away = side * (orderType === 'takeProfit' ? 1 : -1) * (protects ? 1 : -1);
  const distance = Math.ceil(
    (market.markTicks * dice.pick([300, 3000, 20_000, 80_000])) / 1_000_000,
  );
  const trigger = Math.max(1, guarded.priceTicks + away * distance);
  const ioc = dice.chance(600);
  // A limit at the trigger, or one worse than it, which takes available liquidity and rests.
  const limit = Math.max(1, trigger - (dice.chance(500) ? 0 : side * distance));
  return {
    ...guarded,
    orderType,
    lots: lots(0 - guarded.lots),
    // At market within the band, or at its limit.
    priceTicks: priceTicks(ioc ? (side > 0 ? 1 : Math.min(trigger * 2, MAX_PRICE_TICKS)) : limit),
    ioc,
    postOnly: false,
    reduceOnly: !context.faulty || dice.chance(500),
    triggerTicks: priceTicks(trigger),
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };
}

function near(context: Context, market: KnownMarket) {
  const { dice, profile } = context;
  const spread = Math.max(2, Math.floor((market.markTicks * profile.prices.spreadPpm) / 250_000));
  return priceTicks(Math.max(1, market.markTicks + dice.between(-spread, spread)));
}
