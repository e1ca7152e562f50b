/** `orrery/strategy`: what a strategy file imports. */
export {
  choice,
  decimal,
  defineStrategy,
  flag,
  integer,
  number,
  type ParametersOf,
  type ParameterSpecs,
  type StrategyDefinition,
} from './definition.ts';
export type {
  BarUpdate,
  BookUpdate,
  FillUpdate,
  FundingUpdate,
  Level,
  MarketTerms,
  OrderIntent,
  OrderUpdate,
  Rounding,
  Strategy,
  StrategyContext,
  TradeUpdate,
} from './strategy.ts';
export { MatcherError, type MatcherClient } from '../gateway/matcher-client.ts';
export { formatDecimal, parseDecimal, type Decimal } from '../num/decimal.ts';
