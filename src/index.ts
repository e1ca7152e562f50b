/** The package's public face: the engine, its drivers, and the typed client. */
export { Exchange } from './engine/exchange.ts';
export type { Command } from './engine/commands.ts';
export type { ExchangeConfig, MarketSpec } from './engine/config.ts';
export type { EngineEvent, EventSink } from './engine/events.ts';
export type { Outcome } from './engine/refusals.ts';
export type { Engine, ExchangeView } from './engine/read/views.ts';
export { Gateway } from './gateway/gateway.ts';
export { InProcessClient } from './gateway/in-process-client.ts';
export {
  MatcherError,
  pagesOf,
  type MatcherClient,
  type PageOf,
} from './gateway/matcher-client.ts';
export {
  DEFAULT_EXCHANGE_CONFIG,
  DEFAULT_MARKETS,
  parseExchangeConfig,
  parseMarketSpec,
} from './gateway/market-config.ts';
export {
  ENDPOINTS,
  type EndpointId,
  type ListId,
  type RequestOf,
  type ResponseOf,
} from './contract/endpoints.ts';
export { FEEDS, FEED_METHODS, MAX_SUBSCRIPTIONS, type FeedSource } from './contract/feeds.ts';
export { JournalReader, JournalWriter } from './journal/format/frames.ts';
export { RecordedExchange } from './journal/replay/recorded-exchange.ts';
export { replay } from './journal/replay/replay.ts';
export { RandomStreams } from './virtual-time/rng.ts';
export { addressOfName, keccak } from './wallet/ethers-ports.ts';
