/**
 * An exchange as the server sees it: commands go in, and a reply waits until everything that it
 * shows is durable. Implementations: a folder on disk (`journal-files/durable-exchange.ts`) and a
 * journal shared by several servers (`replication/replicated-exchange.ts`).
 */
import type { Command } from '../engine/commands.ts';
import type { EventSink } from '../engine/events.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { OrderId } from '../num/units.ts';

/** An order id and its client-visible digest. */
export type OrderDigest = readonly [id: number, digest: string];

/** Status of snapshots. */
export interface SnapshotHealth {
  /** Last command of the last snapshot. */
  seq: number;
  seconds: number;
  failures: number;
  mismatch: boolean;
}

/** Role of a server whose journal is shared. */
export interface ReplicaStatus {
  readonly role: 'leader' | 'follower' | 'stopped';
  readonly epoch: number;
  /** Every command committed this long ago is in the state shown; 0 for a leader. */
  readonly lagMs: number;
  /** Address that the leader advertises; empty if there is none. */
  readonly leader: string;
}

export interface ServedExchange {
  readonly engine: Exchange;
  /** Reason for which writes are rejected; null while they are accepted. */
  readonly failure: Error | null;
  /** Replies that wait until their commands are durable. */
  readonly waiting: number;
  /** Location of the journal, for messages. */
  readonly path: string;
  readonly journalBytes: number;
  /** Last durable command. */
  readonly durableSeq: number;
  /** Duration of the last group commit in seconds. */
  readonly lastSyncSeconds: number;
  readonly snapshots: SnapshotHealth;
  /** Recorded digests, for the order id map. */
  readonly recordedIds: readonly OrderDigest[];
  /** Order digests for snapshots; set by the order id map. */
  orderIds: () => Iterable<OrderDigest>;
  /** null unless the journal is shared. */
  readonly replica: ReplicaStatus | null;
  onEvent(sink: EventSink): void;
  /** Called with the exchange that replaces this one after a failure. */
  onReset(listener: (engine: Exchange) => void): void;
  /** Called with digests that another server recorded. */
  onOrderIds(listener: (first: number, digests: readonly string[]) => void): void;
  /** Throws `StoreStopped`. */
  submit(command: Command): Outcome;
  recordOrderIds(first: OrderId, digests: readonly string[]): void;
  /**
   * For a read: resolves once the state may be shown as the newest; null if it may. Rejects with
   * `StoreStopped` if another server may have a newer one.
   */
  durable(): Promise<void> | null;
  /** For a command and for feeds: resolves once all applied commands are durable; null if so. */
  committed(): Promise<void> | null;
  /** Writes a snapshot; resolves with its name. */
  snapshot(): Promise<string>;
  close(): Promise<void>;
}
