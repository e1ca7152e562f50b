/**
 * State of an exchange together with the context of the command being applied. Rules that emit
 * events or leave work for the end of the command are functions over both; every other function
 * takes `ExchangeState` alone and cannot see the context.
 */
import { CommandContext } from './command-context.ts';
import { ExchangeState } from './exchange-state.ts';

/** @internal */
export class State extends ExchangeState {
  readonly context = new CommandContext(this);
  /** Disables the fast path of bars, for testing it. */
  playsBarsInFull = false;
}
