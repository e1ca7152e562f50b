/** Self-trade prevention by account. Ends 0: incoming, 1: resting, 2: both. */
import type { AccountId } from '../../num/units.ts';
import type { SelfTradeMode } from '../config.ts';
import type { SetSelfTradeMode } from '../commands.ts';
import type { Outcome } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { hashSelfTradeModeChanged } from '../chain-hash/hash-event.ts';

export function selfTradeModeOf(state: ExchangeState, account: AccountId): SelfTradeMode {
  return state.accounts.get(account).selfTradeMode ?? state.config.selfTradeExpire;
}

export function setSelfTradeMode(state: State, command: SetSelfTradeMode): Outcome {
  const account = state.accounts.find(command.account);
  if (account === undefined) return { code: 'account_not_found' };
  account.selfTradeMode = command.mode;
  const { context } = state;
  context.emit(hashSelfTradeModeChanged, {
    kind: 'selfTradeModeChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    account: account.id,
    mode: command.mode,
  });
  return 'ok';
}
