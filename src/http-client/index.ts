/**
 * `orrery/client`: the exchange's API as a typed client over HTTP and WebSocket. Requests and
 * replies have the fields of the contract, amounts as decimal text. Errors of the exchange are
 * `MatcherError`. Guide: docs/API.md.
 * @packageDocumentation
 */
export { UserError } from '../base/user-error.ts';
export { ClientError, NoAnswerError } from './client-error.ts';
export { eip1193Signer } from './eip1193-signer.ts';
export {
  HttpMatcherClient,
  type HttpClientOptions,
  type RequestSigner,
} from './http-matcher-client.ts';
export {
  MatcherError,
  pagesOf,
  type MatcherClient,
  type PageOf,
} from '../gateway/matcher-client.ts';
export type { EndpointId, ListId, RequestOf, ResponseOf } from '../contract/endpoints.ts';
export { FeedClient, type FeedOptions } from './feed-client.ts';
export { FeedError } from './feed.ts';
export type { FeedParams, Unsigned } from './requests.ts';
