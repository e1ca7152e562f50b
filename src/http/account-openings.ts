/**
 * A budget of new accounts and subaccounts by address (decision 0155). They are never removed, and
 * a transfer of any amount opens one, as does the first grant to a delegate. The budget counts by
 * address, since each account that is opened could open others.
 */
import type { EndpointId } from '../contract/endpoints.ts';
import { MESSAGES } from '../contract/messages.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import { Fields } from '../gateway/fields.ts';
import { RequestError } from '../gateway/request-error.ts';
import { TokenBuckets } from './token-buckets.ts';

const HOUR_US = 3_600_000_000;
const SECOND_US = 1_000_000;

export class AccountOpenings {
  private readonly buckets: TokenBuckets;
  private readonly nowUs: () => number;

  constructor(perHour: number, nowUs: () => number) {
    this.buckets = new TokenBuckets(perHour, HOUR_US);
    this.nowUs = nowUs;
  }

  /** Throws `RequestError` if the address has opened too many to open another one. */
  refuseBeyond(address: string): void {
    const waitUs = this.buckets.waitUs(address, 1, this.nowUs());
    if (waitUs === 0) return;
    throw new RequestError(MESSAGES.tooManyAccounts, Math.ceil(waitUs / SECOND_US));
  }

  count(address: string): void {
    this.buckets.takes(address, 1, this.nowUs());
  }
}

/** Whether a request opens an account or a subaccount if it succeeds. */
export function opensAccount(
  view: Pick<ExchangeView, 'accountIdOf' | 'subaccountIdOf'>,
  endpoint: EndpointId,
  input: unknown,
): boolean {
  if (endpoint !== 'transfer' && endpoint !== 'updateDelegates') return false;
  try {
    const fields = new Fields(input, Object.keys(Object(input) as object), false);
    if (endpoint === 'updateDelegates') {
      return (
        fields.boolean('delegated') && view.accountIdOf(fields.address('delegate')) === undefined
      );
    }
    const to = fields.address('accountTo');
    return view.subaccountIdOf(to, fields.subaccountIndex('subaccountIndexTo')) === undefined;
  } catch (error) {
    // The gateway refuses it with the same error.
    if (error instanceof RequestError) return false;
    throw error;
  }
}
