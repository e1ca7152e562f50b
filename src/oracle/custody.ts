/** Deposits, withdrawals and transfers (R-5.9, R-5.10, R-9.3, D-1, D-37). */
import type { Deposit, SetSelfTradeMode, Transfer, Withdraw } from '../engine/commands.ts';
import type { LedgerReason } from '../engine/events.ts';
import { isLate, useAccountNonce } from './authority.ts';
import { isolatedExcess, withdrawable } from './margin.ts';
import { checkNonce } from './nonces.ts';
import { exempt, leavesToShortfall, moveToShortfall, payShortfallAtOnce } from './shortfall.ts';
import { burnFault, changeShares, mintFault, sharesBurned, sharesMinted } from './vault.ts';
import {
  book,
  bookMargin,
  findAccount,
  findSub,
  INSURANCE,
  isOwn,
  openSub,
  emit,
  VAULT,
  type Answer,
  type Sub,
  type World,
} from './world.ts';

/** Bound on all money, so that it fits 64 bits. */
const MOST_MONEY = 2n ** 62n;

export function deposit(world: World, c: Deposit): Answer {
  const known = findSub(world, c.account, c.subaccountIndex);
  if (isOwn(world, c.account) && known?.id !== INSURANCE) return 'transfer_not_allowed';
  if (c.amount <= 0n) return 'amount_not_positive';
  if (world.supply + c.amount > MOST_MONEY) return 'amount_exceeds_exchange_limit';
  const to = openSub(world, c.account, c.subaccountIndex);
  world.supply += c.amount;
  to.netDeposits += c.amount;
  book(world, to, c.amount, 'deposit');
  note(world, to, { reason: 'deposit', amount: c.amount });
  if (to.id === INSURANCE) payShortfallAtOnce(world, c.amount);
  else exempt(world, to, c.amount);
  return 'ok';
}

export function withdraw(world: World, c: Withdraw): Answer {
  const from = findSub(world, c.account, c.subaccountIndex);
  if (from === undefined) return 'subaccount_not_found';
  if (from.system) return 'transfer_not_allowed';
  if (c.amount <= 0n) return 'amount_not_positive';
  if (c.amount > withdrawable(world, from)) return 'amount_exceeds_available';
  const { free, left } = leavesToShortfall(world, from, c.amount);
  from.exempt -= free;
  world.supply -= c.amount - left;
  from.netDeposits -= c.amount;
  book(world, from, left - c.amount, 'withdrawal');
  moveToShortfall(world, from, left);
  note(world, from, { reason: 'withdrawal', amount: c.amount });
  return 'ok';
}

export function transfer(world: World, c: Transfer): Answer {
  if (c.market !== null && world.markets[c.market] === undefined) return 'market_not_found';
  const from = findSub(world, c.from, c.fromIndex);
  if (from === undefined) return 'subaccount_not_found';
  if (isLate(world, c.expiresAtMs)) return 'request_expired';
  // The debited account signs; only the vault pays its signer, a holder of its shares.
  const signs = from.id === VAULT ? c.to : c.from;
  const signer = findAccount(world, c.signer);
  if (signer === undefined || c.signer !== signs) return 'transfer_not_allowed';
  const nonce = checkNonce(signer.nonces, null, c.nonce);
  if (nonce !== 'ok') return nonce;
  const to = findSub(world, c.to, c.toIndex);
  if (!mayGo(world, c, from, to)) return 'transfer_not_allowed';
  if (c.amount <= 0n) return 'amount_not_positive';
  const vault = vaultFault(world, c, from, to);
  if (vault !== 'ok') return vault;
  const available =
    c.market === null ? withdrawable(world, from) : isolatedExcess(world, from, c.market);
  if (c.amount > available) return 'amount_exceeds_available';

  useAccountNonce(world, world.accounts.indexOf(signer), null, c.nonce);
  // Shares are priced before the money moves.
  const minted = to?.id === VAULT ? sharesMinted(world, c.amount) : 0n;
  const burned = from.id === VAULT ? sharesBurned(world, c.amount) : 0n;
  const credited = openSub(world, c.to, c.toIndex);
  const [out, into] = wordsOf(from, credited);
  from.netDeposits -= c.amount;
  credited.netDeposits += c.amount;
  if (c.market === null) book(world, from, -c.amount, out);
  else bookMargin(world, from, c.market, -c.amount, out);
  book(world, credited, c.amount, into);
  const { amount, market } = c;
  note(world, from, { reason: out, amount, counterparty: credited.id, market });
  note(world, credited, { reason: into, amount, counterparty: from.id, market });
  if (minted > 0n) changeShares(world, from, minted, c.amount);
  if (burned > 0n) changeShares(world, credited, -burned, -c.amount);
  return 'ok';
}

/** no key signs for this address. */
const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';

function mayGo(world: World, c: Transfer, from: Sub, to: Sub | undefined): boolean {
  if (c.to === ZERO_ADDRESS) return false;
  if (from.system && from.id !== VAULT) return false;
  if (to === undefined ? isOwn(world, c.to) : to.system && to.id !== VAULT) return false;
  if (from.id === VAULT && (to?.id === VAULT || c.market !== null)) return false;
  return from !== to || c.market !== null;
}

function vaultFault(world: World, c: Transfer, from: Sub, to: Sub | undefined): Answer {
  if (to?.id === VAULT) return mintFault(world, c.amount);
  if (from.id !== VAULT) return 'ok';
  return to === undefined ? 'vault_shares_insufficient' : burnFault(world, to, c.amount);
}

function wordsOf(from: Sub, to: Sub): readonly [LedgerReason, LedgerReason] {
  if (to.id === VAULT) return ['clsDeposit', 'clsDeposit'];
  if (from.id === VAULT) return ['clsWithdrawal', 'clsWithdrawal'];
  return ['transferOut', 'transferIn'];
}

/** each movement is recorded on both sides. */
function note(
  world: World,
  sub: Sub,
  movement: {
    readonly reason: LedgerReason;
    readonly amount: bigint;
    readonly counterparty?: number;
    readonly market?: number | null;
  },
): void {
  const { reason, amount, counterparty = null, market = null } = movement;
  world.movements.push({ sub: sub.id, reason, amount, counterparty, market });
}

/** Sets an account's mode. */
export function setSelfTradeMode(world: World, c: SetSelfTradeMode): Answer {
  const account = findAccount(world, c.account);
  if (account === undefined) return 'account_not_found';
  account.selfTrade = c.mode;
  const id = world.accounts.indexOf(account);
  emit(world, { kind: 'selfTradeModeChanged', account: id, mode: c.mode });
  return 'ok';
}
