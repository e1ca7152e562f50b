/**
 * Access rights (R-9.1, R-9.3, R-9.5a, R-9.6), by the endpoint table's `access`, `signedBy` and
 * `refusal`.
 *
 * A token names an account and the wallet that logged in for it. A wallet that is a current signer
 * has the owner's rights. A wallet that is a current delegate acts for the subaccounts delegated to
 * it. An owner who is a delegate of another account may name that account.
 */
import { ENDPOINTS, type EndpointId, type RefusalWords } from '../contract/endpoints.ts';
import {
  marginUnauthorized,
  MESSAGES,
  unauthorizedQuery,
  type ErrorReply,
} from '../contract/messages.ts';
import type { AccountId, Address, SubaccountId, TimeUs } from '../num/units.ts';
import type { Caller, Context } from './context.ts';
import type { SignedRequest } from './ports.ts';
import { RequestError } from './request-error.ts';

const REFUSALS: Readonly<Record<RefusalWords, (account: Address) => ErrorReply>> = {
  notDelegated: () => MESSAGES.notDelegated,
  delegationNotAllowed: () => MESSAGES.delegationNotAllowed,
  unauthorized: () => MESSAGES.unauthorized,
  unauthorizedQuery,
  signersNotAuthorized: () => MESSAGES.signersNotAuthorized,
  marginUnauthorized,
};

/** Rights of a caller on one account: all as its owner, otherwise those delegated to a wallet. */
export interface Rights {
  readonly owner: boolean;
  /** Wallet that uses delegated rights; the owner's wallet if none are needed. */
  readonly wallet: Address;
  /** True if the caller may act for this subaccount; null: for any subaccount. */
  readonly may: (index: number | null) => boolean;
}

const ANY = (): boolean => true;

/** 401 unless the token's wallet is a current signer or delegate of its account (R-9.5a). */
export function mustToken(context: Pick<Context, 'engine'>, caller: Caller | null): Caller {
  if (caller === null) throw new RequestError(MESSAGES.missingToken);
  const rights = rightsOf(context, caller, caller.account);
  if (!rights.may(null)) throw new RequestError(MESSAGES.invalidToken);
  return caller;
}

export function rightsOf(
  { engine }: Pick<Context, 'engine'>,
  caller: Caller,
  account: Address,
): Rights {
  const signs = engine.signersOf(caller.account).signers.includes(caller.signer);
  if (account === caller.account && signs) return { owner: true, wallet: account, may: ANY };
  const acts = signs || account === caller.account;
  const wallet = signs ? caller.account : caller.signer;
  return {
    owner: false,
    wallet,
    may: (index) => {
      if (!acts) return false;
      if (index !== null) return engine.isDelegate(account, index, wallet);
      return engine.delegatesOf(account).some((held) => engine.addressOf(held.delegate) === wallet);
    },
  };
}

/** The caller's rights if they cover endpoint and subaccount (null: any); else throws. */
export function mustAct(
  context: Pick<Context, 'engine'>,
  endpoint: EndpointId,
  caller: Caller,
  account: Address,
  index: number | null,
): Rights {
  const { access, refusal } = ENDPOINTS[endpoint];
  const rights = rightsOf(context, caller, account);
  if (access === 'owner' ? !rights.owner : !rights.may(index)) {
    throw new RequestError(REFUSALS[refusal](account));
  }
  return rights;
}

/**
 * Signer of a request: null for the owner's signers with their quorum, otherwise the delegate's
 * account. In trust mode the caller's own rights replace signatures.
 */
export function mustBeSigned(
  context: Context,
  endpoint: EndpointId,
  rights: Rights,
  of: { readonly account: Address; readonly index: number | null },
  request: SignedRequest,
): AccountId | null {
  const { account, index } = of;
  const { engine, signatures } = context;
  const byDelegate = ENDPOINTS[endpoint].signedBy === 'delegate';
  if (signatures === 'trust') {
    return rights.owner ? null : (engine.accountIdOf(rights.wallet) ?? null);
  }
  const signed = signatures.signersOf(request);
  const { signers, quorum } = engine.signersOf(account);
  if (signed.filter((wallet) => signers.includes(wallet)).length >= quorum) return null;
  const delegate = byDelegate
    ? signed.find((wallet) => index !== null && engine.isDelegate(account, index, wallet))
    : undefined;
  const id = delegate === undefined ? undefined : engine.accountIdOf(delegate);
  if (id === undefined) throw new RequestError(MESSAGES.invalidSignature);
  return id;
}

/** The account of a wallet, which exists after its first deposit (D-1). */
export function mustAccount({ engine }: Pick<Context, 'engine'>, account: Address): AccountId {
  const id = engine.accountIdOf(account);
  // A wallet that is a delegate has an id without a deposit.
  if (id === undefined || !engine.hasSubaccounts(account)) {
    throw new RequestError(MESSAGES.accountNotFound);
  }
  return id;
}

/** The subaccount, which exists after its first credit. */
export function mustSubaccount(
  context: Pick<Context, 'engine'>,
  account: Address,
  index: number,
): SubaccountId {
  const id = context.engine.subaccountIdOf(account, index);
  if (id !== undefined) return id;
  mustAccount(context, account);
  throw new RequestError(MESSAGES.invalidSubaccountIndex);
}

/** As `mustSubaccount`; null for a wallet that never deposited, which reads as empty (D-1). */
export function subaccountOrEmpty(
  context: Pick<Context, 'engine'>,
  account: Address,
  index: number,
): SubaccountId | null {
  return context.engine.hasSubaccounts(account) ? mustSubaccount(context, account, index) : null;
}

/** Now, unless a part of the request has expired. */
export function mustBeInTime(context: Context, ...expiresAtMs: readonly bigint[]): TimeUs {
  const nowUs = context.nowUs();
  if (expiresAtMs.some((at) => at * 1000n < BigInt(nowUs))) {
    throw new RequestError(MESSAGES.requestExpired);
  }
  return nowUs;
}
