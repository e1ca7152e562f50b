/**
 * Cash, isolated margin and positions of every subaccount, derived from exchange events alone.
 * Amounts are doubles: whole Quanta below 2^53, so sums are exact.
 */
import type { EngineEvent } from '../../../engine/events.ts';
import type { SubaccountId } from '../../../num/units.ts';

/** Quanta per lot and tick, in every market of a crisis world. */
export const UNIT = 10;

export interface Holding {
  lots: number;
  cost: number;
  margin: number;
  isolated: boolean;
}

export interface Account {
  cash: number;
  shares: number;
  readonly holdings: Holding[];
}

export class AccountBooks {
  readonly accounts: Account[] = [];
  totalShares = 0;
  private readonly markets: number;

  constructor(markets: number) {
    this.markets = markets;
  }

  copy(): AccountBooks {
    const copy = new AccountBooks(this.markets);
    copy.totalShares = this.totalShares;
    for (const { cash, shares, holdings } of this.accounts) {
      copy.accounts.push({ cash, shares, holdings: holdings.map((holding) => ({ ...holding })) });
    }
    return copy;
  }

  account(id: SubaccountId): Account {
    const found = this.accounts[id];
    if (found !== undefined) return found;
    while (this.accounts.length <= id) {
      const holdings = Array.from({ length: this.markets }, () => ({
        ...{ lots: 0, cost: 0, margin: 0, isolated: false },
      }));
      this.accounts.push({ cash: 0, shares: 0, holdings });
    }
    return this.account(id);
  }

  holding(id: SubaccountId, market: number): Holding {
    return this.account(id).holdings[market] ?? { lots: 0, cost: 0, margin: 0, isolated: false };
  }

  readonly take = (event: EngineEvent): void => {
    switch (event.kind) {
      case 'balanceChanged':
        this.account(event.subaccount).cash = Number(event.balanceQuanta);
        return;
      case 'positionChanged': {
        const holding = this.holding(event.subaccount, event.market);
        holding.lots = event.lots;
        holding.cost = Number(event.costQuanta);
        return;
      }
      case 'isolatedMarginChanged':
        this.holding(event.subaccount, event.market).margin = Number(event.marginQuanta);
        return;
      case 'marginChanged':
        this.holding(event.subaccount, event.market).isolated = event.isolated;
        return;
      case 'vaultSharesChanged':
        this.account(event.subaccount).shares = Number(event.shares);
        this.totalShares = Number(event.totalShares);
        return;
      default:
    }
  };

  /** Equity of cash and cross positions at these prices. */
  crossValue(id: SubaccountId, prices: readonly number[]): number {
    const { cash, holdings } = this.account(id);
    let value = cash;
    holdings.forEach(({ lots, cost, isolated }, market) => {
      if (!isolated && lots !== 0) value += lots * (prices[market] ?? 0) * UNIT - cost;
    });
    return value;
  }

  isolatedValue(id: SubaccountId, market: number, prices: readonly number[]): number {
    const { lots, cost, margin, isolated } = this.holding(id, market);
    return isolated ? margin + lots * (prices[market] ?? 0) * UNIT - cost : 0;
  }

  /** Claims of a subaccount: each unit counts at least 0. */
  claims(id: SubaccountId, prices: readonly number[]): number {
    let value = Math.max(0, this.crossValue(id, prices));
    for (let m = 0; m < this.markets; m++) value += Math.max(0, this.isolatedValue(id, m, prices));
    return value;
  }

  /** Sum of the deficits of units below 0. */
  debts(id: SubaccountId, prices: readonly number[]): number {
    let debt = Math.max(0, -this.crossValue(id, prices));
    for (let m = 0; m < this.markets; m++) debt += Math.max(0, -this.isolatedValue(id, m, prices));
    return debt;
  }
}
