/**
 * Worlds: the operations that one exploration combines. All have the same opening; prepared worlds
 * begin some operations later (`preparations.ts`), where few more of them reach a rare rule.
 */
import type { OperationName } from './operations.ts';

/** `small` has a representative of each rule; the others go deeper into one part of the rules. */
export const WORLDS = {
  small: [
    ...['annBids', 'annBuys', 'annSweeps', 'annReduces', 'annBrackets', 'annTrails'],
    ...['annCancels', 'annExpires', 'bobBuys', 'bobSells', 'bobSlices', 'bobCancelsAll'],
    ...['catIcebergs', 'catCancelsX', 'xRises', 'xFalls', 'xCrashes', 'yCrashes', 'second'],
    ...['stale', 'annWithdraws', 'annDeposits', 'bobJoinsVault', 'catLeavesVault'],
    ...['bobAddsMargin', 'annGrants', 'catActsForAnn', 'xReduceOnly', 'xTightens', 'yDelists'],
  ],
  orders: [
    ...['annBids', 'annAsks', 'annBuys', 'annSweeps', 'annReduces', 'annExpires', 'annNames'],
    ...['annRepeats', 'annTriggers', 'annBrackets', 'annProtects', 'annTrails', 'annCancels'],
    ...['bobBuys', 'bobSells', 'bobSlices', 'bobCancelsAll', 'catPosts', 'catIcebergs'],
    ...['catBatches', 'catProtects', 'annEndsBoth', 'xRises', 'xFalls', 'second'],
  ],
  risk: [
    ...['annBids', 'annBuys', 'annSweeps', 'bobBuys', 'bobSells', 'catPosts', 'catCancelsX'],
    ...['catIsolatesX', 'annOwnMargin', 'xReturns', 'xDrops', 'xCrashes', 'xSoars', 'yFalls'],
    ...['yCrashes', 'ySoars', 'second', 'pause', 'stale', 'hour', 'annDeposits', 'catWithdraws'],
    ...['insured', 'bobBuysY', 'xHalts'],
  ],
  money: [
    ...['annDeposits', 'annWithdraws', 'catWithdraws', 'annPaysBob', 'bobJoinsVault'],
    ...['catLeavesVault', 'catTakesBobs', 'bobTakesExcess', 'bobAddsMargin', 'bobCutsMargin'],
    ...['annOwnMargin', 'annGrants', 'annRevokes', 'catActsForAnn', 'annSigners', 'bobSellsY'],
    ...['catBatches', 'xReduceOnly', 'xTightens', 'xOpenFees', 'yDelists', 'yFalls', 'xFalls'],
    ...['pause', 'bobSells'],
  ],
  frozen: [
    ...[
      'yFalls',
      'bobAddsMargin',
      'bobCutsMargin',
      'bobTakesExcess',
      'bobClosesY',
      'bobSellsSomeY',
    ],
    ...['catClosesY', 'catBuysY', 'catSellsY', 'catCancelsX', 'annReduces', 'annSweeps', 'bobBuys'],
    ...['xHalts', 'yHalts', 'yRecovers', 'xFalls', 'xCrashes', 'second', 'stale'],
    ...['catWithdraws', 'annWithdraws'],
  ],
  thin: [
    ...['annQuotes', 'annDumps', 'annAsks', 'annReduces', 'annBids', 'annCancels', 'annWithdraws'],
    ...['bobBuys', 'bobBuysLess', 'bobSells', 'bobSlices', 'catPosts', 'catIcebergs', 'xFalls'],
    ...['xRises', 'xDrops', 'xSinks', 'xHalts', 'second', 'stale'],
  ],
  vault: [
    ...['zTops', 'zReturns', 'zSinks', 'zHalts', 'catBuysZ', 'catSellsZ', 'danDeposits'],
    ...['danBuysZ', 'bobJoinsVault', 'catLeavesVault', 'xTightens', 'xSinks', 'xCrashes'],
    ...['xReturns', 'catPosts', 'pause', 'second', 'stale', 'annDeposits', 'yDelists'],
  ],
  debt: [
    ...['xHalts', 'yHalts', 'zReturns', 'zSinks', 'zHalts', 'xReturns', 'xDrops', 'yFalls'],
    ...['yGains', 'danSellsX', 'danSellsY', 'danBuysX', 'danDeposits', 'danWithdraws'],
    ...['catWithdraws', 'catPosts', 'bobBuysY', 'insured', 'second', 'hour', 'yDelists'],
  ],
  legs: [
    ...['annHangs', 'annReduces', 'annCancels', 'annEndsBoth', 'bobHits', 'bobSells', 'bobBuys'],
    ...['catBids', 'catCancelsX', 'xRises', 'xFalls', 'xReturns', 'second', 'pause', 'xHalts'],
    ...['annBids', 'annWithdraws'],
  ],
  quiet: [
    ...[
      'danBuysW',
      'danSellsW',
      'danWithdraws',
      'danDeposits',
      'catBidsW',
      'wQuotes',
      'wDeepens',
      'wTrades',
    ],
    ...['second', 'pause', 'minutes', 'longer', 'hour', 'wHalts', 'wReduceOnly', 'xRises'],
    ...['annBids'],
  ],
  turns: [
    ...['danIsolates', 'danBuysMoreX', 'danTurnsX', 'danSellsMoreX', 'danBuysX', 'danSellsX'],
    ...['danDeposits', 'danWithdraws', 'catQuotesBoth', 'catCancelsX', 'xRises', 'xFalls'],
    ...['xReturns', 'xTightens', 'second', 'pause'],
  ],
} as const satisfies Record<string, readonly OperationName[]>;

export type WorldName = keyof typeof WORLDS;

export const WORLD_NAMES = Object.keys(WORLDS) as readonly WorldName[];

export const operationsOf = (world: WorldName): readonly OperationName[] => WORLDS[world];
