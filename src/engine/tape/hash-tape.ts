/** Tape commands in the chain hash (engine/chain-hash), and the codes of their literals. */
import { codeOf } from '../../base/code-of.ts';
import type { RollingHash } from '../../base/rolling-hash.ts';
import type { BarFill, BarPath, TapeBar, TapeL3, TapeL3Action, TapeLevel } from '../commands.ts';

/** Indices are in the hash and in the journal; append-only. */
export const BAR_PATHS: readonly BarPath[] = ['nearest', 'worstCase', 'stopFirst'];
export const BAR_FILLS: readonly BarFill[] = ['touch', 'through'];
export const TAPE_L3_ACTIONS: readonly TapeL3Action[] = ['add', 'reduce', 'remove', 'execute'];

export function hashLevels(hash: RollingHash, levels: readonly TapeLevel[]): void {
  hash.int(levels.length);
  for (const level of levels) {
    hash.intNum(level.side === 'bid' ? level.priceTicks : -level.priceTicks, level.lots);
  }
}

export function hashBar(hash: RollingHash, bar: TapeBar): void {
  hash.intNum(21, bar.timeUs);
  hash.ints(bar.market, bar.openTicks, bar.highTicks);
  hash.int(bar.lowTicks);
  hash.intNum(bar.closeTicks, bar.volumeLots);
  hash.intNum(bar.quoteTicks, bar.depthLots);
  hash.int(bar.spreadTicks);
  hash.int(codeOf(BAR_PATHS, bar.path) * 8 + codeOf(BAR_FILLS, bar.fill));
}

export function hashL3(hash: RollingHash, order: TapeL3): void {
  hash.int(22);
  hash.num(order.timeUs);
  hash.int(order.market);
  hash.int(codeOf(TAPE_L3_ACTIONS, order.action));
  hash.num(order.ref);
  hash.int(order.side === 'bid' ? order.priceTicks : -order.priceTicks);
  hash.num(order.lots);
}
