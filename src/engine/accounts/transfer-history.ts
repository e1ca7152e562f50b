/**
 * Movements of money of each subaccount, newest kept. History, outside the state hash.
 */
import { archiveList, type Archive } from '../../base/archive.ts';
import {
  quanta,
  seq,
  timeUs,
  type MarketId,
  type SubaccountId,
  type TimeUs,
} from '../../num/units.ts';
import type { TransferView } from '../views.ts';

const REASONS = [
  'deposit',
  'withdrawal',
  'transferIn',
  'transferOut',
  'clsDeposit',
  'clsWithdrawal',
] as const satisfies readonly TransferView['reason'][];

interface Movements {
  items: TransferView[];
  /** Entries before this are beyond retention; the array is trimmed in blocks. */
  start: number;
  cut: boolean;
}

export class TransferHistory {
  private readonly limit: number;
  private readonly bySubaccount = new Map<SubaccountId, Movements>();

  constructor(limit: number) {
    this.limit = limit;
  }

  add(movement: TransferView): void {
    let movements = this.bySubaccount.get(movement.subaccount);
    if (movements === undefined) {
      movements = { items: [], start: 0, cut: false };
      this.bySubaccount.set(movement.subaccount, movements);
    }
    movements.items.push(movement);
    if (movements.items.length - movements.start <= this.limit) return;
    movements.start += 1;
    movements.cut = true;
    if (movements.start > this.limit) {
      movements.items = movements.items.slice(movements.start);
      movements.start = 0;
    }
  }

  /** Oldest first. */
  of(id: SubaccountId): readonly TransferView[] {
    const movements = this.bySubaccount.get(id);
    return movements === undefined ? [] : movements.items.slice(movements.start);
  }

  keptSinceUs(id: SubaccountId): TimeUs | null {
    const movements = this.bySubaccount.get(id);
    return movements?.cut === true ? (movements.items[movements.start]?.timeUs ?? null) : null;
  }

  archive(io: Archive): void {
    io.section('transfers');
    const ids = [...this.bySubaccount.keys()].sort((a, b) => a - b);
    const count = io.int(ids.length);
    for (let i = 0; i < count; i++) {
      const id = io.int(ids[i] ?? 0) as SubaccountId;
      const cut = io.bool(this.bySubaccount.get(id)?.cut ?? false);
      const items = archiveList(io, this.of(id), (saved) => {
        const reason = REASONS[io.int(saved === null ? 0 : REASONS.indexOf(saved.reason))];
        return {
          subaccount: id,
          reason: reason ?? 'deposit',
          amountQuanta: quanta(io.bigint(saved?.amountQuanta ?? 0n)),
          counterparty: io.optionalInt(saved?.counterparty ?? null) as SubaccountId | null,
          market: io.optionalInt(saved?.market ?? null) as MarketId | null,
          timeUs: timeUs(io.int(saved?.timeUs ?? 0)),
          seq: seq(io.int(saved?.seq ?? 0)),
        };
      });
      if (io.loading) this.bySubaccount.set(id, { items, start: 0, cut });
    }
  }
}
