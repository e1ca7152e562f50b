/** The commands that open a new exchange, such as its markets. */
import type { Command } from '../engine/commands.ts';
import type { Outcome } from '../engine/refusals.ts';

/** Throws if an opening command was refused: the exchange would lack what was asked for. */
export function mustOpen(command: Command, outcome: Outcome): void {
  if (outcome === 'ok') return;
  const what = command.kind === 'listMarket' ? `the market ${command.spec.symbol}` : command.kind;
  throw new Error(`a new exchange refuses ${what}: ${outcome.code}`);
}
