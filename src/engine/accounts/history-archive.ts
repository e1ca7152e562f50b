/**
 * Serialisation of history entries: money movements and snapshots of vault shares.
 */
import { wordOf, type Archive } from '../../base/archive.ts';
import { quanta, seq, timeUs, type MarketId, type SubaccountId } from '../../num/units.ts';
import type {
  OperatorEntry,
  OperatorKind,
  TransferView,
  VaultSnapshotView,
} from '../read/views.ts';

const REASONS = [
  'deposit',
  'withdrawal',
  'transferIn',
  'transferOut',
  'clsDeposit',
  'clsWithdrawal',
] as const satisfies readonly TransferView['reason'][];

export function archiveTransfer(
  io: Archive,
  saved: TransferView | null,
  subaccount: SubaccountId,
): TransferView {
  const reason = io.int(saved === null ? 0 : REASONS.indexOf(saved.reason));
  return {
    subaccount,
    reason: wordOf(REASONS, reason),
    amountQuanta: quanta(io.bigint(saved?.amountQuanta ?? 0n)),
    counterparty: io.optionalInt(saved?.counterparty ?? null) as SubaccountId | null,
    market: io.optionalInt(saved?.market ?? null) as MarketId | null,
    timeUs: timeUs(io.int(saved?.timeUs ?? 0)),
    seq: seq(io.int(saved?.seq ?? 0)),
  };
}

export function archiveVaultSnapshot(
  io: Archive,
  saved: VaultSnapshotView | null,
  subaccount: SubaccountId,
): VaultSnapshotView {
  return {
    subaccount,
    shares: io.bigint(saved?.shares ?? 0n),
    netDepositsQuanta: quanta(io.bigint(saved?.netDepositsQuanta ?? 0n)),
    valueQuanta: quanta(io.bigint(saved?.valueQuanta ?? 0n)),
    lockupEndsAtUs: timeUs(io.int(saved?.lockupEndsAtUs ?? 0)),
    timeUs: timeUs(io.int(saved?.timeUs ?? 0)),
    seq: seq(io.int(saved?.seq ?? 0)),
  };
}

const OPERATOR_KINDS = [
  'listMarket',
  'setMarketTerms',
  'setMarketStatus',
  'delistMarket',
  'deposit',
  'withdraw',
] as const satisfies readonly OperatorKind[];

export function archiveOperatorEntry(io: Archive, saved: OperatorEntry | null): OperatorEntry {
  const kind = io.int(saved === null ? 0 : OPERATOR_KINDS.indexOf(saved.kind));
  const amount = saved?.amountQuanta ?? null;
  return {
    kind: wordOf(OPERATOR_KINDS, kind),
    seq: seq(io.int(saved?.seq ?? 0)),
    timeUs: timeUs(io.int(saved?.timeUs ?? 0)),
    market: io.optionalInt(saved?.market ?? null) as MarketId | null,
    subaccount: io.optionalInt(saved?.subaccount ?? null) as SubaccountId | null,
    amountQuanta: io.bool(amount !== null) ? quanta(io.bigint(amount ?? 0n)) : null,
    detail: io.text(saved?.detail ?? ''),
  };
}
