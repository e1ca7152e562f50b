/** Bugs of a hostile examiner who had read the rules and the sources, and none of the tests. */
import type { SubtleBug } from './subtle-bug.ts';

export const EXAMINER_BUGS: readonly SubtleBug[] = [
  // A stop-loss with a limit far below the band fires: its remainder rests below the best bid.
  {
    id: 'stopped-leg-rests-all-the-same',
    area: 'matching',
    file: 'engine/orders/execute.ts#keepLeg',
    find: 'stopped || table.isIoc(slot) || fillableLots(table, slot, exposure) === 0',
    replace: 'table.isIoc(slot) || fillableLots(table, slot, exposure) === 0',
  },
  // Short 5, market frozen or `reduceOnly`: two plain bids for 4 each; the second must be refused.
  {
    id: 'reducing-bids-are-not-added-up',
    area: 'matching',
    file: 'engine/orders/admission.ts#onlyReduces',
    find: 'bidLots + lots <= -positionLots',
    replace: 'lots <= -positionLots',
  },
  // Isolated position in profit: send the ratio that it already has; its excess becomes cash.
  {
    id: 'same-ratio-releases-margin',
    area: 'money',
    file: 'engine/margin/margin-mode.ts#movedBy',
    find: 'marginPpm >= exposure.ownMarginPpm',
    replace: 'marginPpm > exposure.ownMarginPpm',
  },
  // During a shortfall deposit to insurance: what went to the shortfall counts in the hour's base.
  {
    id: 'repaid-shortfall-stays-in-insurance-base',
    area: 'money',
    file: 'engine/liquidation/insurance.ts#creditInsuranceDeposit',
    find: 'state.insuranceBase + amount - pays',
    replace: 'state.insuranceBase + amount',
  },
  // Short 2, then an ioc buy of 2 with attached legs: it fills and nothing is left to protect.
  {
    id: 'legs-of-filled-parent-need-no-position',
    area: 'groups',
    file: 'engine/orders/place-group.ts#Group.faultOf',
    find: 'conditional.leg && !conditional.parentLive',
    replace: 'conditional.leg && conditional.parent === null',
  },
  // The take-profit of a pair has fired and rests; its stop-loss fires and fills in part.
  {
    id: 'resting-sibling-keeps-its-cover',
    area: 'groups',
    file: 'engine/orders/protective-orders.ts#noteRelatives',
    find: 'if (sibling === null) return;',
    replace: 'if (sibling === null || !table.isWaiting(slot)) return;',
  },
  // A delegate uses nonce 9 of an account whose owner used up to 5; then the owner uses 9 too.
  {
    id: 'owner-repeats-nonce-of-delegate',
    area: 'nonces',
    file: 'engine/accounts/nonces.ts#NonceScope.check',
    find: 'delegate === null && delegates === null && this.isAbove(nonce)',
    replace: 'delegate === null && this.isAbove(nonce)',
  },
  // Two delegates; one updates margin with nonce 9, is revoked and granted again, and uses 8.
  {
    id: 'account-floor-only-after-last-delegate',
    area: 'nonces',
    file: 'engine/accounts/authority.ts#updateDelegate',
    find: 'account.nonces.revoke(delegate);',
    replace: 'if (left.length === 0) account.nonces.revoke(delegate);',
  },
  // The only market with a vault position is frozen over a whole minute; after the thaw no offers.
  {
    id: 'leave-timer-dies-in-a-freeze',
    area: 'vault',
    file: 'engine/vault/vault-leave.ts#runVaultLeave',
    find: 'state.vaultLeaveUs = floorTo(state.nowUs, MINUTE_US) + MINUTE_US;',
    replace:
      'if (!state.market(exposure.market).frozen) state.vaultLeaveUs = floorTo(state.nowUs, MINUTE_US) + MINUTE_US;',
  },
  // The vault has a position, mark and index differ: deposit to it and read the history of shares.
  {
    id: 'snapshot-at-the-minting-value',
    area: 'vault',
    file: 'engine/vault/vault.ts#sharesValue',
    find: "vaultValue(state, 'burn')",
    replace: "vaultValue(state, 'mint')",
  },
  // A large position is sold in slices: the second is a share of what is left, not of the start.
  {
    id: 'slices-of-a-liquidation-shrink',
    area: 'liquidation',
    file: 'engine/liquidation/liquidation.ts#sliceOf',
    find: 'ceilDivBig(BigInt(began) * BigInt(liquidationSlicePpm), BigInt(PPM))',
    replace: 'ceilDivBig(BigInt(size) * BigInt(liquidationSlicePpm), BigInt(PPM))',
  },
  // Read positions, let a fill change the order of holders in the same instant, read them again.
  {
    id: 'adl-ranks-of-an-earlier-command',
    area: 'liquidation',
    file: 'engine/liquidation/adl-ranks.ts#AdlRanks.ranking',
    find: 'state.nowUs - rankedUs < ageUs',
    replace: 'state.nowUs - rankedUs <= ageUs',
  },
  // A settlement with a rate, then an interval without any sample: the rate must become 0.
  {
    id: 'funding-rate-outlives-its-samples',
    area: 'timers',
    file: 'engine/funding/funding.ts#runFundingTimer',
    find: 'market.premiumCount === 0 && market.fundingRatePpb === 0',
    replace: 'market.premiumCount === 0',
  },
  // A `median` market with a basis freezes for a minute; at the next index its EMA takes it all.
  {
    id: 'frozen-seconds-age-the-ema',
    area: 'timers',
    file: 'engine/pricing/basis-ema.ts#resumeEma',
    find: 'market.emaSecond = floorDivInt(state.nowUs, SECOND_US);',
    replace: '',
  },
  // Restore while a liquidation pauses between slices, then advance time beyond the pause.
  {
    id: 'restored-pause-of-another-id',
    area: 'snapshots',
    file: 'engine/snapshot/snapshot.ts#deriveRisk',
    find: 'state.liquidationPauses.push(exposure.liquidationResumesUs, subaccount.id)',
    replace: 'state.liquidationPauses.push(exposure.liquidationResumesUs, exposure.market)',
  },
  // Restore with a recorded mark, halt the market and open it before the next mark: still frozen.
  {
    id: 'time-of-recorded-mark-not-saved',
    area: 'snapshots',
    file: 'engine/market/market.ts#Market.archive',
    find: 'this.markAtUs = timeUs(io.int(this.markAtUs));',
    replace: '',
  },
  // Holding a position: post-only and reduce-only orders that both rest give the same chain hash.
  {
    id: 'post-only-hashes-as-reduce-only',
    area: 'hashes',
    file: 'engine/chain-hash/hash-command.ts#typeAndFlags',
    find: 'reduceOnly ? 32 : 0',
    replace: 'reduceOnly ? 16 : 0',
  },
  // Advance time across an order's expiry: the hash has the time of the command, not of the timer.
  {
    id: 'timer-hashes-time-of-command',
    area: 'hashes',
    file: 'engine/command-context.ts#CommandContext.hashing',
    find: 'hash.intNum(-1, nowUs);',
    replace: 'hash.intNum(-1, this.commandUs);',
  },
  // A taker fills twice, then once more in the same instant: read its fills with limit 1 to the end.
  {
    id: 'cursor-counts-entries-of-another-command',
    area: 'gateway',
    file: 'gateway/paging.ts#pageOfMoments',
    find: 'last.timeUs === timeUs && last.seq === seq ? alike : 0',
    replace: 'last.timeUs === timeUs ? alike : 0',
  },
  // Cancel three orders in one instant, the newest first; list orders with limit 1 to the end.
  {
    id: 'page-ends-within-an-instant',
    area: 'gateway',
    file: 'engine/read/order-reader.ts#findOrders',
    find: 'taken < limit || page.updatedAtUs(row) === lastUs',
    replace: 'taken < limit',
  },
  // Funding with a rate is settled at the end of a candle: that candle must have the new rate.
  {
    id: 'rate-of-the-last-instant-is-late',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.rateAt',
    find: 'change.timeUs <= atUs',
    replace: 'change.timeUs < atUs',
  },
  // The first trades of a market are a bar: the summary's price of 24 hours ago is the bar's open.
  {
    id: 'first-price-is-close-of-bar',
    area: 'candles',
    file: 'engine/market/candles.ts#Candles.addBar',
    find: 'this.firstTradeTicks ??= bar.openTicks;',
    replace: 'this.firstTradeTicks ??= bar.closeTicks;',
  },
  // Subscribe to a book; an order comes and goes between two messages; then a level changes.
  {
    id: 'unsent-delta-takes-a-number',
    area: 'feeds',
    file: 'gateway/feeds/book-feed.ts#BookFeed.delta',
    find: 'if (changed.bid.length === 0 && changed.ask.length === 0) return null;',
    replace:
      'if (changed.bid.length === 0 && changed.ask.length === 0) { this.lastSeq = market.bookSeq; return null; }',
  },
  // A leg rests while its parent is filled in part; another order closes the position: it waits.
  {
    id: 'leg-that-waits-again-is-not-published',
    area: 'feeds',
    file: 'gateway/feeds/changes.ts#Changes.note',
    find: "case 'orderPending':",
    replace: '',
  },
];
