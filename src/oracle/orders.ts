/** Placing orders (R-2.8, §3): refusals, then the group, order by order. */
import type { NewOrder, PlaceOrder, PlaceOrders } from '../engine/commands.ts';
import type { EndReason } from '../engine/refusals.ts';
import { actsFor, isLate } from './authority.ts';
import { groupFault, kindOf, type Kind } from './batches.ts';
import { touch } from './endings.ts';
import { wait } from './legs.ts';
import { checkNonce, takeNonce } from './nonces.ts';
import { ofPpm } from './numbers.ts';
import { placeFault, waitFault } from './checks.ts';
import { execute } from './execute.ts';
import { isProtective, TYPES } from './order-types.ts';
import {
  isLive,
  isOwn,
  must,
  orderOf,
  emit,
  type Answer,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

export function placeOrder(world: World, c: PlaceOrder): Answer {
  const order: NewOrder = {
    ...c,
    triggerTicks: null,
    trailingPpm: null,
    periodMs: null,
    parent: null,
    attached: false,
  };
  return placeGroup(world, c.subaccount, c.delegate, [order]);
}

/** a fault of any order refuses the whole group. */
export function placeOrders(world: World, c: PlaceOrders): Answer {
  if (c.orders.length === 0) return 'batch_empty';
  if (c.orders.length > 100) return 'batch_too_large';
  const nonces = c.orders.filter(({ attached }) => !attached).map(({ nonce }) => nonce);
  if (nonces.some((nonce, i) => i > 0 && nonce <= must(nonces[i - 1]))) {
    return 'batch_nonces_not_increasing';
  }
  return placeGroup(world, c.subaccount, c.delegate, c.orders);
}

function placeGroup(
  world: World,
  subId: number,
  delegate: number | null,
  drafts: readonly NewOrder[],
): Answer {
  if (drafts.some(({ market }) => world.markets[market] === undefined)) return 'market_not_found';
  const sub = world.subs[subId];
  if (sub === undefined || sub.system) return 'subaccount_not_found';
  const refusal = refusalOf(world, sub, delegate, drafts);
  if (refusal !== 'ok') return refusal;
  for (const { attached, nonce } of drafts) if (!attached) takeNonce(sub.nonces, delegate, nonce);
  world.touched.add(sub.id);
  new Group(world, sub, delegate, drafts).place();
  return 'ok';
}

/** expiry → delegation → nonce → clientId → market spec → batch rule. */
function refusalOf(
  world: World,
  sub: Sub,
  delegate: number | null,
  drafts: readonly NewOrder[],
): Answer {
  if (drafts.some(({ expiresAtMs }) => isLate(world, expiresAtMs))) return 'request_expired';
  if (!actsFor(world, sub.id, delegate)) return 'not_delegated';
  for (const { attached, nonce } of drafts) {
    const answer = attached ? 'ok' : checkNonce(sub.nonces, delegate, nonce);
    if (answer !== 'ok') return answer;
  }
  // unique among the live orders of the account, and within the group.
  const names = drafts.flatMap(({ clientId }) => (clientId === null ? [] : [clientId]));
  const taken = world.live.some(
    (order) =>
      order.clientId !== null &&
      names.includes(order.clientId) &&
      must(world.subs[order.sub]).account === sub.account,
  );
  if (taken || new Set(names).size < names.length) return 'client_id_in_use';
  for (const draft of drafts) {
    const answer = specFault(world, must(world.markets[draft.market]), draft, delegate);
    if (answer !== 'ok') return answer;
  }
  const answer = groupFault(drafts);
  if (answer !== 'ok') return answer;
  return drafts.every((draft) => hasParent(world, sub, draft)) ? 'ok' : 'order_not_found';
}

/** and the fields of each type. */
function specFault(
  world: World,
  { spec }: Market,
  draft: NewOrder,
  delegate: number | null,
): Answer {
  const { priceTicks, lots, ioc, postOnly, reduceOnly } = draft;
  if (priceTicks <= 0) return 'price_not_positive';
  if (priceTicks > spec.maxPriceTicks) return 'price_too_high';
  if (lots === 0) return 'quantity_zero';
  if (Math.abs(lots) < spec.minLots) return 'quantity_below_minimum';
  if (Math.abs(lots) > spec.maxLots) return 'quantity_above_maximum';
  if (ioc && postOnly) return 'flags_conflict';
  const { maxOriginatorFeePpm, maxDelegateOriginatorFeePpm } = world.config;
  const limit = delegate === null ? maxOriginatorFeePpm : maxDelegateOriginatorFeePpm;
  if (draft.originatorFeePpm > limit) return 'originator_fee_too_high';
  if (draft.originator === null && draft.originatorFeePpm !== 0) return 'originator_missing';
  // system accounts earn no originator fee.
  if (draft.originator !== null && isOwn(world, draft.originator)) return 'originator_not_allowed';

  const { orderType, triggerTicks, trailingPpm, periodMs, parent, attached } = draft;
  const protective = isProtective(draft);
  const { needs, rests } = TYPES[orderType];
  const trails = needs === 'trailing';
  if ((periodMs !== null) !== (needs === 'period')) return 'period_not_allowed';
  if (periodMs !== null && periodMs <= 0n) return 'period_not_positive';
  if ((trailingPpm !== null) !== trails) return 'trailing_percent_not_allowed';
  if (trailingPpm !== null && (trailingPpm <= 0 || trailingPpm >= 1_000_000)) {
    return 'trailing_percent_out_of_range';
  }
  if (needs === 'trigger' && triggerTicks === null) return 'trigger_price_not_allowed';
  if (needs !== 'trigger' && !trails && triggerTicks !== null) return 'trigger_price_not_allowed';
  if (triggerTicks !== null && triggerTicks <= 0) return 'trigger_price_not_positive';
  if ((parent !== null || attached) && !protective) return 'parent_not_allowed';
  if (parent !== null && attached) return 'parent_not_allowed';
  if ((parent !== null || attached) && !reduceOnly) return 'leg_not_reduce_only';
  if (rests === true && ioc) return 'iceberg_ioc';
  return triggerTicks !== null && triggerTicks > spec.maxPriceTicks ? 'price_too_high' : 'ok';
}

/** a parent is a live order of the same subaccount and market, on the other side. */
function hasParent(world: World, sub: Sub, draft: NewOrder): boolean {
  if (draft.parent === null) return true;
  const parent = world.orders[draft.parent - 1];
  return (
    parent !== undefined &&
    isLive(parent) &&
    parent.sub === sub.id &&
    parent.market === draft.market &&
    parent.lots < 0n !== draft.lots < 0
  );
}

/** An admitted group: each order has its own outcome, in order, under one timestamp. */
class Group {
  private readonly world: World;
  private readonly sub: Sub;
  private readonly delegate: number | null;
  private readonly drafts: readonly NewOrder[];
  private readonly kind: Kind;
  private readonly firstId: number;

  constructor(world: World, sub: Sub, delegate: number | null, drafts: readonly NewOrder[]) {
    this.world = world;
    this.sub = sub;
    this.delegate = delegate;
    this.drafts = drafts;
    this.kind = kindOf(drafts);
    this.firstId = world.orders.length + 1;
  }

  place(): void {
    const { world, kind } = this;
    // The whole group gets its ids first; engine orders of a liquidation come later.
    const orders = this.drafts.map((_draft, i) => this.make(i));
    world.orders.push(...orders);
    for (const [i, order] of orders.entries()) this.placeOne(i, order);
    // The first slice of an iceberg is activated once the others are pending behind it.
    const [first] = orders;
    if (kind === 'iceberg' && first?.status === 'new') execute(world, first);
  }

  private placeOne(i: number, order: Order): void {
    const { world } = this;
    const fault = this.faultOf(i, order);
    this.announce(i, order, fault);
    if (fault !== null) return;
    world.live.push(order);
    if (!this.waits(order, i)) {
      if (this.kind !== 'iceberg') execute(world, order);
      return;
    }
    wait(world, order);
    if (order.type === 'iceberg') return;
    if (order.type === 'twap') {
      order.dueAt = world.now + BigInt(i) * must(order.period) * 1000n;
      return;
    }
    // A leg whose parent is unfilled has nothing to protect yet.
    if (order.parent === null || orderOf(world, order.parent).filled > 0n) {
      world.newTriggers.push(order);
    }
  }

  private waits({ type }: Order, i: number): boolean {
    const { pends } = TYPES[type];
    return pends === 'later slices' ? i > 0 : pends === 'always';
  }

  private make(i: number): Order {
    const { world, drafts, firstId } = this;
    const draft = must(drafts[i]);
    const leg = isProtective(draft) && draft.reduceOnly;
    return {
      id: firstId + i,
      sub: this.sub.id,
      market: draft.market,
      type: draft.orderType,
      lots: BigInt(draft.lots),
      filled: 0n,
      price: BigInt(draft.priceTicks),
      ioc: draft.ioc,
      postOnly: draft.postOnly,
      reduceOnly: draft.reduceOnly,
      expiresMs: draft.expiresAtMs,
      clientId: draft.clientId,
      originator: draft.originator,
      originatorFee: ofPpm(draft.originatorFeePpm),
      trigger: draft.triggerTicks === null ? null : BigInt(draft.triggerTicks),
      trailing: draft.trailingPpm === null ? null : BigInt(draft.trailingPpm),
      period: draft.periodMs,
      engine: false,
      status: 'new',
      reason: null,
      resting: false,
      arrival: 0,
      group: drafts.length > 1 ? firstId : null,
      sibling: leg ? this.siblingOf(i) : null,
      parent: leg ? (this.kind === 'bracket' ? firstId : draft.parent) : null,
      leg,
      parentLive: false,
      armed: false,
      dueAt: null,
      best: null,
      createdAt: world.now,
      updatedAt: world.now,
      updatedSeq: world.seq,
    };
  }

  /** D-24 and: the other leg of the pair. */
  private siblingOf(i: number): number | null {
    const other = this.drafts.findIndex(
      (one, j) => j !== i && isProtective(one) && one.attached === must(this.drafts[i]).attached,
    );
    return other < 0 ? null : this.firstId + other;
  }

  private faultOf(i: number, order: Order): EndReason | null {
    const { world } = this;
    const first = orderOf(world, this.firstId);
    if (this.kind === 'iceberg' && i > 0 && first.status === 'rejected') return 'parentCancelled';
    if (order.parent !== null) {
      const parent = orderOf(world, order.parent);
      order.parentLive = isLive(parent);
      if (!order.parentLive && parent.filled === 0n) return 'parentCancelled';
    }
    return this.waits(order, i) ? waitFault(world, order) : placeFault(world, order);
  }

  private announce(i: number, order: Order, reason: EndReason | null): void {
    const { world } = this;
    const draft = must(this.drafts[i]);
    if (reason !== null) {
      order.status = 'rejected';
      order.reason = reason;
    }
    touch(world, order);
    emit(world, {
      kind: reason === null ? 'orderAccepted' : 'orderRejected',
      orderId: order.id,
      subaccount: order.sub,
      market: order.market,
      orderType: order.type,
      lots: order.lots,
      priceTicks: order.price,
      ioc: order.ioc,
      postOnly: order.postOnly,
      reduceOnly: order.reduceOnly,
      nonce: draft.nonce,
      expiresAtMs: order.expiresMs,
      delegate: this.delegate,
      clientId: order.clientId,
      originator: order.originator,
      originatorFeePpm: draft.originatorFeePpm,
      ...(reason === null ? {} : { reason }),
    });
  }
}
