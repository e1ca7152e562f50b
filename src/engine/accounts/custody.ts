/**
 * Deposits, withdrawals and transfers. Each movement is recorded on every
 * side that has an account. liquidation/shortfall-share.ts has the effect of the shortfall.
 */
import { address, MAX_QUANTA, quanta, type MarketId, type Quanta } from '../../num/units.ts';
import type { Deposit, Transfer, Withdraw } from '../commands.ts';
import type { Market } from '../market/market.ts';
import { logOperator } from '../operator-log.ts';
import { isExpired } from '../orders/expiry.ts';
import type { Outcome, Refusal } from '../refusals.ts';
import { creditInsuranceDeposit } from '../liquidation/insurance.ts';
import { isolatedExcess, withdrawable } from '../margin/margin.ts';
import { repayShortfall } from '../liquidation/shortfall.ts';
import { changeShares, sharesBurned, sharesMinted } from '../vault/vault.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import type { TransferView } from '../read/views.ts';
import { announceNonce } from './announce-nonce.ts';
import { creditMargin } from './isolated-ledger.ts';
import { credit } from './ledger.ts';
import { exemptDeposit, shareOfWithdrawal, useExemption } from '../liquidation/shortfall-share.ts';
import type { Subaccount } from './subaccount.ts';

/** No key signs for this address, so a transfer to it would be lost. */
const ZERO_ADDRESS = address(`0x${'0'.repeat(40)}`);

export function deposit(state: State, command: Deposit): Outcome {
  const known = state.accounts.findSubaccount(command.account, command.subaccountIndex);
  if (known === undefined ? state.isSystem(command.account) : !takesDeposits(known)) {
    return { code: 'transfer_not_allowed' };
  }
  if (command.amount <= 0n) return { code: 'amount_not_positive' };
  if (state.supply + command.amount > MAX_QUANTA) return { code: 'amount_exceeds_exchange_limit' };
  const to = state.accounts.open(command.account, command.subaccountIndex, state.nowUs);
  state.supply = quanta(state.supply + command.amount);
  to.netDeposits = quanta(to.netDeposits + command.amount);
  if (to === state.insurance) creditInsuranceDeposit(state, command.amount);
  else {
    credit(state, to, command.amount, 'deposit');
    exemptDeposit(state, to, command.amount);
  }
  record(state, to, { reason: 'deposit', amount: command.amount });
  logOperator(state, 'deposit', {
    subaccount: to.id,
    amountQuanta: command.amount,
    detail: command.reference,
  });
  return 'ok';
}

/** Users may deposit, and so may the insurance account, which needs initial funds. */
const takesDeposits = ({ role }: Subaccount): boolean => role === 'user' || role === 'insurance';

/** A withdrawal bears its share of the shortfall: the full amount is debited. */
export function withdraw(state: State, command: Withdraw): Outcome {
  const from = state.accounts.findSubaccount(command.account, command.subaccountIndex);
  if (from === undefined) return { code: 'subaccount_not_found' };
  if (from.role !== 'user') return { code: 'transfer_not_allowed' };
  if (command.amount <= 0n) return { code: 'amount_not_positive' };
  const availableQuanta = withdrawable(state, from);
  if (command.amount > availableQuanta) {
    return { code: 'amount_exceeds_available', availableQuanta };
  }
  const { exempt, share } = shareOfWithdrawal(state, from, command.amount);
  const paid = quanta(command.amount - share);
  state.supply = quanta(state.supply - paid);
  from.netDeposits = quanta(from.netDeposits - command.amount);
  useExemption(state, from, exempt);
  state.markForRiskCheck(from);
  credit(state, from, quanta(-paid), 'withdrawal');
  credit(state, from, quanta(-share), 'shortfall');
  repayShortfall(state, share);
  record(state, from, { reason: 'withdrawal', amount: command.amount });
  logOperator(state, 'withdraw', {
    subaccount: from.id,
    amountQuanta: command.amount,
    detail: command.reference,
  });
  return 'ok';
}

/**
 * A transfer. The debited account signs and its nonce is used. Only the vault pays its signer, a
 * holder of its shares. A transfer to the vault mints shares, one from it burns them. A
 * market as source releases excess isolated margin, also to the subaccount's own cash.
 */
export function transfer(state: State, command: Transfer): Outcome {
  const source = command.market === null ? null : state.markets[command.market];
  if (source === undefined) return { code: 'market_not_found' };
  const from = state.accounts.findSubaccount(command.from, command.fromIndex);
  if (from === undefined) return { code: 'subaccount_not_found' };
  if (isExpired(state, command.expiresAtMs)) return { code: 'request_expired' };
  const signer = state.accounts.find(command.signer);
  const pays = from === state.vault ? command.to : command.from;
  if (signer === undefined || command.signer !== pays) return { code: 'transfer_not_allowed' };
  const nonce = signer.nonces.check(null, command.nonce);
  if (nonce !== null) return nonce;
  const known = state.accounts.findSubaccount(command.to, command.toIndex);
  const refusal = partiesRefused(state, command, from, known);
  if (refusal !== null) return refusal;
  if (command.amount <= 0n) return { code: 'amount_not_positive' };

  const holder = from === state.vault ? known : from;
  let shares = 0n;
  if (known === state.vault || from === state.vault) {
    if (holder === undefined) return { code: 'vault_shares_insufficient' };
    const change =
      known === state.vault
        ? sharesMinted(state, command.amount)
        : sharesBurned(state, holder, command.amount);
    if (typeof change === 'object') return change;
    shares = known === state.vault ? change : -change;
  }
  const availableQuanta = availableFrom(state, from, source);
  if (command.amount > availableQuanta) {
    return { code: 'amount_exceeds_available', availableQuanta };
  }

  signer.nonces.use(null, command.nonce);
  announceNonce(state, signer, command.nonce);
  const to = known ?? state.accounts.open(command.to, command.toIndex, state.nowUs);
  const kinds = movementOf(state, from, to);
  from.netDeposits = quanta(from.netDeposits - command.amount);
  to.netDeposits = quanta(to.netDeposits + command.amount);
  state.markForRiskCheck(from);
  if (source === null) credit(state, from, quanta(-command.amount), kinds.out);
  else creditMargin(state, from.exposure(source.id), -command.amount, kinds.out);
  credit(state, to, command.amount, kinds.in);
  const { amount, market } = command;
  record(state, from, { reason: kinds.out, amount, counterparty: to, market });
  record(state, to, { reason: kinds.in, amount, counterparty: from, market });
  if (holder !== undefined && shares !== 0n) {
    const paid = shares > 0n ? command.amount : quanta(-command.amount);
    changeShares(state, holder, shares, paid);
  }
  return 'ok';
}

/** Refuses pairs of accounts between which no transfer is allowed. */
function partiesRefused(
  state: ExchangeState,
  command: Transfer,
  from: Subaccount,
  to: Subaccount | undefined,
): Refusal | null {
  const refused: Refusal = { code: 'transfer_not_allowed' };
  if (command.to === ZERO_ADDRESS) return refused;
  if (from.role !== 'user' && from !== state.vault) return refused;
  if (to !== undefined && to.role !== 'user' && to !== state.vault) return refused;
  // System accounts have only subaccount 0.
  if (to === undefined && state.isSystem(command.to)) return refused;
  if (from === state.vault && (to === state.vault || command.market !== null)) return refused;
  return from === to && command.market === null ? refused : null;
}

function availableFrom(state: ExchangeState, from: Subaccount, source: Market | null): Quanta {
  if (source === null) return withdrawable(state, from);
  const exposure = from.exposures[source.id];
  return quanta(exposure === undefined ? 0n : isolatedExcess(from, exposure, source));
}

function movementOf(
  state: ExchangeState,
  from: Subaccount,
  to: Subaccount,
): { readonly out: TransferView['reason']; readonly in: TransferView['reason'] } {
  if (to === state.vault) return { out: 'clsDeposit', in: 'clsDeposit' };
  if (from === state.vault) return { out: 'clsWithdrawal', in: 'clsWithdrawal' };
  return { out: 'transferOut', in: 'transferIn' };
}

function record(
  state: ExchangeState,
  subaccount: Subaccount,
  entry: {
    readonly reason: TransferView['reason'];
    readonly amount: Quanta;
    readonly counterparty?: Subaccount;
    readonly market?: MarketId | null;
  },
): void {
  state.transfers.add({
    subaccount: subaccount.id,
    reason: entry.reason,
    amountQuanta: entry.amount,
    counterparty: entry.counterparty?.id ?? null,
    market: entry.market ?? null,
    timeUs: state.nowUs,
    seq: state.seq,
  });
}
