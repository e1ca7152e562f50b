/**
 * Recovers the exchange of a shared journal up to the end of a row, as the next start would, and
 * stores the state as a snapshot. Every snapshot thus tests the recovery.
 */
import { orderId } from '../num/units.ts';
import type { OrderDigest } from '../journal/served-exchange.ts';
import type { JournalEnd, JournalStore } from './ports.ts';
import { ReplicationError } from './replication-error.ts';
import { Tail } from './tail.ts';

/** Waits between rows, so that a replay does not compete with the exchange that is served. */
export type Rest = () => Promise<void>;

/** Applies the rows up to the one that ends with a command. Throws `ReplicationError`. */
async function replayTo(
  store: JournalStore,
  seq: number,
  rest: Rest,
): Promise<{ readonly tail: Tail; readonly orderIds: readonly OrderDigest[] }> {
  const base = await store.base();
  if (base === null) throw new ReplicationError('the journal is empty');
  const snapshot = base.snapshot !== null && base.snapshot.seq <= seq ? base.snapshot : null;
  const tail = Tail.from({ ...base, snapshot });
  const orderIds = [...(snapshot?.orderIds ?? [])];
  while (tail.end.seq < seq) {
    const { rows } = await store.poll(tail.end.seq);
    const wanted = rows.filter(({ lastSeq }) => lastSeq <= seq);
    if (wanted.length === 0) {
      throw new ReplicationError(`no row ends with command ${String(seq)}`);
    }
    tail.apply(wanted, {
      onEvent: undefined,
      onOrderIds: (first, digests) => {
        digests.forEach((digest, i) => orderIds.push([first + i, digest]));
      },
    });
    await rest();
  }
  return { tail, orderIds };
}

export async function rehearse(
  store: JournalStore,
  { seq, chainHash }: JournalEnd,
  rest: Rest,
): Promise<void> {
  const { tail, orderIds } = await replayTo(store, seq, rest);
  const { engine, end } = tail;
  if (end.chainHash !== chainHash) {
    throw new ReplicationError(
      `the exchange served has chain hash ${chainHash} after command ${String(seq)}, its journal replays to ${end.chainHash}`,
    );
  }
  const known = orderIds.filter(([id]) => engine.order(orderId(id)) !== undefined);
  await store.saveSnapshot({ ...end, engine: engine.snapshot(), orderIds: known });
}
