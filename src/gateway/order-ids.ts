/**
 * The contract's order ids: 64 hex digits, mapped to the engine's dense ids.
 *
 * In trust mode an id is keccak256 of 32 bytes: the account (20), the subaccount index (4) and the
 * nonce (8), big-endian. An attached protective order hashes its parent's id and 1 for a
 * take-profit or 2 for a stop-loss. The engine's own liquidation orders hash "orrery", the
 * command's sequence number (8 bytes) and the order's place in the command (4). An id is computed
 * when an order is first read, never when it is placed.
 *
 * The index holds dense ids only, keyed by the first 32 bits of the digest; a hit is verified by
 * recomputing the digest. An order costs 8 to 16 bytes. On a miss the index first adds all orders
 * placed so far, because a client may compute an id before any read.
 */
import { setHex } from '../base/hex.ts';
import { SlotIndex } from '../base/slot-index.ts';
import { orderId, type AccountId, type OrderId, type SubaccountId } from '../num/units.ts';
import type { OrderRef } from '../engine/orders/conditional.ts';
import type { ExchangeView, OrderView } from '../engine/read/views.ts';
import type { Keccak } from './ports.ts';

/** Maps the contract's order ids. */
export interface OrderIds {
  digestOf(order: OrderView): string;
  /** Digest of an order of this subaccount, live or not. */
  digestOfRef(subaccount: SubaccountId, ref: OrderRef): string;
  /** Live or retained order with this digest (64 hex digits). */
  find(digest: string): OrderView | undefined;
  /** Registers orders placed by signed requests, from the id `first`; null entries are unsigned. */
  placed(first: OrderId, requests: readonly PlacedDigest[]): void;
}

/** Digest of a request, or of the request that an order was attached to and its role. */
export interface PlacedDigest {
  readonly digest: string;
  readonly attached: 'no' | 'takeProfit' | 'stopLoss';
}

/** Id of a protective order attached to the order with this id. */
export function attachedDigest(
  keccak: Keccak,
  parent: string,
  attached: 'takeProfit' | 'stopLoss',
): string {
  const bytes = new Uint8Array(33);
  setHex(bytes, 0, parent, 0, 32);
  bytes[32] = attached === 'takeProfit' ? 1 : 2;
  return keccak(bytes);
}

/** Ids with verified signatures: the signed digest, persisted by `record`. */
export class SignedOrderIds implements OrderIds {
  /** The newest order of each digest. */
  private readonly byDigest = new Map<string, OrderId>();
  /** All orders of digests that several have. */
  private readonly shared = new Map<string, OrderId[]>();
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
    if (id === undefined) return this.unsigned.find(digest);
    const { view } = this;
    const shared = this.shared.get(digest);
    if (shared === undefined) return view.order(id);
    return preferred(shared.map((one) => view.order(one)));
  }

  placed(first: OrderId, requests: readonly PlacedDigest[]): void {
    const digests = requests.map(({ digest, attached }) =>
      attached === 'no' ? digest : attachedDigest(this.keccak, digest, attached),
    );
    this.remember(first, digests);
    this.record(first, digests);
  }

  /** Restores recorded digests. */
  remember(first: OrderId, digests: readonly string[]): void {
    digests.forEach((digest, i) => {
      const id = orderId(first + i);
      const other = this.byDigest.get(digest);
      if (other !== undefined && other !== id) {
        this.shared.set(digest, [...(this.shared.get(digest) ?? [other]), id]);
      }
      this.byDigest.set(digest, id);
      this.byOrder.set(id, digest);
    });
    if (this.byOrder.size > this.forgetAt) this.forgetGone();
  }

  /** Known digests, in the order of ids. */
  *entries(): Iterable<readonly [OrderId, string]> {
    this.forgetGone();
    yield* this.byOrder;
  }

  private forgetGone(): void {
    for (const [id, digest] of this.byOrder) {
      if (this.view.order(id) !== undefined) continue;
      this.byOrder.delete(id);
      if (this.byDigest.get(digest) === id) this.byDigest.delete(digest);
    }
    for (const [digest, ids] of this.shared) {
      const left = ids.filter((id) => this.byOrder.has(id));
      const last = left.at(-1);
      if (last !== undefined) this.byDigest.set(digest, last);
      if (left.length > 1) this.shared.set(digest, left);
      else this.shared.delete(digest);
    }
    this.forgetAt = Math.max(1 << 17, this.byOrder.size * 2);
  }
}

/** Above every sequence number. */
const LIVES_ON = 2n ** 63n;

/** Ids of an exchange in trust mode: computed, never stored. */
export class TrustOrderIds implements OrderIds {
  private readonly view: ExchangeView;
  private readonly keccak: Keccak;
  private index = new SlotIndex();
  /** Orders up to this id are indexed if they are retained. */
  private caughtUp = 0;
  private rebuildAt = 1 << 17;
  private readonly bytes = new Uint8Array(32);
  private readonly words = new DataView(this.bytes.buffer);
  /** Account whose bytes are in the first 20 bytes of the buffer. */
  private account: AccountId | null = null;
  /** Last computed digest: a lookup is followed by encoding the same order. */
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

  /** The digest of an attached order derives from its parent's. */
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
   * Digest of an engine order. A liquidation order ends in the command that sent it and is
   * identified by that command and its place. An order by which the vault closes a position
   * outlives its command; its engine-assigned nonce is above all sequence numbers.
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
      setHex(this.bytes, 0, this.view.addressOf(account), 2, 20);
      this.account = account;
    }
    this.words.setUint32(20, index);
    this.words.setBigUint64(24, nonce);
    return this.keccak(this.bytes);
  }

  placed(): void {
    // Stores nothing: ids derive from the orders' own fields.
  }

  find(digest: string): OrderView | undefined {
    const found = this.lookUp(digest);
    if (found !== undefined && isLive(found)) return found;
    return this.catchUp() ? this.lookUp(digest) : found;
  }

  private lookUp(digest: string): OrderView | undefined {
    const found: OrderView[] = [];
    this.index.find(hashOf(digest), (candidate) => {
      const order = this.view.order(orderId(candidate));
      if (order !== undefined && this.digestOf(order) === digest) found.push(order);
      return false;
    });
    return preferred(found);
  }

  /** Indexes orders placed since the last call; returns false if there are none. */
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

  /** Rebuilds the index without orders that are no longer retained. */
  private forgetGone(): void {
    this.index = new SlotIndex();
    for (let id = 1; id <= this.caughtUp; id++) this.add(orderId(id));
    this.rebuildAt = Math.max(1 << 17, this.index.count * 2);
  }
}

const isLive = ({ status }: OrderView): boolean =>
  status === 'new' || status === 'partiallyFilled' || status === 'pending';

/**
 * Of several orders with one id: the oldest live one, or the newest. A delegate may use a nonce
 * that the owner's window no longer has, so an id may be that of several orders.
 */
function preferred(orders: readonly (OrderView | undefined)[]): OrderView | undefined {
  if (orders.length <= 1) return orders[0];
  const retained = orders.filter((order) => order !== undefined);
  const ids = (of: readonly OrderView[]): OrderView[] =>
    [...of].sort((a, b) => a.orderId - b.orderId);
  return ids(retained.filter(isLive))[0] ?? ids(retained).at(-1);
}

function hashOf(digest: string): number {
  return Number.parseInt(digest.slice(0, 8), 16) | 0;
}
