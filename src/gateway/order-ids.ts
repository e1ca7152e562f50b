/**
 * The contract's order ids: 64 hex digits. The engine knows dense ids; this maps between them.
 *
 * In trust mode an order's id is keccak256 of 32 bytes: the account's 20, the subaccount index as 4 bytes and the nonce as
 * 8, both big-endian; a leg attached by one submit has keccak256 of its parent's id and 1 for a take-profit, 2 for a stop-loss; the
 * engine's own liquidation orders have keccak256 of "orrery", the command's sequence number as 8 bytes and the order's place in it as 4. It is computed when an order is first read, never when it is placed.
 *
 * The index holds dense ids only, found by the first 32 bits of the digest and verified by computing it again, so an
 * order costs 8 to 16 bytes here. A digest that is not found makes the index catch up with all orders placed so far,
 * since a client may compute an id that was never read.
 */
import { SlotIndex } from '../base/slot-index.ts';
import { orderId, type OrderId, type SubaccountId } from '../num/units.ts';
import type { OrderRef } from '../engine/orders/special.ts';
import type { ExchangeView, OrderView } from '../engine/views.ts';
import type { Keccak } from './ports.ts';

export class OrderIds {
  private readonly view: ExchangeView;
  private readonly keccak: Keccak;
  private index = new SlotIndex();
  /** Orders up to this one are in the index, if they are still known. */
  private caughtUp = 0;
  private rebuildAt = 1 << 17;
  private readonly bytes = new Uint8Array(32);
  private readonly attachedBytes = new Uint8Array(33);

  constructor(view: ExchangeView, keccak: Keccak) {
    this.view = view;
    this.keccak = keccak;
  }

  digestOf(order: OrderView): string {
    if (order.attached === 'engine') return this.engineDigest(order);
    return this.digestOfRef(order.subaccount, order);
  }

  /** The digest of an order of this subaccount, known or gone. An attached one's is made of its parent's. */
  digestOfRef(subaccount: SubaccountId, ref: OrderRef): string {
    const own = this.plainDigest(subaccount, ref.nonce);
    if (ref.attached === 'no') return own;
    for (let i = 0; i < 32; i++) {
      this.attachedBytes[i] = Number.parseInt(own.slice(2 * i, 2 * i + 2), 16);
    }
    this.attachedBytes[32] = ref.attached === 'takeProfit' ? 1 : 2;
    return this.keccak(this.attachedBytes);
  }

  /** An order of the engine's own: of the command that sent it, which is also the last to change it, and its place there. */
  private engineDigest(order: OrderView): string {
    const bytes = new DataView(new ArrayBuffer(18));
    for (const [i, letter] of ['o', 'r', 'r', 'e', 'r', 'y'].entries()) {
      bytes.setUint8(i, letter.charCodeAt(0));
    }
    bytes.setBigUint64(6, BigInt(order.lastUpdateSeq));
    bytes.setUint32(14, Number(order.nonce));
    return this.keccak(new Uint8Array(bytes.buffer));
  }

  private plainDigest(subaccount: SubaccountId, nonce: bigint): string {
    const { account, index } = this.view.subaccount(subaccount);
    const hex = this.view.addressOf(account);
    for (let i = 0; i < 20; i++) {
      this.bytes[i] = Number.parseInt(hex.slice(2 + i * 2, 4 + i * 2), 16);
    }
    for (let i = 0; i < 4; i++) this.bytes[20 + i] = index >>> (24 - 8 * i);
    for (let i = 0; i < 8; i++) {
      this.bytes[24 + i] = Number((nonce >> BigInt(56 - 8 * i)) & 0xffn);
    }
    return this.keccak(this.bytes);
  }

  /** The order of this digest (64 hex digits), live or retained. */
  find(digest: string): OrderView | undefined {
    return this.lookUp(digest) ?? (this.catchUp() ? this.lookUp(digest) : undefined);
  }

  private lookUp(digest: string): OrderView | undefined {
    const id = this.index.find(hashOf(digest), (candidate) => {
      const order = this.view.order(orderId(candidate));
      return order !== undefined && this.digestOf(order) === digest;
    });
    return id < 0 ? undefined : this.view.order(orderId(id));
  }

  /** Indexes every order placed since the last time; false when there was none. */
  private catchUp(): boolean {
    const last = this.view.lastOrderId;
    if (this.caughtUp === last) return false;
    for (let id = this.caughtUp + 1; id <= last; id++) this.add(orderId(id));
    this.caughtUp = last;
    if (this.index.count > this.rebuildAt) this.forgetGone();
    return true;
  }

  private add(id: OrderId): void {
    const order = this.view.order(id);
    if (order !== undefined) this.index.add(hashOf(this.digestOf(order)), id);
  }

  /** Builds the index anew without orders that are no longer retained. */
  private forgetGone(): void {
    this.index = new SlotIndex();
    for (let id = 1; id <= this.caughtUp; id++) this.add(orderId(id));
    this.rebuildAt = Math.max(1 << 17, this.index.count * 2);
  }
}

function hashOf(digest: string): number {
  return Number.parseInt(digest.slice(0, 8), 16) | 0;
}
