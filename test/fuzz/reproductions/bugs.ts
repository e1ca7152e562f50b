/**
 * Bugs of all kinds whose reproductions are proved: mutants of the rules, and defects of hashes,
 * snapshots, journals and the gateway, which are no rules of the engine.
 */
import type { SourceEdit } from '../../mutants/mutant.ts';
import { MUTANTS } from '../../mutants/mutants.ts';
import { SUBTLE_BUGS } from '../detection/subtle-bugs.ts';

export interface ReproducedBug extends SourceEdit {
  readonly id: string;
  /** A run that finds it, from which the search starts; default 0. */
  readonly run?: number;
  /** True for those of a normal test run. */
  readonly quick?: true;
}

/** Mutants by id: matching, money, groups, nonces, vault, liquidation, timers, prices. */
const FROM_MUTANTS = [
  'ceil-truncates',
  'withdraw-all-but-initial',
  'self-trade-mode-of-exchange-only',
  'waiting-orders-are-free',
  'delegate-may-pay-any-originator-fee',
  'open-interest-counts-shorts',
  'fees-of-a-position-never-end',
  'transfer-seen-by-one-side',
  'last-come-first-served',
  'band-remainder-rests',
  'one-order-too-many',
  'ioc-remainder-rests',
  'slice-released-unchecked',
  'worst-case-forgets-asks',
  'own-rate-ignored',
  'mark-due-now',
  'liquidation-fee-at-mark',
  'consumed-volume-returns',
  'samples-without-key',
  'thin-book-keeps-basis',
  'snapshot-forgets-lock-up',
];

const PLANTED: readonly ReproducedBug[] = [
  {
    id: 'command-hash-skips-originator-fee',
    file: 'engine/chain-hash/hash-command.ts#hashPlaceOrder',
    find: 'hash.int(order.originatorFeePpm);',
    replace: '',
    run: 1,
    quick: true,
  },
  {
    id: 'event-hash-skips-balance',
    file: 'engine/chain-hash/hash-event.ts#hashBalanceChanged',
    find: 'hash.intsNums(head, subaccount, reasonCode, delta, balance)',
    replace: 'hash.intsNums(head, subaccount, reasonCode, delta, 0)',
  },
  {
    id: 'state-hash-skips-parameters',
    file: 'engine/snapshot/snapshot.ts#stateHashOf',
    find: 'archiveConfig(io, { ...state.config, retention: NOTHING_KEPT });',
    replace: '',
  },
  {
    id: 'hash-of-the-low-word',
    file: 'base/rolling-hash.ts#highWord',
    find: 'low === value ? low >> 31 : Math.floor(value / 0x100000000) | 0',
    replace: 'low >> 31',
  },
  {
    id: 'snapshot-forgets-nonce-floor',
    file: 'engine/accounts/nonces.ts#NonceWindow.archiveWindow',
    find: 'this.floorLow = halves[0] ?? 0; this.floorHigh = halves[1] ?? 0;',
    replace: '',
  },
  {
    id: 'snapshot-restarts-twap',
    file: 'engine/snapshot/snapshot.ts#watchAgain',
    find: 'table.id(slot) - (conditional.group?.orderId ?? table.id(slot))',
    replace: '0',
  },
  {
    id: 'snapshot-forgets-supply',
    file: 'engine/snapshot/snapshot.ts#archiveLive',
    find: 'state.supply = quanta(io.bigint(state.supply))',
    replace: 'io.bigint(state.supply)',
    run: 1,
    quick: true,
  },
  {
    id: 'delegate-acts-as-owner',
    file: 'gateway/authorise.ts#mustAct',
    find: "access === 'owner' ? !rights.owner : !rights.may(index)",
    replace: '!rights.may(index)',
    run: 5,
    quick: true,
  },
  {
    id: 'pages-repeat-a-moment',
    file: 'gateway/paging.ts#pageOfMoments',
    find: 'before + countAlike(shown.toReversed(), last)',
    replace: 'countAlike(shown.toReversed(), last)',
  },
  {
    id: 'usage-with-isolated-margin',
    file: 'gateway/encode.ts#encodeStats',
    find: 'overEquity(margin.crossInitialQuanta)',
    replace: 'overEquity(margin.initialRequirementQuanta)',
  },
  {
    id: 'grouped-asks-round-down',
    file: 'engine/book/order-book.ts#OrderBook.grouped',
    find: 'Math.ceil',
    replace: 'Math.floor',
    run: 5,
    quick: true,
  },
  {
    id: 'range-includes-its-end',
    file: 'gateway/order-requests.ts#timeRange',
    find: 'Number(to) * 1000',
    replace: 'Number(to) * 1000 + 1000',
  },
  {
    id: 'post-only-read-as-ioc',
    file: 'gateway/submit-order.ts#decodeOrder',
    find: "flags.boolean('postOnly')",
    replace: "flags.boolean('ioc')",
  },
];

/** Each with a run that finds it. */
const FROM_SUBTLE: readonly { readonly id: string; readonly run: number }[] = [
  { id: 'removed-level-not-sent', run: 1 },
  { id: 'second-snapshot-moves-the-base', run: 1 },
  { id: 'cursor-of-another-request', run: 3 },
];

export const REPRODUCED_BUGS: readonly ReproducedBug[] = [
  ...FROM_MUTANTS.map((id) => {
    const mutant = MUTANTS.find((other) => other.id === id);
    if (mutant === undefined) throw new Error(`no mutant is named ${id}`);
    const { file, find, replace } = mutant;
    const isQuick = id === 'self-trade-mode-of-exchange-only';
    return { id, file, find, replace, ...(isQuick ? { quick: true as const, run: 11 } : {}) };
  }),
  ...PLANTED,
  ...FROM_SUBTLE.flatMap(({ id: name, run }) =>
    SUBTLE_BUGS.filter(({ id }) => id === name).map(({ area: _, ...bug }): ReproducedBug => ({
      ...bug,
      run,
      quick: true,
    })),
  ),
];
