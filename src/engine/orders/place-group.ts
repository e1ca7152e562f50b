/**
 * Placing orders as a group (§3): batches, slices, and orders with attached ones. Admission is
 * atomic: any fault of shape, nonce, clientId, spec or batch rule refuses all and leaves no record.
 * After that each order has its own outcome, in order.
 */
import { orderId, type AccountId, type OrderId, type SubaccountId } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { NewOrder, OrderTerms, PlaceOrders } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { EndReason, Outcome } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { orderFault, pendingFault } from './admission.ts';
import { execute } from './execute.ts';
import { groupKind, isProtective, type GroupKind } from './group-rules.ts';
import { ORDER_TYPE_RULES, waitsFirst } from './order-types.ts';
import { accept, addOrder, reject } from './place.ts';
import { orderRefusal } from './order-refusal.ts';
import { Special, type Attached, type OrderRef } from './conditional.ts';
import { sliceDueUs, watchSlice } from './twap.ts';
import { wait } from './pending.ts';

export function placeOrders(state: State, command: PlaceOrders): Outcome {
  const refusal = orderRefusal(state, command, 'command', state);
  if (refusal !== null) return refusal;

  const { orders } = command;
  const subaccount = state.subaccount(command.subaccount);
  for (const { nonce, attached } of orders) {
    if (!attached) subaccount.orderNonces.use(command.delegate, nonce);
  }
  const firstId = state.nextOrderId;
  state.nextOrderId = orderId(firstId + orders.length);
  const group = new Group(state, command, subaccount, groupKind(orders), firstId);
  for (let i = 0; i < orders.length; i++) group.place(i);
  group.start();
  return 'ok';
}

/** An admitted group on its way in. */
class Group {
  private readonly state: State;
  private readonly command: PlaceOrders;
  private readonly subaccount: Subaccount;
  private readonly kind: GroupKind;
  private readonly firstId: OrderId;
  /** Group reference of its orders; null for a single order. */
  private readonly group: OrderRef | null;
  /** The fault of the first order, if rejected. */
  private firstFault: EndReason | null = null;
  /** Lots that the first order filled at once. */
  private firstSettled = 0;

  constructor(
    state: State,
    command: PlaceOrders,
    subaccount: Subaccount,
    kind: GroupKind,
    firstId: OrderId,
  ) {
    this.state = state;
    this.command = command;
    this.subaccount = subaccount;
    this.kind = kind;
    this.firstId = firstId;
    this.group = command.orders.length > 1 ? this.ref(0) : null;
  }

  place(i: number): void {
    const { state, subaccount } = this;
    const order = this.order(i);
    const terms = termsOf(order, subaccount.id, this.command.delegate);
    const id = orderId(this.firstId + i);
    const slot = addOrder(state, terms, id, subaccount);
    const conditional = this.conditionalOf(i);
    state.orders.setSpecial(slot, conditional);
    const market = state.market(order.market);
    const exposure = subaccount.exposure(order.market);
    const fault = this.faultOf(i, conditional, exposure, market);
    if (fault !== null) {
      if (i === 0) this.firstFault = fault;
      reject(state, terms, id, slot, fault);
      return;
    }
    accept(state, terms, id, slot, subaccount);
    if (conditional.leg) this.adopt(id, conditional, exposure);
    if (this.waits(i)) {
      wait(state, slot, exposure);
      this.watch(i, slot, conditional);
    } else if (this.kind !== 'iceberg') {
      execute(state, slot, market, subaccount, exposure);
      // A removed row stays readable until its slot is reused.
      if (i === 0) this.firstSettled = Math.abs(order.lots) - state.orders.left(slot);
    }
  }

  /** Activates the first slice of an iceberg once the others are pending behind it. */
  start(): void {
    const { state, subaccount } = this;
    if (this.kind !== 'iceberg' || this.firstFault !== null) return;
    const slot = state.orders.slotOf(this.firstId);
    const market = state.market(state.orders.market(slot));
    execute(state, slot, market, subaccount, subaccount.exposure(market.id));
  }

  private order(i: number): NewOrder {
    const order = this.command.orders[i];
    if (order === undefined) throw new RangeError(`the group has no order ${String(i)}`);
    return order;
  }

  private ref(i: number): OrderRef {
    const order = this.order(i);
    return {
      orderId: orderId(this.firstId + i),
      nonce: order.nonce,
      attached: attachedAs(order),
    };
  }

  private waits(i: number): boolean {
    return waitsFirst(this.order(i).orderType, i);
  }

  private conditionalOf(i: number): Special {
    const { orders } = this.command;
    const order = this.order(i);
    const conditional = new Special();
    conditional.triggerTicks = order.triggerTicks;
    conditional.trailingPpm = order.trailingPpm;
    conditional.periodMs = order.periodMs;
    conditional.attached = attachedAs(order);
    conditional.group = this.group;
    conditional.groupLast = orderId(this.firstId + orders.length - 1);
    conditional.leg = isProtective(order) && order.reduceOnly;
    if (!conditional.leg) return conditional;
    // A stop entry is no sibling of its attached legs.
    const other = orders.findIndex(
      (one, j) => j !== i && one.attached === order.attached && isProtective(one),
    );
    if (other >= 0) conditional.sibling = this.ref(other);
    if (this.kind === 'bracket') conditional.parent = this.ref(0);
    else if (order.parent !== null) conditional.parent = refOf(this.state, order.parent);
    if (conditional.parent !== null) {
      const parent = this.state.orders.slotOf(conditional.parent.orderId);
      conditional.parentLive = parent !== NONE;
      conditional.parentSettled =
        parent === NONE ? this.firstSettled : Math.abs(this.state.orders.settled(parent));
    }
    return conditional;
  }

  private faultOf(
    i: number,
    conditional: Special,
    exposure: Exposure,
    market: Market,
  ): EndReason | null {
    const order = this.order(i);
    if (this.kind === 'iceberg' && i > 0 && this.firstFault !== null) return 'parentCancelled';
    if (conditional.parent !== null && !conditional.parentLive && conditional.parentSettled === 0) {
      return 'parentCancelled';
    }
    if (!this.waits(i)) return orderFault(this.state, this.subaccount, exposure, market, order);
    // The fills of an ended parent are part of the position, or there is nothing left to protect.
    const needsPosition = conditional.leg && !conditional.parentLive;
    return pendingFault(exposure, market, order, needsPosition);
  }

  /** Counts the leg and links it to its parent. */
  private adopt(id: OrderId, leg: Special, exposure: Exposure): void {
    exposure.legs += 1;
    if (leg.parent === null || !leg.parentLive) return;
    const { orders } = this.state;
    const slot = orders.slotOf(leg.parent.orderId);
    const parent = orders.conditional(slot) ?? new Special();
    parent.legs.push(id);
    orders.setSpecial(slot, parent);
  }

  /** Registers the event that the pending order waits for. */
  private watch(i: number, slot: number, conditional: Special): void {
    const { state } = this;
    const { waitsFor } = ORDER_TYPE_RULES[this.order(i).orderType];
    if (waitsFor === 'predecessor') return;
    if (waitsFor === 'time') {
      watchSlice(state, slot, sliceDueUs(state.nowUs, conditional.periodMs ?? 0n, i));
      return;
    }
    // A leg whose parent is unfilled has nothing to protect yet.
    if (conditional.parent !== null && conditional.parentSettled === 0) return;
    state.context.newTriggers.push(state.orders.id(slot));
  }
}

function termsOf(
  order: NewOrder,
  subaccount: SubaccountId,
  delegate: AccountId | null,
): OrderTerms {
  // Field by field: object spread would dominate the cost.
  return {
    subaccount,
    market: order.market,
    orderType: order.orderType,
    lots: order.lots,
    priceTicks: order.priceTicks,
    ioc: order.ioc,
    postOnly: order.postOnly,
    reduceOnly: order.reduceOnly,
    nonce: order.nonce,
    expiresAtMs: order.expiresAtMs,
    delegate,
    clientId: order.clientId,
    originator: order.originator,
    originatorFeePpm: order.originatorFeePpm,
  };
}

function attachedAs({ attached, orderType }: NewOrder): Attached {
  if (!attached) return 'no';
  return orderType === 'takeProfit' ? 'takeProfit' : 'stopLoss';
}

function refOf(state: ExchangeState, id: OrderId): OrderRef {
  const slot = state.orders.slotOf(id);
  const attached = state.orders.conditional(slot)?.attached ?? 'no';
  return { orderId: id, nonce: state.orders.nonce(slot), attached };
}
