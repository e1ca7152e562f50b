/**
 * `orrery/strategy`: the API of a strategy file. Prices and sizes of orders are decimal text,
 * numbers are for arithmetic, times are microseconds since 1970. A strategy runs the same in a
 * backtest and live. Guide: docs/BACKTESTING.md.
 * @packageDocumentation
 */
export {
  choice,
  decimal,
  defineStrategy,
  flag,
  integer,
  number,
  type ParametersOf,
  type ParameterSpecs,
  type Keeps,
  type StrategyDefinition,
} from './definition.ts';
export type {
  AccountUpdate,
  BarUpdate,
  BookUpdate,
  Cell,
  DataUpdate,
  FillUpdate,
  FundingUpdate,
  HistoryOptions,
  Level,
  LiquidationUpdate,
  MarketTerms,
  OrderIntent,
  OrderUpdate,
  PlotOptions,
  PriceUpdate,
  Rounding,
  Strategy,
  StrategyContext,
  TradeUpdate,
} from './strategy.ts';
export { fixedFraction, kelly, volatilityTarget } from './sizing.ts';
export { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
export { formatDecimal, parseDecimal, type Decimal } from '../num/decimal.ts';
