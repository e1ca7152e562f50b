/** Arguments of the HTTP client: unsigned requests and feed subscriptions. */
import type { RequestOf } from '../contract/endpoints.ts';

export type SignedEndpoint =
  | 'submitOrder'
  | 'submitOrders'
  | 'transfer'
  | 'updateDelegates'
  | 'updateSigners'
  | 'updateMargin';
type Optional<T, Keys extends keyof T> = Omit<T, Keys> & Partial<Pick<T, Keys>>;

/** A signed request whose nonces and signatures the client fills in. */
export type Unsigned<E extends SignedEndpoint> = E extends 'submitOrders'
  ? { readonly orders: readonly Optional<RequestOf<'submitOrder'>, 'nonce' | 'signatures'>[] }
  : Optional<RequestOf<Exclude<E, 'submitOrders'>>, 'nonce' | 'signatures'>;

export interface FeedParams {
  /** For public sources; absent: all markets. */
  readonly symbols?: readonly string[];
  /** For private sources. */
  readonly account?: string;
  /** Absent: all subaccounts, for the owner. */
  readonly subaccountIndices?: readonly number[];
}
