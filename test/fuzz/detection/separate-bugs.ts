/** Subtle bugs by an author who had read the rules and the sources, and nothing of the fuzzer. */
import type { SubtleBug } from './subtle-bug.ts';

export const SEPARATE_BUGS: readonly SubtleBug[] = [
  // Long 5 with a resting reduce-only ask of 5; a sell of 10 flips to short 5: the ask stays.
  {
    id: 'flip-keeps-reduce-only-orders',
    area: 'matching',
    file: 'engine/orders/close-reduce-only.ts#closeReduceOnly',
    find: '!hasTurned(positionBefore, exposure.positionLots)',
    replace: 'exposure.positionLots !== 0',
  },
  // Maker long 5 rests an ask of 10, the index goes stale, a short 10 buys 10: all 10 are filled.
  {
    id: 'frozen-fill-flips-the-maker',
    area: 'matching',
    file: 'engine/orders/match.ts#matchOrder',
    find: 'Math.min(size, takerReducible, makerReducible)',
    replace: 'Math.min(size, takerReducible)',
  },
  // Long 5 sends a reduce-only sell of 8 with a limit into bids of 8: 5 fill and the other 3 rest.
  {
    id: 'rest-of-a-reduce-only-taker-rests',
    area: 'matching',
    file: 'engine/orders/match.ts#matchOrder',
    find: "if (reducible === 0) return 'reduceOnly';",
    replace: 'if (reducible === 0) return null;',
  },
  // An isolated position of 7 lots with an indivisible margin closes 3: cash gets a quantum more.
  {
    id: 'partial-close-releases-margin-rounded-up',
    area: 'money',
    file: 'engine/margin/isolated-margin.ts#planIsolated',
    find: 'floorDivBig(margin * BigInt(closed), BigInt(size))',
    replace: 'ceilDivBig(margin * BigInt(closed), BigInt(size))',
  },
  // An order with an originator fee opens a position: GET positions shows fees without that fee.
  {
    id: 'position-fees-leave-out-the-originator',
    area: 'money',
    file: 'engine/accounts/settle-fill.ts#settleFill',
    find: 'plus(exposure.feesMoney, totalFee(fees))',
    replace: 'plus(exposure.feesMoney, fees.protocol)',
  },
  // An order with an originator fee whose requirement uses all free collateral is accepted.
  {
    id: 'admission-forgets-the-originator-fee',
    area: 'money',
    file: 'engine/margin/margin.ts#affordsOrder',
    find: 'ppm(Math.max(spec.makerFeePpm, spec.takerFeePpm, 0) + originatorFeePpm)',
    replace: 'ppm(Math.max(spec.makerFeePpm, spec.takerFeePpm, 0))',
  },
  // A limit of 10 with a stopLoss fills 4 at once and rests 6: the stop never fires for these 4.
  {
    id: 'legs-miss-the-first-fill-of-a-resting-parent',
    area: 'groups',
    file: 'engine/orders/place-group.ts#Group.conditionalOf',
    find: 'parent === NONE ? this.firstSettled : Math.abs(this.state.orders.settled(parent))',
    replace: 'parent === NONE ? this.firstSettled : 0',
  },
  // An iceberg of four slices: cancelling the pending second one ends the third and fourth too.
  {
    id: 'cancelled-pending-slice-ends-later-ones',
    area: 'groups',
    file: 'engine/orders/end.ts#notifyRelatives',
    find: "table.orderType(slot) === 'iceberg' && status !== 'filled' && !waited",
    replace: "table.orderType(slot) === 'iceberg' && status !== 'filled'",
  },
  // A batch of limit, takeProfit, stopLoss, limit: it is a bracket and refused, not a mixed batch.
  {
    id: 'pair-attaches-in-a-longer-batch',
    area: 'groups',
    file: 'engine/orders/group-rules.ts#groupKind',
    find: 'third === undefined || orders.length > 3',
    replace: 'third === undefined',
  },
  // A delegate's margin update uses nonce 10; revoke and grant it again: nonce 5 is accepted.
  {
    id: 'revocation-keeps-account-nonces-open',
    area: 'nonces',
    file: 'engine/accounts/authority.ts#updateDelegate',
    find: 'account.nonces.revoke(delegate);',
    replace: '',
  },
  // A delegate places an order with nonce 7, above all of the owner's: the owner uses 7 again.
  {
    id: 'owner-reuses-a-nonce-of-its-delegate',
    area: 'nonces',
    file: 'engine/accounts/nonces.ts#NonceScope.check',
    find: 'delegate === null && delegates === null && this.isAbove(nonce)',
    replace: 'delegate === null && this.isAbove(nonce)',
  },
  // The vault took over a position, mark and index differ, a holder's snapshot at 00:00: usdValue.
  {
    id: 'shares-are-shown-at-the-minting-value',
    area: 'vault',
    file: 'engine/vault/vault.ts#sharesValue',
    find: "vaultValue(state, 'burn')",
    replace: "vaultValue(state, 'mint')",
  },
  // The vault's only position is frozen at a whole minute, then thaws: it is never offered again.
  {
    id: 'vault-stops-offering-after-a-freeze',
    area: 'vault',
    file: 'engine/vault/vault-leave.ts#runVaultLeave',
    find: 'state.vaultLeaveUs = floorTo(state.nowUs, MINUTE_US) + MINUTE_US;',
    replace:
      'if (!state.market(exposure.market).frozen) { state.vaultLeaveUs = floorTo(state.nowUs, MINUTE_US) + MINUTE_US; }',
  },
  // Open a long, let the mark move, withdraw the maximum, let the index fall: no liquidation.
  {
    id: 'withdrawal-keeps-the-old-liquidation-bound',
    area: 'liquidation',
    file: 'engine/accounts/custody.ts#withdraw',
    find: 'state.markForRiskCheck(from);',
    replace: '',
  },
  // A position of 150,000 USD below maintenance: after two slices the rest is sold in one order.
  {
    id: 'slices-end-when-the-rest-is-small',
    area: 'liquidation',
    file: 'engine/liquidation/liquidation.ts#sliceOf',
    find: 'valueOf(state, exposure, began)',
    replace: 'valueOf(state, exposure, size)',
  },
  // Within the pause after a slice the price recovers and falls again: no sale until its end.
  {
    id: 'pause-outlives-its-liquidation',
    area: 'liquidation',
    file: 'engine/liquidation/endangered.ts#stopLiquidating',
    find: 'exposure.liquidationResumesUs = timeUs(0);',
    replace: '',
  },
  // Halt a market, open it 10 s later, and send no index for a minute: it does not freeze.
  {
    id: 'reopened-market-never-gets-stale',
    area: 'timers',
    file: 'engine/pricing/freshness.ts#thawAfterHalt',
    find: 'market.freezeDueUs = dueUs;',
    replace: '',
  },
  // Quotes off the index, a stale index for minutes, then an index: the EMA counts the frozen time.
  {
    id: 'frozen-seconds-count-in-the-ema',
    area: 'timers',
    file: 'engine/pricing/basis-ema.ts#resumeEma',
    find: 'market.emaSecond = floorDivInt(state.nowUs, SECOND_US);',
    replace: '',
  },
  // Two sell stops at 95 and 90, mark 100, restore a snapshot, mark 88: the one at 90 fires first.
  {
    id: 'snapshot-without-the-last-trigger-source',
    area: 'snapshots',
    file: 'engine/market/market.ts#Market.archive',
    find: 'this.seenSource = optionalTicks(io.optionalInt(this.seenSource));',
    replace: '',
  },
  // Restore in the pause of a liquidation and advance 30 s without an index: no second slice.
  {
    id: 'restored-exchange-forgets-pauses',
    area: 'snapshots',
    file: 'engine/snapshot/snapshot.ts#deriveRisk',
    find: 'state.liquidationPauses.push(exposure.liquidationResumesUs, subaccount.id);',
    replace: '',
  },
  // Rest an order, restore a snapshot, GET book: sequence_number is 0 until the next change.
  {
    id: 'snapshot-without-the-sequence-of-the-book',
    area: 'snapshots',
    file: 'engine/snapshot/snapshot.ts#archiveHistory',
    find: 'market.bookSeq = seq(io.int(market.bookSeq));',
    replace: '',
  },
  // The same resting order, post-only or reduce-only: both give one chain hash of the command.
  {
    id: 'reduce-only-is-hashed-as-post-only',
    area: 'hashes',
    file: 'engine/chain-hash/hash-command.ts#typeAndFlags',
    find: '(ioc ? 8 : 0) | (postOnly ? 16 : 0) | (reduceOnly ? 32 : 0)',
    replace: '(ioc ? 8 : 0) | (postOnly ? 16 : 0) | (reduceOnly ? 16 : 0)',
  },
  // An index given as 100 or as 100.0: the price reads differ, the chain hash does not.
  {
    id: 'text-of-the-index-is-not-hashed',
    area: 'hashes',
    file: 'engine/chain-hash/hash-command.ts#hashCommand',
    find: 'hash.text(command.text);',
    replace: '',
  },
  // At one instant subaccount 0, then 1 deposits into the vault; history by pages of 1 loses one.
  {
    id: 'share-history-in-no-order-at-equal-times',
    area: 'gateway',
    file: 'gateway/account.ts#getClsHistory',
    find: 'b.timeUs - a.timeUs || b.seq - a.seq',
    replace: 'b.timeUs - a.timeUs',
  },
  // Cancel orders 5, 4, 3 at one instant; GET orders with limit 1: 5 is on no page.
  {
    id: 'order-page-cuts-an-instant',
    area: 'gateway',
    file: 'engine/read/order-reader.ts#findOrders',
    find: 'taken < limit || page.updatedAtUs(row) === lastUs',
    replace: 'taken < limit',
  },
  // Place a takeProfit and a stopLoss as a pair: their ocoGroupIds differ.
  {
    id: 'pair-is-named-by-the-other-order',
    area: 'gateway',
    file: 'gateway/encode.ts#pairOf',
    find: 'order.sibling.orderId < order.orderId ? order.sibling : order',
    replace: 'order.sibling',
  },
  // Funding settles at 01:00 with a new rate: the candle that ends at 01:00 shows the old rate.
  {
    id: 'candle-misses-the-rate-at-its-end',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.rateAt',
    find: 'change.timeUs <= atUs',
    replace: 'change.timeUs < atUs',
  },
  // Trade at 00:00:10, GET summary a day later at 00:00:30: the trade is still in the volume.
  {
    id: 'summary-counts-the-minute-before-a-day',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.wholeFrom',
    find: 'ceilTo(fromUs, MINUTE_US)',
    replace: 'floorTo(fromUs, MINUTE_US)',
  },
  // Fill an iceberg's shown slice exactly, so that no level changes; the next delta has a gap.
  {
    id: 'book-feed-skips-an-unsent-number',
    area: 'feeds',
    file: 'gateway/feeds/book-feed.ts#BookFeed.delta',
    find: 'if (changed.bid.length === 0 && changed.ask.length === 0) return null;',
    replace:
      'if (changed.bid.length === 0 && changed.ask.length === 0) { this.lastSeq = market.bookSeq; return null; }',
  },
  // Set the index of a market with an external mark: subscribers of price get no update.
  {
    id: 'index-alone-updates-no-price-feed',
    area: 'feeds',
    file: 'gateway/feeds/changes.ts#Changes.note',
    find: "case 'oracleSet':",
    replace: '',
  },
];
