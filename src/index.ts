/**
 * `orrery`: the exchange as a deterministic state machine, the gateway that speaks its API, and the
 * constructors of the engine's units. Engine values are integers: prices in ticks, sizes in lots,
 * money in 1e-6 of the collateral (`Quanta`), times in microseconds since 1970. The gateway takes
 * and returns decimal text. Guide: docs/ARCHITECTURE.md, rules: docs/RULES.md.
 * @packageDocumentation
 */
export { Exchange } from './engine/exchange.ts';
export type {
  AdvanceTime,
  CancelAll,
  CancelOrder,
  Command,
  CommandKind,
  Deposit,
  ListMarket,
  NewOrder,
  OrderType,
  PlaceOrder,
  PlaceOrders,
  SetIndex,
  SetMark,
  Side,
  Transfer,
  Withdraw,
} from './engine/commands.ts';
export type { ExchangeConfig, MarketSpec, MarketStatus, SelfTradeMode } from './engine/config.ts';
export type { EngineEvent, EventSink, OrderFilled, TradePrinted } from './engine/events.ts';
export { END_REASONS, REFUSALS } from './engine/refusals.ts';
export type { EndReason, Outcome, Refusal, RefusalCode } from './engine/refusals.ts';
export type {
  Engine,
  ExchangeView,
  InvariantViolation,
  MarginView,
  MarketView,
  OrderView,
  PositionView,
  SubaccountView,
} from './engine/read/views.ts';
export { InvariantError } from './base/assert.ts';
export {
  accountId,
  address,
  COLLATERAL_DECIMALS,
  durationUs,
  lots,
  marketId,
  MAX_PRICE_TICKS,
  MAX_QUANTA,
  orderId,
  ppb,
  ppm,
  PPM,
  priceTicks,
  quanta,
  seq,
  subaccountId,
  timeUs,
  tradeId,
} from './num/units.ts';
export type {
  AccountId,
  Address,
  DurationUs,
  Lots,
  MarketId,
  OrderId,
  Ppb,
  Ppm,
  PriceTicks,
  Quanta,
  Seq,
  SubaccountId,
  TimeUs,
  TradeId,
} from './num/units.ts';
export { notional } from './num/notional.ts';
export { formatDecimal, parseDecimal, type Decimal } from './num/decimal.ts';
export { formatDuration, formatTime, parseDuration, parseTime } from './num/time-text.ts';
export { Gateway } from './gateway/gateway.ts';
export type { Caller, GatewayDependencies, Reply } from './gateway/context.ts';
export { InProcessClient } from './gateway/in-process-client.ts';
export {
  MatcherError,
  pagesOf,
  type MatcherClient,
  type PageOf,
} from './gateway/matcher-client.ts';
export { DEFAULT_EXCHANGE_CONFIG, parseExchangeConfig } from './gateway/exchange-config.ts';
export { DEFAULT_MARKETS, parseMarketSpec, type MarketInput } from './gateway/market-config.ts';
export type { Parsed } from './gateway/parsed.ts';
export {
  ENDPOINTS,
  type EndpointId,
  type ListId,
  type RequestOf,
  type ResponseOf,
} from './contract/endpoints.ts';
export { FEEDS, FEED_METHODS, MAX_SUBSCRIPTIONS, type FeedSource } from './contract/feeds.ts';
export { RandomStreams, type RandomStream } from './virtual-time/rng.ts';
export { addressOfName, keccak } from './wallet/crypto-ports.ts';
