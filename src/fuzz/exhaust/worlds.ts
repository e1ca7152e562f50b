/** Worlds: the operations that one exploration combines. All have the same opening. */
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
} as const satisfies Record<string, readonly OperationName[]>;

export type WorldName = keyof typeof WORLDS;

export const WORLD_NAMES = Object.keys(WORLDS) as readonly WorldName[];

export const operationsOf = (world: WorldName): readonly OperationName[] => WORLDS[world];
