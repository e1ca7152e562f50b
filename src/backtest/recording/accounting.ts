/**
 * Where the money went: a strategy's equity change split by cause from the ledger's own entries, cash and isolated margin alike.
 * Exact: the parts sum to the change of equity, to the last Quantum, or the run fails.
 */
import { assert } from '../../base/assert.ts';
import type { BalanceChanged, IsolatedMarginChanged } from '../../engine/events.ts';

export interface AccountingState {
  /** Closed price gains. */
  realized: bigint;
  /** ≤ 0 when paid. */
  fees: bigint;
  originatorFees: bigint;
  funding: bigint;
  /** Liquidation fees, insurance, take-overs and auto-deleveraging. */
  liquidation: bigint;
  /** Deposits less withdrawals since the start. */
  transfers: bigint;
}

export class Accounting {
  state: AccountingState = {
    realized: 0n,
    fees: 0n,
    originatorFees: 0n,
    funding: 0n,
    liquidation: 0n,
    transfers: 0n,
  };

  onEvent({ reason, deltaQuanta }: BalanceChanged | IsolatedMarginChanged): void {
    const { state } = this;
    switch (reason) {
      case 'realizedPnl':
        state.realized += deltaQuanta;
        return;
      case 'fee':
      case 'feeShare':
        state.fees += deltaQuanta;
        return;
      case 'originatorFee':
        state.originatorFees += deltaQuanta;
        return;
      case 'funding':
        state.funding += deltaQuanta;
        return;
      case 'liquidationFee':
      case 'insurance':
      case 'adl':
      case 'takeover':
      case 'rounding':
        state.liquidation += deltaQuanta;
        return;
      // Between cash and margin of one subaccount: once out, once in.
      case 'isolatedMargin':
        return;
      default:
        state.transfers += deltaQuanta;
    }
  }

  /** Trading PnL with open positions at mark; checks that nothing is unexplained. */
  trading(change: bigint, upnlChange: bigint): bigint {
    const { realized, fees, originatorFees, funding, liquidation, transfers } = this.state;
    const trading = realized + upnlChange;
    assert(
      change === trading + fees + originatorFees + funding + liquidation + transfers,
      'trading, fees, funding, liquidation and transfers explain the whole change of equity',
    );
    return trading;
  }
}
