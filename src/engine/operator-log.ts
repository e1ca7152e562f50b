/** The audit log of accepted operator commands: history, outside the state hash. */
import type { MarketId, Quanta, SubaccountId } from '../num/units.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { OperatorKind } from './read/views.ts';

/** Max entries; beyond it the oldest quarter is dropped. */
const MAX_ENTRIES = 10_000;

export function logOperator(
  state: ExchangeState,
  kind: OperatorKind,
  about: {
    readonly market?: MarketId;
    readonly subaccount?: SubaccountId;
    readonly amountQuanta?: Quanta;
    readonly detail?: string | undefined;
  },
): void {
  const log = state.operatorLog;
  if (log.length >= MAX_ENTRIES) log.splice(0, MAX_ENTRIES / 4);
  log.push({
    seq: state.seq,
    timeUs: state.nowUs,
    kind,
    market: about.market ?? null,
    subaccount: about.subaccount ?? null,
    amountQuanta: about.amountQuanta ?? null,
    detail: about.detail ?? '',
  });
}
