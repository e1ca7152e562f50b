/** Authority to act for an account; the gateway has verified the signatures. */
import type { AccountId, Address } from '../../num/units.ts';
import type { UpdateDelegate, UpdateSigners } from '../commands.ts';
import { hashDelegateChanged, hashSignersChanged } from '../chain-hash/hash-event.ts';
import { isExpired } from '../orders/expiry.ts';
import type { Outcome, Refusal } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import type { Account } from './accounts.ts';
import { announceNonce } from './announce-nonce.ts';
import type { Subaccount } from './subaccount.ts';

/** Max delegates of a subaccount at a time. */
export const MAX_DELEGATES = 16;
export const MAX_SIGNERS = 16;
const ZERO = '0x0000000000000000000000000000000000000000';

export function updateDelegate(state: State, command: UpdateDelegate): Outcome {
  const account = state.accounts.find(command.account);
  if (account === undefined || state.isSystem(command.account))
    return { code: 'account_not_found' };
  const { subaccountIndex } = command;
  const id = account.subaccounts.get(subaccountIndex);
  if (id === undefined) return { code: 'subaccount_not_found' };
  if (isExpired(state, command.expiresAtMs)) return { code: 'request_expired' };
  const nonce = account.nonces.check(null, command.nonce);
  if (nonce !== null) return nonce;
  const granted = account.delegates.get(subaccountIndex) ?? [];
  const known = state.accounts.find(command.delegate);
  const holds = known !== undefined && granted.includes(known.id);
  if (command.delegated) {
    if (command.delegate === command.account || command.delegate === ZERO) {
      return { code: 'delegate_not_allowed' };
    }
    if (state.isSystem(command.delegate)) return { code: 'delegate_not_allowed' };
    if (!holds && granted.length >= MAX_DELEGATES) {
      return { code: 'too_many_delegates', maxDelegates: MAX_DELEGATES };
    }
  }

  account.nonces.use(null, command.nonce);
  announceNonce(state, account, command.nonce);
  if (holds === command.delegated) return 'ok';
  const delegate = state.accounts.intern(command.delegate).id;
  if (command.delegated) account.delegates.set(subaccountIndex, [...granted, delegate]);
  else {
    const left = granted.filter((other) => other !== delegate);
    if (left.length > 0) account.delegates.set(subaccountIndex, left);
    else account.delegates.delete(subaccountIndex);
    // Unsent orders that the delegate has signed stay invalid if it is granted again.
    state.subaccount(id).orderNonces.revoke(delegate);
    account.nonces.revoke(delegate);
  }
  const { context } = state;
  context.emit(hashDelegateChanged, {
    kind: 'delegateChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    account: account.id,
    subaccountIndex,
    delegate,
    delegated: command.delegated,
  });
  return 'ok';
}

/** Why these may not be the signers of an account. */
export function signersRefusal(signers: readonly Address[], quorum: number): Refusal | null {
  if (signers.length < 1 || signers.length > MAX_SIGNERS) {
    return { code: 'signers_count', maxSigners: MAX_SIGNERS };
  }
  if (new Set(signers).size !== signers.length || signers.includes(ZERO as Address)) {
    return { code: 'signers_not_distinct' };
  }
  const isInRange = Number.isSafeInteger(quorum) && quorum >= 1 && quorum <= signers.length;
  return isInRange ? null : { code: 'quorum_out_of_range' };
}

export function updateSigners(state: State, command: UpdateSigners): Outcome {
  const account = state.accounts.find(command.account);
  if (account === undefined || state.isSystem(command.account))
    return { code: 'account_not_found' };
  if (isExpired(state, command.expiresAtMs)) return { code: 'request_expired' };
  const nonce = account.nonces.check(null, command.nonce);
  if (nonce !== null) return nonce;
  const { signers, quorum } = command;
  const refusal = signersRefusal(signers, quorum);
  if (refusal !== null) return refusal;
  account.nonces.use(null, command.nonce);
  announceNonce(state, account, command.nonce);
  account.signers = [...signers];
  account.quorum = quorum;
  const { context } = state;
  context.emit(hashSignersChanged, {
    kind: 'signersChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    account: account.id,
    signers: account.signers,
    quorum,
  });
  return 'ok';
}

/** The signer set in force. */
export function signersOf(account: Account): readonly Address[] {
  return account.signers ?? [account.address];
}

/** Whether this identity (null: the owner's signers) may act for the subaccount now. */
export function actsFor(
  state: ExchangeState,
  subaccount: Subaccount,
  delegate: AccountId | null,
): boolean {
  if (delegate === null) return true;
  return state.accounts.get(subaccount.account).hasDelegate(subaccount.index, delegate);
}
