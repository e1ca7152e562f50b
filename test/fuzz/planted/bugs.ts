import type { ProfileName } from '../../../src/fuzz/profile.ts';

/**
 * Bugs planted to test the shrinker. `least` is the number of commands of the shortest journal that
 * shows the bug, determined by hand, and `because` lists these commands.
 */
export interface PlantedBug {
  readonly name: string;
  /** Path under src/engine. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The invariant that it violates. */
  readonly invariant: string;
  /** True for a state invariant, which scenarios also check. */
  readonly inState: boolean;
  /** Profile to search in, if few profiles reach the shortest case. */
  readonly profile?: ProfileName;
  readonly least: number;
  readonly because: string;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'withdrawal-forgets-supply',
    file: 'accounts/custody.ts#withdraw',
    find: 'state.supply = quanta(state.supply - paid);',
    replace: '',
    invariant: 'conservation',
    inState: true,
    least: 2,
    because: 'a deposit and a withdrawal',
  },
  {
    name: 'vault-forgets-total',
    file: 'vault/vault.ts#changeShares',
    find: 'state.vaultShares += shares;',
    replace: '',
    invariant: 'vaultShares',
    inState: true,
    least: 2,
    because: 'a deposit and a transfer to the vault',
  },
  {
    name: 'rejected-order-keeps-nonce',
    file: 'orders/place.ts#placeOrder',
    find: 'subaccount.orderNonces',
    replace: 'if (state.market(market.id).markTicks !== null) subaccount.orderNonces',
    invariant: 'nonceNeverReused',
    inState: false,
    least: 4,
    because: 'a market without a price, a deposit, and an order twice with one nonce',
  },
  {
    name: 'expiry-a-second-late',
    file: 'orders/expiry.ts#watchExpiry',
    find: 'ms * 1000 + 1',
    replace: 'ms * 1000 + 1_000_001',
    invariant: 'nothingExpired',
    inState: true,
    least: 5,
    because: 'a market, a deposit, an index, an order, and time',
  },
  {
    name: 'band-remainder-rests',
    file: 'orders/match.ts#matchOrder',
    find: "return 'priceBand';",
    replace: 'return null;',
    invariant: 'uncrossedBook',
    inState: true,
    least: 5,
    because: 'a market, a deposit, an index, an order beyond the band, and one that would meet it',
  },
  {
    name: 'last-come-first-served',
    file: 'orders/resting.ts#rest',
    find: 'market.book.append(slot)',
    replace: '(market.book.prepend(slot), true)',
    invariant: 'feedRebuildsBook',
    inState: false,
    least: 7,
    because: 'a market, two deposits, an index, two orders at one price, and one that takes',
  },
  {
    name: 'funding-dust-lost',
    file: 'funding/funding.ts#settle',
    find: "credit(state, state.insurance, quanta(left), 'rounding');",
    replace: '',
    invariant: 'conservation',
    inState: true,
    profile: 'tape',
    least: 5,
    because:
      'a market, an index, recorded depth, a recorded trade that takes it, and a funding rate',
  },
  {
    name: 'mark-forgets-liquidation',
    file: 'pricing/recompute-mark.ts#changeMark',
    find: 'context.due.noteMoved(market);',
    replace: '',
    invariant: 'noneLiquidatable',
    inState: true,
    least: 7,
    because: 'a market, two deposits, an index, two orders that meet, and another index',
  },
  {
    name: 'open-interest-only-grows',
    file: 'accounts/positions.ts#applyFill',
    find: 'market.openInterestLots + Math.max(after, 0) - Math.max(before, 0)',
    replace: 'market.openInterestLots + Math.max(0, Math.max(after, 0) - Math.max(before, 0))',
    invariant: 'openInterest',
    inState: true,
    profile: 'tape',
    least: 7,
    because:
      'a market, two deposits, an index, two orders that meet, and another index; less with a recording',
  },
  {
    name: 'reduce-only-survives-flat',
    file: 'orders/close-reduce-only.ts#closeReduceOnly',
    find: "if (table.isResting(slot)) endOrder(state, slot, 'cancelled', reason);",
    replace: '',
    invariant: 'reduceOnlyHasPosition',
    inState: true,
    profile: 'bars',
    least: 6,
    because:
      'a market, a deposit, a bar, an opening order, a resting reduce-only order, and a closing order',
  },
];
