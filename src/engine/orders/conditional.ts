/**
 * Fields of an order beyond a plain limit (R-2.10, §3, §4): conditions, a schedule, and related
 * orders. Stored outside the order table, since few orders have any; dropped with the order.
 *
 * A related order may be gone from every table while its id is still read, so a reference carries
 * the components of its id.
 */
import { wordOf, type Archive } from '../../base/archive.ts';
import { orderId, priceTicks, type OrderId, type PriceTicks } from '../../num/units.ts';

/** Role of an order attached by one submit. `engine`: an order of the exchange. */
export type Attached = 'no' | 'takeProfit' | 'stopLoss' | 'engine';
const ATTACHED: readonly Attached[] = ['no', 'takeProfit', 'stopLoss', 'engine'];

/** Another order of the same subaccount, retained or not. */
export interface OrderRef {
  readonly orderId: OrderId;
  readonly nonce: bigint;
  readonly attached: Attached;
}

export class Special {
  /** The price that fires the order or activates a trailing stop; null without one. */
  triggerTicks: PriceTicks | null = null;
  /** Distance of a trailing stop from its reference, in 1e-6 of it: 1 % is 10,000. */
  trailingPpm: number | null = null;
  /** Time between TWAP slices, in milliseconds, as sent. */
  periodMs: bigint | null = null;
  attached: Attached = 'no';
  /** First order of the batch, and the batch's last id. */
  group: OrderRef | null = null;
  groupLast: OrderId = orderId(0);
  /** A take-profit or stop-loss that protects a position or a parent. */
  leg = false;
  /** The other leg of the pair. */
  sibling: OrderRef | null = null;
  parent: OrderRef | null = null;
  /** Whether the parent may still fill. */
  parentLive = false;
  /** Lots that the parent has filled, ≥ 0. */
  parentSettled = 0;
  /** Lots that the sibling has filled; the cover excludes them. */
  siblingFilled = 0;
  /** Live protective orders whose parent is this order. */
  legs: OrderId[] = [];
  /** Whether it is in the trigger index. */
  armed = false;
  /** Whether a trailing stop is active and follows the mark. */
  following = false;

  archive(io: Archive): void {
    const trigger = io.optionalInt(this.triggerTicks);
    this.triggerTicks = trigger === null ? null : priceTicks(trigger);
    this.trailingPpm = io.optionalInt(this.trailingPpm);
    this.periodMs = io.bool(this.periodMs !== null) ? io.bigint(this.periodMs ?? 0n) : null;
    this.attached = wordOf(ATTACHED, io.int(ATTACHED.indexOf(this.attached)));
    this.group = archiveRef(io, this.group);
    this.groupLast = orderId(io.int(this.groupLast));
    this.leg = io.bool(this.leg);
    this.sibling = archiveRef(io, this.sibling);
    this.parent = archiveRef(io, this.parent);
    this.parentLive = io.bool(this.parentLive);
    this.parentSettled = io.int(this.parentSettled);
    this.siblingFilled = io.int(this.siblingFilled);
    const legs = io.int(this.legs.length);
    for (let i = 0; i < legs; i++) this.legs[i] = orderId(io.int(this.legs[i] ?? 0));
    this.armed = io.bool(this.armed);
    this.following = io.bool(this.following);
  }
}

function archiveRef(io: Archive, ref: OrderRef | null): OrderRef | null {
  if (!io.bool(ref !== null)) return null;
  const read = {
    orderId: orderId(io.int(ref?.orderId ?? 0)),
    nonce: io.bigint(ref?.nonce ?? 0n),
    attached: wordOf(ATTACHED, io.int(ATTACHED.indexOf(ref?.attached ?? 'no'))),
  };
  return ref ?? read;
}
