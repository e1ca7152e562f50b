/** One subtle bug of each area, written before any of them was measured. */
import type { SubtleBug } from './subtle-bug.ts';

export const BLIND_BUGS: readonly SubtleBug[] = [
  {
    id: 'frozen-taker-meets-the-tape',
    area: 'matching',
    file: 'engine/orders/match.ts#matchOrder',
    find: 'takerReducible === 0 || makerHouse',
    replace: 'takerReducible === 0',
  },
  {
    id: 'net-deposits-keep-the-share',
    area: 'money',
    file: 'engine/accounts/custody.ts#withdraw',
    find: 'from.netDeposits - command.amount',
    replace: 'from.netDeposits - paid',
  },
  {
    id: 'firing-leg-armed-again',
    area: 'groups',
    file: 'engine/orders/protective-orders.ts#noteRelatives',
    find: 'table.isWaiting(slot) && !leg.armed && !context.firing.has(id)',
    replace: 'table.isWaiting(slot) && !leg.armed',
  },
  {
    id: 'late-nonce-displaces-the-lowest',
    area: 'nonces',
    file: 'engine/accounts/nonces.ts#NonceWindow.add',
    find: 'this.raiseFloor(halves[1] ?? 0, halves[0] ?? 0); return;',
    replace: 'this.raiseFloor(halves[1] ?? 0, halves[0] ?? 0);',
  },
  {
    id: 'frozen-gains-of-the-vault-count',
    area: 'vault',
    file: 'engine/liquidation/takeover.ts#vaultAffords',
    find: 'minBig(0n, worth(exposure, market, exposure.positionLots, mustMark))',
    replace: 'worth(exposure, market, exposure.positionLots, mustMark)',
  },
  {
    id: 'slice-of-what-is-left',
    area: 'liquidation',
    file: 'engine/liquidation/liquidation.ts#sliceOf',
    find: 'BigInt(began) * BigInt(liquidationSlicePpm)',
    replace: 'BigInt(size) * BigInt(liquidationSlicePpm)',
  },
  {
    id: 'marks-move-in-one-step',
    area: 'timers',
    file: 'engine/timers.ts#runMarkTimers',
    find: 'context.nextStep();',
    replace: '',
  },
  {
    id: 'restored-debts-are-forgotten',
    area: 'snapshots',
    file: 'engine/snapshot/snapshot.ts#deriveRisk',
    find: 'if (subaccount.cash < 0n) state.markForRiskCheck(subaccount);',
    replace: '',
  },
  {
    id: 'remaining-lots-not-hashed',
    area: 'hashes',
    file: 'engine/chain-hash/hash-event.ts#hashOrderFilled',
    find: 'hash.num(remaining);',
    replace: '',
  },
  {
    id: 'page-restarts-within-a-moment',
    area: 'gateway',
    file: 'gateway/paging.ts#pageOfMoments',
    find: 'before + countAlike(shown.toReversed(), last)',
    replace: 'countAlike(shown.toReversed(), last)',
  },
  {
    id: 'day-ago-within-the-minute',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.closeBefore',
    find: 'floorTo(atUs, MINUTE_US)',
    replace: 'atUs',
  },
  {
    id: 'profit-without-funding',
    area: 'feeds',
    file: 'gateway/feeds/feed-records.ts#FeedRecords.fill',
    find: 'side.exposure + side.funding - side.fee',
    replace: 'side.exposure - side.fee',
  },
];
