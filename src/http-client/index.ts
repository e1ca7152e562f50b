/** `orrery/client`: the API as a typed client over HTTP. */
export {
  eip1193Signer,
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
export type { FeedParams, Unsigned } from './requests.ts';
