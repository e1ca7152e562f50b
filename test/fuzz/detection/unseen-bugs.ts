/** One bug of each area, written from the sources alone after all other lists were measured. */
import type { SubtleBug } from './subtle-bug.ts';

export const UNSEEN_BUGS: readonly SubtleBug[] = [
  {
    id: 'closed-by-adl-says-reduce-only',
    area: 'matching',
    file: 'engine/orders/close-reduce-only.ts#closeReduceOnly',
    find: "state.context.cause === 'adl' ? 'adl' : 'reduceOnly'",
    replace: "state.context.cause === 'liquidation' ? 'adl' : 'reduceOnly'",
  },
  {
    id: 'debt-outlives-the-thaw',
    area: 'money',
    file: 'engine/liquidation/clearing-debt.ts#repayClearingDebt',
    find: 'subaccount.clearingDebt = quanta(0n)',
    replace: 'subaccount.clearingDebt = quanta(subaccount.clearingDebt)',
  },
  {
    id: 'new-trailing-stop-watches-the-source',
    area: 'groups',
    file: 'engine/orders/triggers.ts#addNewDue',
    find: 'trailing ? market.markTicks : sourceOf(state, market)',
    replace: 'sourceOf(state, market)',
  },
  {
    id: 'revoked-delegate-keeps-account-nonces',
    area: 'nonces',
    file: 'engine/accounts/authority.ts#updateDelegate',
    find: 'account.nonces.revoke(delegate);',
    replace: '',
  },
  {
    id: 'vault-keeps-its-last-quantum',
    area: 'vault',
    file: 'engine/vault/vault.ts#sharesBurned',
    find: 'amount > availableQuanta',
    replace: 'amount >= availableQuanta',
  },
  {
    id: 'deficit-remainder-to-the-last',
    area: 'liquidation',
    file: 'engine/liquidation/clearing-plan.ts#layDeficit',
    find: 'i === 0 ? rest : 0n',
    replace: 'i === losses.length - 1 ? rest : 0n',
  },
  {
    id: 'new-terms-postpone-due-funding',
    area: 'timers',
    file: 'engine/market/set-terms.ts#takeTerms',
    find: 'market.fundingDueUs !== Infinity && market.fundingDueUs > state.nowUs',
    replace: 'market.fundingDueUs !== Infinity',
  },
  {
    id: 'restored-freeze-is-new',
    area: 'snapshots',
    file: 'engine/market/market.ts#Market.archive',
    find: 'if (io.loading) this.frozenAtCheck = this.frozen;',
    replace: '',
  },
  {
    id: 'cost-not-hashed',
    area: 'hashes',
    file: 'engine/chain-hash/hash-event.ts#hashPositionChanged',
    find: 'hash.intsNums(head, subaccount, market, position, cost)',
    replace: 'hash.intsNums(head, subaccount, market, position, 0)',
  },
  {
    id: 'delegates-in-order-of-grant',
    area: 'gateway',
    file: 'gateway/account.ts#getDelegates',
    find: 'a.subaccountIndex - b.subaccountIndex || a.delegate - b.delegate',
    replace: 'a.subaccountIndex - b.subaccountIndex',
  },
  {
    id: 'one-minute-beyond-retention',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.openMinute',
    find: 'minutes.timeAt(0) <= oldest',
    replace: 'minutes.timeAt(0) < oldest',
  },
  {
    id: 'safe-units-are-published',
    area: 'feeds',
    file: 'gateway/feeds/changes.ts#Changes.note',
    find: "event.step !== 'cancelOrders' && event.step !== 'safe'",
    replace: "event.step !== 'cancelOrders'",
  },
];
