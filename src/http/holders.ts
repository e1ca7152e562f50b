/** Accounts of users with an open position. */
import type { ExchangeView } from '../engine/read/views.ts';
import type { SubaccountId } from '../num/units.ts';

export function holders(view: ExchangeView): ReadonlySet<SubaccountId> {
  const found = new Set<SubaccountId>();
  for (const { id } of view.markets()) {
    for (const holder of view.holdersOf(id)) {
      if (!view.subaccount(holder).system) found.add(holder);
    }
  }
  return found;
}
