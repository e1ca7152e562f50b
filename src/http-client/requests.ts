/** What a program hands to the client over HTTP: requests that are not signed yet, and what of a feed it wants to hear. */
import type { RequestOf } from '../contract/endpoints.ts';

export type SignedEndpoint =
  | 'submitOrder'
  | 'submitOrders'
  | 'transfer'
  | 'updateDelegates'
  | 'updateSigners'
  | 'updateMargin';
type Optional<T, Keys extends keyof T> = Omit<T, Keys> & Partial<Pick<T, Keys>>;

/** A signed request whose nonces and signatures are left to the client. */
export type Unsigned<E extends SignedEndpoint> = E extends 'submitOrders'
  ? { readonly orders: readonly Optional<RequestOf<'submitOrder'>, 'nonce' | 'signatures'>[] }
  : Optional<RequestOf<Exclude<E, 'submitOrders'>>, 'nonce' | 'signatures'>;

export interface FeedParams {
  /** Of public sources; none means all markets. */
  readonly symbols?: readonly string[];
  /** Of private sources. */
  readonly account?: string;
  /** None means all, for the owner. */
  readonly subaccountIndices?: readonly number[];
}
