/** Bounds of `/sim`: a request beyond them is refused before it becomes a command. */
import { MESSAGES } from '../../contract/messages.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import type { HostReply } from './twin-host.ts';

const MAX_RATE_PPB = 1_000_000_000;

/** Null if the command is applied. The text of a value beyond its bounds is not compared. */
export function controlRefusal(view: ExchangeView, command: Command): HostReply | null {
  if (command.kind === 'withdraw' && view.subaccountsOf(command.account).length === 0) {
    const { status, message } = MESSAGES.accountNotFound;
    return { status, body: message };
  }
  return isBeyond(view, command) ? { status: 400, body: null } : null;
}

function isBeyond(view: ExchangeView, command: Command): boolean {
  if (command.kind === 'settleFunding') return Math.abs(command.ratePpb) > MAX_RATE_PPB;
  if (command.kind !== 'setIndex' && command.kind !== 'setMark') return false;
  const market = view.markets().find(({ id }) => id === command.market);
  const { priceTicks: ticks } = command;
  return market !== undefined && (ticks < 1 || ticks > market.spec.maxPriceTicks);
}
