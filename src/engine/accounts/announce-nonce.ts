/** Emits that an account request used its nonce; orders report theirs in their own events. */
import { hashNonceUsed } from '../chain-hash/hash-event.ts';
import type { State } from '../state.ts';
import type { Account } from './accounts.ts';

export function announceNonce(state: State, account: Account, nonce: bigint): void {
  const { context } = state;
  context.emit(hashNonceUsed, {
    kind: 'nonceUsed',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    account: account.id,
    nonce,
  });
}
