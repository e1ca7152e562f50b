/**
 * Who may do what. The token's account may act for itself; nobody holds a delegation until
 * delegates exist, so a caller who is not the account is refused in the endpoint's own words.
 */
import { MESSAGES, type ErrorReply } from '../contract/messages.ts';
import type { Address, SubaccountId } from '../num/units.ts';
import type { Caller, Context } from './context.ts';
import type { SignedRequest } from './ports.ts';
import { RequestError } from './request-error.ts';

/** The caller, or the refusal of a request without a token. */
export function mustCaller(caller: Caller | null): Caller {
  if (caller === null) throw new RequestError(MESSAGES.missingToken);
  return caller;
}

/** The caller must be this account. */
export function mustOwn(caller: Caller | null, account: Address, refusal: ErrorReply): void {
  if (mustCaller(caller).account !== account) throw new RequestError(refusal);
}

/** The owner's signature (quorum 1) must be on the request, unless the exchange trusts its callers. */
export function mustBeSigned(context: Context, owner: Address, request: SignedRequest): void {
  if (context.signatures === 'trust') return;
  if (!context.signatures.signersOf(request).includes(owner)) {
    throw new RequestError(MESSAGES.invalidSignature);
  }
}

/** The subaccount, which exists once it was credited. */
export function mustSubaccount(context: Context, account: Address, index: number): SubaccountId {
  const id = context.engine.subaccountIdOf(account, index);
  if (id === undefined) throw new RequestError(MESSAGES.invalidSubaccountIndex);
  return id;
}
