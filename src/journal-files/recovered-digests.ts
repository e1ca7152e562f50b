/**
 * Digests of orders during a recovery. They stay bytes until the end, and those of orders that are
 * no longer retained are dropped, so that a long journal costs no memory for them.
 */
import type { Exchange } from '../engine/exchange.ts';
import { digestAt, type OrderIdsFrame } from '../journal/format/frame.ts';
import { orderId } from '../num/units.ts';
import type { OrderDigest } from '../journal/served-exchange.ts';

const DIGEST_BYTES = 32;
const FIRST_ROOM = 1 << 15;
/** Retained orders are looked for when there are twice as many digests as after the last search. */
const GROWTH = 2;

export class RecoveredDigests {
  private readonly before: readonly OrderDigest[];
  private ids = new Float64Array(FIRST_ROOM);
  private bytes = new Uint8Array(FIRST_ROOM * DIGEST_BYTES);
  private count = 0;

  /** `before`: those of the snapshot. */
  constructor(before: readonly OrderDigest[]) {
    this.before = before;
  }

  add({ firstId, bytes }: OrderIdsFrame, engine: Exchange): void {
    const added = bytes.length / DIGEST_BYTES;
    if (this.count + added > this.ids.length) this.makeRoom(added, engine);
    this.bytes.set(bytes, this.count * DIGEST_BYTES);
    for (let i = 0; i < added; i++) this.ids[this.count + i] = firstId + i;
    this.count += added;
  }

  /** Those of orders that are live or retained, in the order of ids. */
  retained(engine: Exchange): OrderDigest[] {
    this.dropGone(engine);
    const found = this.before.filter(([id]) => isRetained(engine, id));
    for (let i = 0; i < this.count; i++) found.push([this.ids[i] ?? 0, digestAt(this.bytes, i)]);
    return found;
  }

  private makeRoom(added: number, engine: Exchange): void {
    this.dropGone(engine);
    const room = Math.max(FIRST_ROOM, GROWTH * (this.count + added));
    if (room <= this.ids.length) return;
    const { ids, bytes, count } = this;
    this.ids = new Float64Array(room);
    this.ids.set(ids.subarray(0, count));
    this.bytes = new Uint8Array(room * DIGEST_BYTES);
    this.bytes.set(bytes.subarray(0, count * DIGEST_BYTES));
  }

  private dropGone(engine: Exchange): void {
    const { ids, bytes, count } = this;
    let kept = 0;
    for (let i = 0; i < count;) {
      // Digests that stay together move together.
      let end = i;
      while (end < count && isRetained(engine, ids[end] ?? 0)) end += 1;
      if (end > i && kept !== i) {
        ids.copyWithin(kept, i, end);
        bytes.copyWithin(kept * DIGEST_BYTES, i * DIGEST_BYTES, end * DIGEST_BYTES);
      }
      kept += end - i;
      i = end + 1;
    }
    this.count = kept;
  }
}

function isRetained(engine: Exchange, id: number): boolean {
  return engine.hasOrder(orderId(id));
}
