/**
 * Money in, out and across: deposits, withdrawals and transfers. Each movement is recorded on
 * both sides it has.
 */
import { MAX_QUANTA, quanta, type MarketId, type Quanta } from '../../num/units.ts';
import type { Deposit, Transfer, Withdraw } from '../commands.ts';
import { isExpired } from '../orders/expiry.ts';
import type { Outcome } from '../rejections.ts';
import { withdrawable } from '../risk/margin.ts';
import type { State } from '../state.ts';
import type { TransferView } from '../views.ts';
import { credit } from './ledger.ts';
import type { Subaccount } from './subaccount.ts';
import { hashNonceUsed } from '../hash.ts';

export function deposit(state: State, command: Deposit): Outcome {
  const known = state.accounts.findSubaccount(command.account, command.subaccountIndex);
  if (known !== undefined && known.role !== 'user' && known.role !== 'insurance') {
    return 'transfer_not_allowed';
  }
  if (command.amount <= 0n) return 'amount_not_positive';
  if (state.supply + command.amount > MAX_QUANTA) return 'amount_exceeds_exchange_limit';
  const to = state.accounts.open(command.account, command.subaccountIndex, state.nowUs);
  state.supply = quanta(state.supply + command.amount);
  to.netDeposits = quanta(to.netDeposits + command.amount);
  credit(state, to, command.amount, 'deposit');
  record(state, to, 'deposit', command.amount, null, null);
  return 'ok';
}

export function withdraw(state: State, command: Withdraw): Outcome {
  const from = state.accounts.findSubaccount(command.account, command.subaccountIndex);
  if (from === undefined) return 'subaccount_not_found';
  if (from.role !== 'user') return 'transfer_not_allowed';
  if (command.amount <= 0n) return 'amount_not_positive';
  if (command.amount > withdrawable(state, from)) return 'amount_exceeds_available';
  state.supply = quanta(state.supply - command.amount);
  from.netDeposits = quanta(from.netDeposits - command.amount);
  credit(state, from, quanta(-command.amount), 'withdrawal');
  record(state, from, 'withdrawal', command.amount, null, null);
  return 'ok';
}

export function transfer(state: State, command: Transfer): Outcome {
  if (command.market !== null && state.markets[command.market] === undefined) {
    return 'market_not_found';
  }
  const from = state.accounts.findSubaccount(command.from, command.fromIndex);
  if (from === undefined) return 'subaccount_not_found';
  if (isExpired(state.nowUs, command.expiresAtMs)) return 'request_expired';
  const signer = state.accounts.find(command.signer);
  if (signer === undefined || command.signer !== command.from) return 'transfer_not_allowed';
  const nonce = signer.nonces.check(null, command.nonce);
  if (nonce !== null) return nonce;
  const known = state.accounts.findSubaccount(command.to, command.toIndex);
  if (from.role !== 'user' || (known !== undefined && known.role !== 'user')) {
    return 'transfer_not_allowed';
  }
  if (known === from) return 'transfer_not_allowed';
  if (command.amount <= 0n) return 'amount_not_positive';
  // Every position is cross, so no market holds excess isolated margin.
  const available = command.market === null ? withdrawable(state, from) : 0n;
  if (command.amount > available) return 'amount_exceeds_available';

  signer.nonces.use(null, command.nonce);
  state.emit(hashNonceUsed, {
    kind: 'nonceUsed',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    account: signer.id,
    nonce: command.nonce,
  });
  const to = known ?? state.accounts.open(command.to, command.toIndex, state.nowUs);
  from.netDeposits = quanta(from.netDeposits - command.amount);
  to.netDeposits = quanta(to.netDeposits + command.amount);
  credit(state, from, quanta(-command.amount), 'transferOut');
  credit(state, to, command.amount, 'transferIn');
  record(state, from, 'transferOut', command.amount, to, command.market);
  record(state, to, 'transferIn', command.amount, from, command.market);
  return 'ok';
}

function record(
  state: State,
  subaccount: Subaccount,
  reason: TransferView['reason'],
  amount: Quanta,
  counterparty: Subaccount | null,
  market: MarketId | null,
): void {
  state.transfers.add({
    subaccount: subaccount.id,
    reason,
    amountQuanta: amount,
    counterparty: counterparty?.id ?? null,
    market,
    timeUs: state.nowUs,
    seq: state.seq,
  });
}
