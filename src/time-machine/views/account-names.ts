/** Names of accounts in views: those of the exchange, then u1, u2 … in order of their first use. */
import type { ExchangeView } from '../../engine/read/views.ts';
import type { AccountId, SubaccountId } from '../../num/units.ts';

/** Accounts that every exchange opens first, in this order. */
const SYSTEM = ['vault', 'insurance', 'treasury', 'tapeMaker', 'tapeTaker', 'shortfall'] as const;

/** Text of the engine, with names for the numbers of accounts and markets. */
export function withNames(view: ExchangeView, text: string): string {
  return text
    .replace(/\bsubaccount (\d+)/g, (whole, digits: string) => {
      const id = Number(digits);
      if (id >= view.subaccountCount) return whole;
      return `${subaccountName(view, id as SubaccountId)} (subaccount ${digits})`;
    })
    .replace(
      /\bmarket (\d+)/g,
      (whole, id: string) => view.markets()[Number(id)]?.spec.symbol ?? whole,
    );
}

export function accountName(id: AccountId): string {
  return SYSTEM[id] ?? `u${String(id - SYSTEM.length + 1)}`;
}

/** As `accountName`; subaccounts other than 0 have their number behind a slash. */
export function subaccountName(view: ExchangeView, id: SubaccountId): string {
  const { account, index } = view.subaccount(id);
  return index === 0 ? accountName(account) : `${accountName(account)}/${String(index)}`;
}
