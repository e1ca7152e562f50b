/**
 * One resampled future: blocks of the journal's own price moves in random order, each shifted so
 * that it starts at the price where the block before it ended. All markets move together, so
 * their correlation stays. No account acts; timers (funding, expiry, liquidation) run as always.
 */
import type { Command } from '../../engine/commands.ts';
import { marketId, timeUs } from '../../num/units.ts';
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
    const offsets: number[] = [];
    const offsetOf = (market: number, before: number | null | undefined): number | null => {
      if (before === null || before === undefined) return offsets[market] ?? null;
      return (offsets[market] ??= (now[market] ?? before) - before);
    };
    for (const [market, levels] of (books[block] ?? []).entries()) {
      const offset = levels.length === 0 ? null : offsetOf(market, first.before[market]);
      if (offset === null) continue;
      const book: Command = {
        kind: 'tapeSnapshot',
        timeUs: timeUs(at),
        market: marketId(market),
        levels,
      };
      yield shifted(book, market, offset, at);
    }
    for (let i = 0; i < blockMoves && made < horizon; i++, made++) {
      const move: PriceMove | undefined = moves[block * blockMoves + i];
      if (move === undefined) break;
      at += move.waitUs;
      const { market } = move.command;
      const offset = offsetOf(market, move.before[market]) ?? 0;
      yield shifted(move.command, market, offset, at);
      const after = moves[block * blockMoves + i + 1]?.before[market];
      if (after !== null && after !== undefined) now[market] = after + offset;
    }
  }
}

function shifted(command: Command, market: number, offset: number, at: number): Command {
  const moved = withPrices(command, market, (ticks) => Math.max(1, ticks + offset));
  return { ...moved, timeUs: timeUs(at) };
}
