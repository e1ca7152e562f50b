/** `orrery/client`: the API as a typed client over HTTP. */
export { eip1193Signer } from './http/client/eip1193-signer.ts';
export {
  HttpMatcherClient,
  type HttpClientOptions,
  type RequestSigner,
} from './http/client/http-matcher-client.ts';
export {
  MatcherError,
  pagesOf,
  type MatcherClient,
  type PageOf,
} from './gateway/matcher-client.ts';
export type { EndpointId, ListId, RequestOf, ResponseOf } from './contract/endpoints.ts';
export { FeedClient, type FeedOptions } from './http/client/feed-client.ts';
export type { FeedParams, Unsigned } from './http/client/requests.ts';
