/** Delegates and signer sets (R-9.1, R-9.3, D-38), and nonces of requests other than orders. */
import type { UpdateDelegate, UpdateSigners } from '../engine/commands.ts';
import { checkNonce, closeWindow, takeNonce } from './nonces.ts';
import {
  findAccount,
  findSub,
  isOwn,
  must,
  openAccount,
  emit,
  type Account,
  type Answer,
  type World,
} from './world.ts';

const MOST_DELEGATES = 16;
const MOST_SIGNERS = 16;
const ZERO = `0x${'0'.repeat(40)}`;

/** Uses the nonce of a request and emits it. */
export function useAccountNonce(
  world: World,
  account: number,
  signer: number | null,
  nonce: bigint,
): void {
  takeNonce(must(world.accounts[account]).nonces, signer, nonce);
  emit(world, { kind: 'nonceUsed', account, nonce });
}

/** Whether a request of that expiry has expired. */
export const isLate = (world: World, expiresMs: bigint): boolean => world.now > expiresMs * 1000n;

/** System accounts have no signers and no delegates. */
const userAccount = (world: World, address: string): Account | undefined =>
  isOwn(world, address) ? undefined : findAccount(world, address);

export function updateDelegate(world: World, c: UpdateDelegate): Answer {
  const account = userAccount(world, c.account);
  if (account === undefined) return 'account_not_found';
  const sub = findSub(world, c.account, c.subaccountIndex);
  if (sub === undefined) return 'subaccount_not_found';
  if (isLate(world, c.expiresAtMs)) return 'request_expired';
  const nonce = checkNonce(account.nonces, null, c.nonce);
  if (nonce !== 'ok') return nonce;
  // D-38: only granting checks the delegate.
  const barred = c.delegate === c.account || c.delegate === ZERO || isOwn(world, c.delegate);
  if (c.delegated && barred) return 'delegate_not_allowed';
  const known = world.accounts.findIndex(({ address }) => address === c.delegate);
  const holds = known >= 0 && sub.delegates.includes(known);
  if (c.delegated && !holds && sub.delegates.length >= MOST_DELEGATES) return 'too_many_delegates';
  useAccountNonce(world, sub.account, null, c.nonce);
  if (c.delegated === holds) return 'ok';
  const delegate = openAccount(world, c.delegate);
  if (c.delegated) sub.delegates.push(delegate);
  else {
    sub.delegates.splice(sub.delegates.indexOf(delegate), 1);
    closeWindow(sub.nonces, delegate);
    closeWindow(account.nonces, delegate);
  }
  emit(world, {
    kind: 'delegateChanged',
    account: sub.account,
    subaccountIndex: sub.index,
    delegate,
    delegated: c.delegated,
  });
  return 'ok';
}

export function updateSigners(world: World, c: UpdateSigners): Answer {
  const account = userAccount(world, c.account);
  if (account === undefined) return 'account_not_found';
  if (isLate(world, c.expiresAtMs)) return 'request_expired';
  const nonce = checkNonce(account.nonces, null, c.nonce);
  if (nonce !== 'ok') return nonce;
  if (c.signers.length === 0 || c.signers.length > MOST_SIGNERS) return 'signers_count';
  // D-59: the zero address cannot sign.
  const isZero = c.signers.some((signer) => signer === ZERO);
  if (isZero || new Set(c.signers).size < c.signers.length) return 'signers_not_distinct';
  if (!Number.isSafeInteger(c.quorum) || c.quorum < 1 || c.quorum > c.signers.length) {
    return 'quorum_out_of_range';
  }
  const id = world.accounts.indexOf(account);
  useAccountNonce(world, id, null, c.nonce);
  account.signers = c.signers;
  account.quorum = c.quorum;
  emit(world, {
    kind: 'signersChanged',
    account: id,
    signers: c.signers.join(' '),
    quorum: c.quorum,
  });
  return 'ok';
}

/** A delegate acts only for the subaccount that was delegated to it. */
export const actsFor = (world: World, sub: number, delegate: number | null): boolean =>
  delegate === null || must(world.subs[sub]).delegates.includes(delegate);
