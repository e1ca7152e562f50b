/** The oracle's records of vault shares, money movements and trades. */
import type { LedgerReason } from '../engine/events.ts';

export interface Holder {
  readonly sub: number;
  shares: bigint;
  netDeposits: bigint;
  lockedUntil: bigint;
}

/** A vault snapshot. */
export interface Snapshot {
  readonly sub: number;
  readonly shares: bigint;
  readonly netDeposits: bigint;
  readonly value: bigint;
  readonly lockedUntil: bigint;
  readonly at: bigint;
}

/** One side of a money movement. */
export interface Movement {
  readonly sub: number;
  readonly reason: LedgerReason;
  readonly amount: bigint;
  readonly counterparty: number | null;
  readonly market: number | null;
}

/** A trade on the public tape, or a part of a bar (no id); `lots` signed by the taker's side. */
export interface Print {
  readonly id: number | null;
  readonly at: bigint;
  readonly price: bigint;
  readonly lots: bigint;
}

/** A minute with recorded trades, and the close of the one before it. */
export interface RecordedMinute {
  readonly minute: bigint;
  readonly before: bigint | null;
  lots: bigint;
  close: bigint;
  counts: boolean;
}
