/** The oracle's records of vault shares and money movements. */
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
