/** Recorded liquidity (DESIGN §6). */
import type { Market, Segment, World } from './world.ts';

export function noteTaken(_world: World, _market: Market, _segment: Segment, _size: bigint): void {
  throw new Error('not yet');
}
