/**
 * Context of every handler: the exchange's views, the submit function, the caller and the ports.
 */
import type { Command } from '../engine/commands.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import type { Address, TimeUs } from '../num/units.ts';
import type { OrderIds } from './order-ids.ts';
import type { Keccak, SignatureVerifier } from './ports.ts';

/** Caller: the account of the token and the wallet that logged in. */
export interface Caller {
  readonly account: Address;
  readonly signer: Address;
}

export interface GatewayDependencies {
  readonly engine: ExchangeView;
  /** Journals and applies a command; the time is the gateway's `nowUs`. */
  readonly submit: (command: Command) => Outcome;
  readonly nowUs: () => TimeUs;
  readonly keccak: Keccak;
  /** `trust`: signatures are accepted unverified. */
  readonly signatures: 'trust' | SignatureVerifier;
  /** Request limit of the host, per second and account; by default none. */
  readonly requestsPerSecond?: number | null;
  /** The contract's order ids; by default those of trust mode. */
  readonly ids?: OrderIds;
}

export interface Context extends GatewayDependencies {
  readonly ids: OrderIds;
}

/** `body` is the record; the error text if the status is not 200. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  /** Pagination of a list reply. */
  readonly page?: PageInfo;
}

export interface PageInfo {
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
  /** Start of retention (ms) if the requested range begins before it; otherwise null. */
  readonly keptSinceMs: number | null;
}
