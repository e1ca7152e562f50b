/**
 * One resampled future: blocks of the journal's own price moves in random order, each shifted so
 * that it starts at the price where the block before it ended. All markets move together, so
 * their correlation stays. Nobody else acts; timers (funding, expiry, liquidation) run as always.
 */
import type { Command } from '../../engine/commands.ts';
import { timeUs } from '../../num/units.ts';
import type { RandomStream } from '../../virtual-time/rng.ts';
import { withPrices } from './edit.ts';
import type { PriceMove, PriceMoves } from './price-moves.ts';

/** Commands of a future of `horizon` moves from a time and prices on. */
export function* resampledFuture(
  { moves, books, blockMoves }: PriceMoves,
  horizon: number,
  nowUs: number,
  prices: readonly (number | null)[],
  random: RandomStream,
): Generator<Command> {
  const now = [...prices];
  let at = nowUs;
  const blocks = Math.max(1, Math.floor(moves.length / blockMoves));
  for (let made = 0; made < horizon;) {
    const block = random.below(blocks);
    const first = moves[block * blockMoves];
    if (first === undefined) return;
    const offsets = now.map((price, i) => (price ?? 0) - (first.before[i] ?? price ?? 0));
    for (const [market, levels] of (books[block] ?? []).entries()) {
      if (levels.length === 0) continue;
      yield shifted(
        { kind: 'tapeSnapshot', timeUs: timeUs(at), market: market as never, levels },
        offsets,
        at,
      );
    }
    for (let i = 0; i < blockMoves && made < horizon; i++, made++) {
      const move: PriceMove | undefined = moves[block * blockMoves + i];
      if (move === undefined) break;
      at += move.waitUs;
      yield shifted(move.command, offsets, at);
      const after = moves[block * blockMoves + i + 1]?.before ?? move.before;
      for (const [market, price] of after.entries()) {
        if (price !== null) now[market] = price + (offsets[market] ?? 0);
      }
    }
  }
}

function shifted(command: Command, offsets: readonly number[], at: number): Command {
  const market = 'market' in command ? (command.market ?? 0) : 0;
  const offset = offsets[market] ?? 0;
  const moved = withPrices(command, market, (ticks) => Math.max(1, ticks + offset));
  return { ...moved, timeUs: timeUs(at) };
}
