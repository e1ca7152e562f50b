/** Bugs against rules, written from the rules and the sources before any of them was measured. */
import type { SubtleBug } from './subtle-bug.ts';

export const CONCEALED_BUGS: readonly SubtleBug[] = [
  {
    // a post-only bid at the best ask would cross.
    id: 'post-only-meets-the-touch',
    area: 'matching',
    file: 'engine/orders/admission.ts#wouldCross',
    find: 'opposite.price(level) <= price',
    replace: 'opposite.price(level) < price',
  },
  {
    // a long that passes to a new owner raises no open interest.
    id: 'interest-grows-on-one-side',
    area: 'matching',
    file: 'engine/orders/match.ts#raisesOpenInterestBeyondLimit',
    find: 'longGrowth(taker.positionLots, takerLots) + longGrowth(maker.positionLots, -takerLots)',
    replace:
      'Math.max(longGrowth(taker.positionLots, takerLots), longGrowth(maker.positionLots, -takerLots))',
  },
  {
    // waiting and resting orders share one limit.
    id: 'waiting-orders-have-their-own-limit',
    area: 'matching',
    file: 'engine/orders/admission.ts#pendingFault',
    find: "isFull(exposure, market) ? 'openOrders'",
    replace: "exposure.pendingOrders >= market.spec.maxOpenOrders ? 'openOrders'",
  },
  {
    // what a position can pay is part of its maintenance at the mark.
    id: 'payable-rate-from-the-index',
    area: 'money',
    file: 'engine/funding/funding.ts#payableRate',
    find: 'BigInt(maintenancePpm) * BigInt(mark)',
    replace: 'BigInt(maintenancePpm) * BigInt(index)',
  },
  {
    // only fewer than half of the samples give rate 0.
    id: 'half-of-the-samples-is-too-few',
    area: 'money',
    file: 'engine/funding/funding.ts#fundingRate',
    find: 'samples * 2 * config.sampleIntervalUs < config.intervalUs',
    replace: 'samples * 2 * config.sampleIntervalUs <= config.intervalUs',
  },
  {
    // a rebate that no fee covers is of the taker, not taken back from its maker.
    id: 'rebate-is-taken-back',
    area: 'money',
    file: 'engine/orders/fill.ts#runFill',
    find: 'creditMoney(state, takerOwner, net, LEDGER_CODES.fee)',
    replace: 'creditMoney(state, makerOwner, net, LEDGER_CODES.fee)',
  },
  {
    // only deposits since the shortfall began are exempt, up to their amount.
    id: 'all-deposits-are-exempt',
    area: 'money',
    file: 'engine/accounts/custody.ts#deposit',
    find: 'exemptDeposit(state, to, command.amount)',
    replace: 'exemptDeposit(state, to, to.netDeposits)',
  },
  {
    // realized profit is after all fees of the fill.
    id: 'fill-hides-the-liquidation-fee',
    area: 'money',
    file: 'engine/orders/fill.ts#emitFilled',
    find: 'fees.others ? plus(fees.protocol, fees.liquidation) : fees.protocol',
    replace: 'fees.protocol',
  },
  {
    // the cap is of initial less maintenance.
    id: 'funding-cap-of-three-quarters',
    area: 'money',
    file: 'engine/funding/funding.ts#fundingRate',
    find: 'Math.trunc((maintenance * 4) / 3)',
    replace: 'Math.trunc((maintenance * 3) / 4)',
  },
  {
    // the last slice may only be smaller.
    id: 'last-iceberg-slice-is-larger',
    area: 'groups',
    file: 'engine/orders/group-rules.ts#icebergRefusal',
    find: 'isLast ? size > shown : size !== shown',
    replace: '!isLast && size !== shown',
  },
  {
    // a pair stands by one parent.
    id: 'pair-of-two-parents',
    area: 'groups',
    file: 'engine/orders/group-rules.ts#mixedRefusal',
    find: "profit.parent === stop.parent ? null : { code: 'batch_parents_differ' }",
    replace: 'null',
  },
  {
    // the take-profit waits when the stop-loss fires.
    id: 'held-profit-is-not-rearmed',
    area: 'groups',
    file: 'engine/orders/triggers.ts#fire',
    find: 'coverOf(table, slot, conditional) > 0',
    replace: '!siblingFired && coverOf(table, slot, conditional) > 0',
  },
  {
    // a parent is an order of the same symbol.
    id: 'bracket-over-two-markets',
    area: 'groups',
    file: 'engine/orders/group-rules.ts#bracketRefusal',
    find: 'leg.market !== first.market || ',
    replace: '',
  },
  {
    // the distance is from the previous mark.
    id: 'distance-from-the-new-price',
    area: 'groups',
    file: 'engine/orders/triggers.ts#addDue',
    find: 'market.seenSource ?? source ?? 0',
    replace: 'source ?? 0',
  },
  {
    // each deposit locks all shares for 4 days.
    id: 'second-deposit-keeps-the-lock',
    area: 'vault',
    file: 'engine/vault/vault.ts#changeShares',
    find: 'endsUs > holder.lockupEndsAtUs',
    replace: 'state.nowUs >= holder.lockupEndsAtUs',
  },
  {
    // minting takes the reverse of paying out.
    id: 'haircut-by-side-alone',
    area: 'vault',
    file: 'engine/vault/vault.ts#priceAgainst',
    find: '(low ? -1 : 1)',
    replace: '(long ? -1 : 1)',
  },
  {
    // the vault buys at the lower of mark and index.
    id: 'vault-buys-at-the-mark',
    area: 'vault',
    file: 'engine/vault/vault-leave.ts#leavePrice',
    find: 'Math.min(mark, index)',
    replace: 'mark',
  },
  {
    // the size at the start decides on slices.
    id: 'slice-limit-of-what-is-left',
    area: 'liquidation',
    file: 'engine/liquidation/liquidation.ts#sliceOf',
    find: 'valueOf(state, exposure, began)',
    replace: 'valueOf(state, exposure, size)',
  },
  {
    // the largest notional is sold first.
    id: 'smallest-position-first',
    area: 'liquidation',
    file: 'engine/liquidation/liquidation.ts#byNotional',
    find: 'a.value > b.value ? -1 : 1',
    replace: 'a.value > b.value ? 1 : -1',
  },
  {
    // the house ranks last.
    id: 'house-ranks-with-the-losers',
    area: 'liquidation',
    file: 'engine/liquidation/adl.ts#rank',
    find: 'class: 3',
    replace: 'class: 1',
  },
  {
    // the hourly limit of a market may be lower.
    id: 'flat-debt-ignores-the-market-limit',
    area: 'liquidation',
    file: 'engine/liquidation/clearing.ts#settleFlatDebt',
    find: 'insuranceAllowance(state, market)',
    replace: 'insuranceAllowance(state, null)',
  },
  {
    // an hour without samples settles at rate 0.
    id: 'old-rate-outlives-an-empty-hour',
    area: 'timers',
    file: 'engine/funding/funding.ts#runFundingTimer',
    find: 'market.premiumCount === 0 && market.fundingRatePpb === 0',
    replace: 'market.premiumCount === 0',
  },
  {
    // the mark after a restore is that without it.
    id: 'ema-sample-not-saved',
    area: 'snapshots',
    file: 'engine/market/market.ts#Market.archive',
    find: 'this.emaSampleHalfTicks = io.int(this.emaSampleHalfTicks);',
    replace: '',
  },
  {
    // the limit of the hour outlives a restore.
    id: 'paid-insurance-not-saved',
    area: 'snapshots',
    file: 'engine/market/market.ts#Market.archive',
    find: 'this.insurancePaid = quanta(io.bigint(this.insurancePaid));',
    replace: '',
  },
  {
    // a read older than retention says so after a restore.
    id: 'dropped-candles-forgotten',
    area: 'snapshots',
    file: 'engine/market/candles.ts#Candles.archive',
    find: 'this.dropped = io.bool(this.dropped);',
    replace: 'io.bool(this.dropped);',
  },
  {
    // every field of an event is in the hash.
    id: 'side-of-trade-not-hashed',
    area: 'hashes',
    file: 'engine/chain-hash/hash-event.ts#hashTradePrinted',
    find: 'hash.intNum(price, size)',
    replace: 'hash.intNum(price, Math.abs(size))',
  },
  {
    // every field of an event is in the hash.
    id: 'index-of-mark-not-hashed',
    area: 'hashes',
    file: 'engine/chain-hash/hash-event.ts#hashMarkChanged',
    find: 'event.indexTicks ?? 0',
    replace: '0',
  },
  {
    // every field of an event is in the hash.
    id: 'reason-not-hashed',
    area: 'hashes',
    file: 'engine/chain-hash/hash-event.ts#hashOrderEnded',
    find: 'hash.intIntNum(statusCode, reasonCode, remaining)',
    replace: 'hash.intIntNum(statusCode, Math.sign(reasonCode), remaining)',
  },
  {
    // a delegate reads exactly its own subaccounts.
    id: 'delegate-sees-all-delegates',
    area: 'gateway',
    file: 'gateway/account.ts#getDelegates',
    find: '(index === null || at === index) && may(at)',
    replace: '(index === null || at === index) && may(index ?? 0)',
  },
  {
    // contract: the end of the range is in it.
    id: 'transfers-up-to-but-not-at',
    area: 'gateway',
    file: 'gateway/account.ts#getTransfers',
    find: "fields.int64('to') + 1n",
    replace: "fields.int64('to')",
  },
  {
    // the feeds say the status.
    id: 'status-is-no-news',
    area: 'feeds',
    file: 'gateway/feeds/changes.ts#Changes.note',
    find: "case 'marketStatusChanged':",
    replace: '',
  },
  {
    // R-5.3b: an index is stale when it is older than the limit, not at it.
    id: 'freeze-at-the-limit-of-age',
    area: 'timers',
    file: 'engine/pricing/freshness.ts#noteSourcePrice',
    find: 'state.nowUs + state.config.indexStaleUs + 1',
    replace: 'state.nowUs + state.config.indexStaleUs',
  },
  {
    // each timer runs at its own time.
    id: 'shortfall-waits-for-other-timers',
    area: 'timers',
    file: 'engine/timers.ts#nextExchangeTimerUs',
    find: 'Math.min(state.vaultSnapshotUs, state.shortfallDueUs, state.vaultLeaveUs)',
    replace: 'Math.min(state.vaultSnapshotUs, state.vaultLeaveUs)',
  },
  {
    // slice i+1 follows slice i, the last one, too.
    id: 'last-slice-is-never-shown',
    area: 'groups',
    file: 'engine/orders/slices.ts#nextSlice',
    find: 'id <= last',
    replace: 'id < last',
  },
  {
    // a resting reduce-only order holds no margin.
    id: 'reduce-only-maker-frees-margin',
    area: 'matching',
    file: 'engine/orders/match.ts#matchOrder',
    find: 'table.isReduceOnly(makerSlot) ? NONE : makerSlot',
    replace: 'makerSlot',
  },
  {
    // revoking raises the floor to the highest used nonce.
    id: 'revocation-closes-to-the-lowest',
    area: 'nonces',
    file: 'engine/accounts/nonces.ts#NonceWindow.highest',
    find: 'this.at(this.length - 1)',
    replace: 'this.at(0)',
  },
  {
    // a nonce is used once.
    id: 'lowest-nonce-in-second-place',
    area: 'nonces',
    file: 'engine/accounts/nonces.ts#NonceWindow.add',
    find: 'place > 0 && this.at(place - 1) > nonce',
    replace: 'place > 1 && this.at(place - 1) > nonce',
  },
  {
    // windows of delegates outlive a restore.
    id: 'windows-of-delegates-not-restored',
    area: 'snapshots',
    file: 'engine/accounts/nonces.ts#NonceScope.archive',
    find: 'if (count > 0) this.delegates = new Map();',
    replace: '',
  },
  {
    // an engine order stays near the settlement price.
    id: 'engine-sells-far-from-settlement',
    area: 'liquidation',
    file: 'engine/liquidation/liquidation-order.ts#engineLimit',
    find: 'Math.max(band, limit, near, 1)',
    replace: 'Math.max(band, limit, 1)',
  },
  {
    // the previous price outlives a restore.
    id: 'seen-source-not-saved',
    area: 'snapshots',
    file: 'engine/market/market.ts#Market.archive',
    find: 'this.seenSource = optionalTicks(io.optionalInt(this.seenSource));',
    replace: '',
  },
  {
    // a pause ends at its time after a restore, too.
    id: 'paused-liquidation-not-resumed',
    area: 'snapshots',
    file: 'engine/snapshot/snapshot.ts#deriveRisk',
    find: 'exposure.liquidationResumesUs > state.nowUs',
    replace: 'exposure.liquidationResumesUs < state.nowUs',
  },
  {
    // only what leaves the exchange leaves a part to the shortfall.
    id: 'isolated-margin-owes-the-shortfall',
    area: 'gateway',
    file: 'gateway/account.ts#getTransferMax',
    find: 'market === null ? context.engine.shortfallPart(id, amount) : 0n',
    replace: 'context.engine.shortfallPart(id, amount)',
  },
  {
    // a limit up to its maximum is allowed.
    id: 'largest-limit-is-refused',
    area: 'gateway',
    file: 'gateway/paging.ts#readLimit',
    find: 'limit > BigInt(max)',
    replace: 'limit >= BigInt(max)',
  },
  {
    // a trade at a bucket start is in that bucket.
    id: 'trade-at-the-minute-in-the-last-one',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.openMinute',
    find: 'nowUs < minutes.timeAt(minutes.length - 1) + MINUTE_US',
    replace: 'nowUs <= minutes.timeAt(minutes.length - 1) + MINUTE_US',
  },
  {
    // an update reports each change of an order.
    id: 'order-updates-repeat',
    area: 'feeds',
    file: 'gateway/feeds/changes.ts#Changes.takeOrdered',
    find: 'this.orders.clear();',
    replace: '',
  },
  {
    // a list has at most its limit.
    id: 'one-candle-too-many',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.fold',
    find: 'lastBucket - (limit - 1) * intervalUs',
    replace: 'lastBucket - limit * intervalUs',
  },
];
