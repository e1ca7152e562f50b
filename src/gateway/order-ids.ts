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
import { orderId, type AccountId, type OrderId, type SubaccountId } from '../num/units.ts';
import type { OrderRef } from '../engine/orders/conditional.ts';
import type { ExchangeView, OrderView } from '../engine/read/views.ts';
import type { Keccak } from './ports.ts';

/** The contract's ids of orders. */
export interface OrderIds {
  digestOf(order: OrderView): string;
  /** The digest of an order of this subaccount, known or gone. */
  digestOfRef(subaccount: SubaccountId, ref: OrderRef): string;
  /** The order of this digest (64 hex digits), live or retained. */
  find(digest: string): OrderView | undefined;
  /** Orders were placed, from this id on, by requests with these digests; null where nothing was signed. */
  placed(first: OrderId, requests: readonly PlacedDigest[]): void;
}

/** The digest of a request, or of the request that an order was attached to, and as what. */
export interface PlacedDigest {
  readonly digest: string;
  readonly attached: 'no' | 'takeProfit' | 'stopLoss';
}

/** The id of a leg attached to an order of this id. */
export function attachedDigest(
  keccak: Keccak,
  parent: string,
  attached: 'takeProfit' | 'stopLoss',
): string {
  const bytes = new Uint8Array(33);
  for (let i = 0; i < 32; i++) bytes[i] = Number.parseInt(parent.slice(2 * i, 2 * i + 2), 16);
  bytes[32] = attached === 'takeProfit' ? 1 : 2;
  return keccak(bytes);
}

/**
 * Ids of an exchange that verifies signatures: the digest that was signed. Orders that nobody signed have the ids of trust. `record`
 * keeps them beyond this process.
 */
export class SignedOrderIds implements OrderIds {
  private readonly byDigest = new Map<string, OrderId>();
  private readonly byOrder = new Map<OrderId, string>();
  private readonly view: ExchangeView;
  private readonly keccak: Keccak;
  private readonly unsigned: TrustOrderIds;
  private readonly record: (first: OrderId, digests: readonly string[]) => void;
  private forgetAt = 1 << 17;

  constructor(
    view: ExchangeView,
    keccak: Keccak,
    record: (first: OrderId, digests: readonly string[]) => void,
  ) {
    this.view = view;
    this.keccak = keccak;
    this.unsigned = new TrustOrderIds(view, keccak);
    this.record = record;
  }

  digestOf(order: OrderView): string {
    return this.byOrder.get(order.orderId) ?? this.unsigned.digestOf(order);
  }

  digestOfRef(subaccount: SubaccountId, ref: OrderRef): string {
    return this.byOrder.get(ref.orderId) ?? this.unsigned.digestOfRef(subaccount, ref);
  }

  find(digest: string): OrderView | undefined {
    const id = this.byDigest.get(digest);
    return id === undefined ? this.unsigned.find(digest) : this.view.order(id);
  }

  placed(first: OrderId, requests: readonly PlacedDigest[]): void {
    const digests = requests.map(({ digest, attached }) =>
      attached === 'no' ? digest : attachedDigest(this.keccak, digest, attached),
    );
    this.remember(first, digests);
    this.record(first, digests);
  }

  /** Takes over what was recorded. */
  remember(first: OrderId, digests: readonly string[]): void {
    digests.forEach((digest, i) => {
      const id = orderId(first + i);
      this.byDigest.set(digest, id);
      this.byOrder.set(id, digest);
    });
    if (this.byOrder.size > this.forgetAt) this.forgetGone();
  }

  /** What is known, in the order of ids. */
  *entries(): Iterable<readonly [OrderId, string]> {
    this.forgetGone();
    yield* this.byOrder;
  }

  private forgetGone(): void {
    for (const [id, digest] of this.byOrder) {
      if (this.view.order(id) !== undefined) continue;
      this.byOrder.delete(id);
      this.byDigest.delete(digest);
    }
    this.forgetAt = Math.max(1 << 17, this.byOrder.size * 2);
  }
}

/** Beyond every sequence number. */
const LIVES_ON = 2n ** 63n;

/** Ids of an exchange that trusts its callers: computed, never kept. */
export class TrustOrderIds implements OrderIds {
  private readonly view: ExchangeView;
  private readonly keccak: Keccak;
  private index = new SlotIndex();
  /** Orders up to this one are in the index, if they are still known. */
  private caughtUp = 0;
  private rebuildAt = 1 << 17;
  private readonly bytes = new Uint8Array(32);
  private readonly words = new DataView(this.bytes.buffer);
  /** Whose bytes the first 20 are. */
  private account: AccountId | null = null;
  /** The digest that was made last: who looks an order up encodes it next. */
  private last: { readonly id: OrderId; readonly digest: string } | null = null;

  constructor(view: ExchangeView, keccak: Keccak) {
    this.view = view;
    this.keccak = keccak;
  }

  digestOf(order: OrderView): string {
    if (this.last?.id === order.orderId) return this.last.digest;
    const digest =
      order.attached === 'engine'
        ? this.engineDigest(order)
        : this.digestOfRef(order.subaccount, order);
    this.last = { id: order.orderId, digest };
    return digest;
  }

  /** An attached one's is made of its parent's. */
  digestOfRef(subaccount: SubaccountId, ref: OrderRef): string {
    const own = this.plainDigest(subaccount, ref.nonce);
    if (ref.attached === 'no') return own;
    return attachedDigest(
      this.keccak,
      own,
      ref.attached === 'takeProfit' ? 'takeProfit' : 'stopLoss',
    );
  }

  /**
   * An order of the engine's own. One of a liquidation ends in the command that sent it: that command, and the place there.
   * One by which the vault leaves a position lives on: the engine's own number of it, its nonce, above all sequences.
   */
  private engineDigest(order: OrderView): string {
    const bytes = new DataView(new ArrayBuffer(18));
    for (const [i, letter] of ['o', 'r', 'r', 'e', 'r', 'y'].entries()) {
      bytes.setUint8(i, letter.charCodeAt(0));
    }
    const livesOn = !order.ioc;
    bytes.setBigUint64(6, livesOn ? LIVES_ON + order.nonce : BigInt(order.lastUpdateSeq));
    bytes.setUint32(14, livesOn ? 0 : Number(order.nonce));
    return this.keccak(new Uint8Array(bytes.buffer));
  }

  private plainDigest(subaccount: SubaccountId, nonce: bigint): string {
    const { account, index } = this.view.subaccount(subaccount);
    if (account !== this.account) {
      const hex = this.view.addressOf(account);
      for (let i = 0; i < 20; i++) {
        this.bytes[i] = Number.parseInt(hex.slice(2 + i * 2, 4 + i * 2), 16);
      }
      this.account = account;
    }
    this.words.setUint32(20, index);
    this.words.setBigUint64(24, nonce);
    return this.keccak(this.bytes);
  }

  placed(): void {
    // Nothing to keep: the ids are made of what the orders hold.
  }

  find(digest: string): OrderView | undefined {
    return this.lookUp(digest) ?? (this.catchUp() ? this.lookUp(digest) : undefined);
  }

  private lookUp(digest: string): OrderView | undefined {
    let found: OrderView | undefined;
    this.index.find(hashOf(digest), (candidate) => {
      const order = this.view.order(orderId(candidate));
      if (order === undefined || this.digestOf(order) !== digest) return false;
      found = order;
      return true;
    });
    return found;
  }

  /** Indexes every order placed since the last time; false when there was none. */
  private catchUp(): boolean {
    const last = this.view.lastOrderId;
    if (this.caughtUp === last) return false;
    this.index.reserve(Math.min(this.index.count + last - this.caughtUp, this.rebuildAt * 8));
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
