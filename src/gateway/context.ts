/**
 * What every handler gets: the exchange's views, the one way to change it, who calls, and the ports.
 */
import type { Command } from '../engine/commands.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import type { Address, TimeUs } from '../num/units.ts';
import type { OrderIds } from './order-ids.ts';
import type { Keccak, SignatureVerifier } from './ports.ts';

/** Who calls: the account of the token, and the wallet that logged in. */
export interface Caller {
  readonly account: Address;
  readonly signer: Address;
}

export interface GatewayDependencies {
  readonly engine: ExchangeView;
  /** Journals and applies; the time is the gateway's `nowUs`. */
  readonly submit: (command: Command) => Outcome;
  readonly nowUs: () => TimeUs;
  readonly keccak: Keccak;
  /** `trust`: signatures are taken as given. Else they are verified. */
  readonly signatures: 'trust' | SignatureVerifier;
  /** Requests per second and account that the host admits; none are limited unless given. */
  readonly requestsPerSecond?: number | null;
  /** The contract's ids of orders; those of trust unless given. */
  readonly ids?: OrderIds;
}

export interface Context extends GatewayDependencies {
  readonly ids: OrderIds;
}

/** `body` is the record, or the error text when the status is not 200. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  /** Of a list that was answered. */
  readonly page?: PageInfo;
}

export interface PageInfo {
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
  /** Since when entries are kept, in ms, when the request reaches further back; null when it is answered whole. */
  readonly keptSinceMs: number | null;
}
