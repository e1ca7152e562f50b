/** Bounds of `/sim`: a value beyond them is refused before it is a command, so it takes no place. */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeView } from '../../engine/read/views.ts';

const MAX_RATE_PPB = 1_000_000_000;

export function isBeyondControl(view: ExchangeView, command: Command): boolean {
  if (command.kind === 'settleFunding') return Math.abs(command.ratePpb) > MAX_RATE_PPB;
  if (command.kind !== 'setIndex' && command.kind !== 'setMark') return false;
  const market = view.markets().find(({ id }) => id === command.market);
  const { priceTicks: ticks } = command;
  return market !== undefined && (ticks < 1 || ticks > market.spec.maxPriceTicks);
}
