/** Start of a server on a shared journal: its options, and the replay of the journal to its end. */
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { OrderDigest } from '../journal/served-exchange.ts';
import type { StoreProblem } from '../journal/store-stopped.ts';
import type { Candidate, JournalStore, Leadership, Ticker } from './ports.ts';
import { Tail } from './tail.ts';

export interface ReplicatedOptions {
  readonly store: JournalStore;
  readonly ticker: Ticker;
  /** Unique name of this process and the address that it advertises. */
  readonly self: Candidate;
  /** Place of the journal, for messages. */
  readonly path: string;
  /** Time without a renewal after which a follower takes over. */
  readonly leaseMs: number;
  /** Interval at which a follower asks for rows. */
  readonly pollMs: number;
  /** `lead`: fails if another server leads; `follow`: waits for a journal and follows it. */
  readonly start: 'lead' | 'follow';
  /** Checks the configuration of an existing exchange. Throws. */
  readonly checkConfig: (found: ExchangeConfig) => void;
  /** Configuration and first commands of a new exchange. */
  readonly create: () => { readonly config: ExchangeConfig; readonly opening: readonly Command[] };
  /** Commands between snapshots; 0: none. */
  readonly snapshotEvery: number;
  /** Recovers the journal up to a command elsewhere and stores its snapshot. */
  readonly rehearse: (seq: number, chainHash: string) => Promise<void>;
  readonly onProblem: (what: string, problem: StoreProblem) => void;
}

/** Result of the start. */
export interface ReplicaRecovery {
  readonly isNew: boolean;
  readonly snapshotSeq: number;
  readonly replayed: number;
  readonly stateHash: string;
}

export interface Started {
  readonly tail: Tail;
  readonly recovery: ReplicaRecovery;
  readonly orderIds: OrderDigest[];
  readonly seen: Leadership;
  readonly freshMs: number;
}

export function sleep(ticker: Ticker, ms: number): Promise<void> {
  return new Promise((resolve) => void ticker.after(ms, resolve));
}

/** Reads the journal to its end as of now; null if it is empty. */
export async function load(options: ReplicatedOptions): Promise<Started | null> {
  const { store, ticker, checkConfig } = options;
  const base = await store.base();
  if (base === null) return null;
  const tail = Tail.from(base);
  checkConfig(tail.engine.config);
  const orderIds: OrderDigest[] = [...(base.snapshot?.orderIds ?? [])];
  for (;;) {
    const sentMs = ticker.nowMs();
    const { rows, end, lead } = await store.poll(tail.end.seq);
    tail.apply(rows, {
      onEvent: undefined,
      onOrderIds: (first, digests) => {
        digests.forEach((digest, i) => orderIds.push([first + i, digest]));
      },
    });
    if (end.seq > tail.end.seq) continue;
    return {
      tail,
      orderIds,
      seen: lead,
      freshMs: sentMs,
      recovery: {
        isNew: false,
        snapshotSeq: base.snapshot?.seq ?? 0,
        replayed: tail.replayed,
        stateHash: tail.engine.stateHash(),
      },
    };
  }
}
