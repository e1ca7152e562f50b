/** A host with this contract, as the fuzzer drives it: requests for accounts whose wallets it has, and simulation control. */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Address } from '../../num/units.ts';

export interface HostReply {
  readonly status: number;
  /** The record, or the error's text. */
  readonly body: unknown;
}

export type SimVerb = 'deposit' | 'withdraw' | 'oracle' | 'mark' | 'funding' | 'clock';

export interface TwinHost {
  /** `account` null: what anyone may read. */
  call(
    endpoint: EndpointId,
    request: Readonly<Record<string, unknown>>,
    account: Address | null,
  ): Promise<HostReply>;
  sim(verb: SimVerb, fields: Readonly<Record<string, unknown>>): Promise<HostReply>;
}
