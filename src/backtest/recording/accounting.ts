/**
 * PnL attribution: splits a strategy's equity change by cause from the ledger's entries, for cash
 * and isolated margin. Exact: the run fails unless the parts sum to the change to the last Quantum.
 */
import { assert } from '../../base/assert.ts';
import type { BalanceChanged, IsolatedMarginChanged } from '../../engine/events.ts';

export interface AccountingState {
  /** Realised price gains and losses. */
  realized: bigint;
  /** Negative or 0 if paid. */
  fees: bigint;
  originatorFees: bigint;
  funding: bigint;
  /** Liquidation fees, insurance, shortfall, take-overs and auto-deleveraging. */
  liquidation: bigint;
  /** Deposits minus withdrawals since the start. */
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
      case 'shortfall':
      case 'insuranceRepaid':
      case 'delisting':
        // Others pay for a deficit, and are repaid: that is no transfer of the strategy.
        state.liquidation += deltaQuanta;
        return;
      // Transfer between cash and margin of one subaccount: a debit and a credit.
      case 'isolatedMargin':
        return;
      default:
        state.transfers += deltaQuanta;
    }
  }

  /** Trading PnL with open positions at mark; asserts that nothing is unexplained. */
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
