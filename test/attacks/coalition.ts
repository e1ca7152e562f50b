/** Wealth of colluding accounts: deposits, withdrawals and remaining claims. */
import type { Address, SubaccountId } from '../../src/num/units.ts';
import { dollars } from '../engine/risk-world.ts';
import type { AttackWorld } from './world.ts';

interface CoalitionWealth {
  /** External deposits. */
  readonly paidIn: bigint;
  /** External withdrawals, net of the shortfall's share. */
  readonly withdrawn: bigint;
  /** Σ cash, isolated margin and uPnL at marks: debts count as negative. */
  readonly equity: bigint;
  /** The same per margin unit, without negative units: debts can be abandoned. */
  readonly claims: bigint;
  /** withdrawn + equity − paidIn: the members' gain at marks. */
  readonly profit: bigint;
  /** withdrawn + claims − paidIn: the members' possible net withdrawal; above 0, others pay it. */
  readonly loot: bigint;
}

/** Covers all subaccounts of the members, so transfers between them have no effect. */
export function coalition(world: AttackWorld, members: readonly string[]): CoalitionWealth {
  const addresses = members.map((name) => world.addressOf(name));
  const ids = new Set(addresses.flatMap((address) => idsOf(world, address)));
  let paidIn = 0n;
  let withdrawn = 0n;
  for (const event of world.events) {
    if (event.kind !== 'balanceChanged' || !ids.has(event.subaccount)) continue;
    if (event.reason === 'deposit') paidIn += event.deltaQuanta;
    if (event.reason === 'withdrawal') withdrawn -= event.deltaQuanta;
  }
  let equity = 0n;
  let claims = 0n;
  for (const id of ids) {
    const { accountValueQuanta, crossEquityQuanta } = world.engine.margin(id);
    equity += accountValueQuanta;
    claims += positive(crossEquityQuanta);
    for (const { isolated, isolatedMarginQuanta, upnlQuanta } of world.engine.positions(id)) {
      if (isolated) claims += positive(isolatedMarginQuanta + upnlQuanta);
    }
  }
  return {
    paidIn,
    withdrawn,
    equity,
    claims,
    profit: withdrawn + equity - paidIn,
    loot: withdrawn + claims - paidIn,
  };
}

/**
 * Every member withdraws the maximum from each of its subaccounts. Returns the total withdrawn so
 * far, in USD.
 */
export function takeOut(world: AttackWorld, members: readonly string[]): string {
  for (const name of members) {
    const views = world.engine.subaccountsOf(world.addressOf(name));
    for (const { index } of views) world.withdraw(name, 'all', index);
  }
  return dollars(coalition(world, members).withdrawn);
}

function idsOf(world: AttackWorld, address: Address): SubaccountId[] {
  return world.engine.subaccountsOf(address).map(({ id }) => id);
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
