/**
 * Where the money went: a strategy's equity change split into trading, fees and funding from the ledger's own entries.
 * Exact: the three sum to the change of equity, to the last Quantum, or the run fails.
 */
import { assert } from '../base/assert.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { SubaccountId } from '../num/units.ts';

export class Accounting {
  private readonly subaccount: SubaccountId;
  /** Closed price gains. */
  realized = 0n;
  /** ≤ 0 when paid. */
  fees = 0n;
  funding = 0n;
  /** Deposits less withdrawals since the start. */
  transfers = 0n;

  constructor(subaccount: SubaccountId) {
    this.subaccount = subaccount;
  }

  onEvent(event: EngineEvent): void {
    if (event.kind !== 'balanceChanged' || event.subaccount !== this.subaccount) return;
    switch (event.reason) {
      case 'realizedPnl':
        this.realized += event.deltaQuanta;
        return;
      case 'fee':
      case 'originatorFee':
      case 'feeShare':
        this.fees += event.deltaQuanta;
        return;
      case 'funding':
        this.funding += event.deltaQuanta;
        return;
      default:
        this.transfers += event.deltaQuanta;
    }
  }

  /** Trading PnL with open positions at mark; checks that nothing is unexplained. */
  trading(equityStart: bigint, equityEnd: bigint, upnlStart: bigint, upnlEnd: bigint): bigint {
    const trading = this.realized + upnlEnd - upnlStart;
    assert(
      equityEnd - equityStart === trading + this.fees + this.funding + this.transfers,
      'trading, fees, funding and transfers explain the whole change of equity',
    );
    return trading;
  }
}
