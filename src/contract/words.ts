/** Words of the API: the values of fields that have a fixed set. */

export const ORDER_TYPE_WORDS = [
  'unsupported',
  'limit',
  'twap',
  'takeProfit',
  'stopLoss',
  'trailingStop',
  'iceberg',
] as const;
/** A type that can be submitted. */
export type OrderWord = Exclude<(typeof ORDER_TYPE_WORDS)[number], 'unsupported'>;
export const ORDER_STATUS_WORDS = [
  'new',
  'partiallyFilled',
  'filled',
  'pending',
  'cancelled',
  'expired',
  'rejected',
] as const;
/** Why an order ended. */
export const END_REASON_WORDS = [
  'user',
  'expired',
  'iocRemainder',
  'postOnlyWouldCross',
  'selfTrade',
  'reduceOnly',
  'insufficientMargin',
  'priceBand',
  'ocoSibling',
  'parentCancelled',
  'positionClosed',
  'liquidation',
  'adl',
  'openInterest',
  'openOrders',
  'delisted',
  'noMarkPrice',
  'staleIndex',
  'halted',
] as const;
export const TRANSFER_WORDS = [
  'deposit',
  'withdrawal',
  'transferIn',
  'transferOut',
  'clsDeposit',
  'clsWithdrawal',
] as const;
export const MARKET_STATUS_WORDS = [
  'open',
  'postOnly',
  'reduceOnly',
  'cancelOnly',
  'halted',
  'delisted',
] as const;
export const MARK_SOURCE_WORDS = ['median', 'index', 'last', 'mid', 'external'] as const;
export const INDEX_SOURCE_WORDS = ['oracle', 'mid', 'external'] as const;
export const LIQUIDATION_STEPS = [
  'order',
  'takeover',
  'adl',
  'insurance',
  'shortfall',
  'delisting',
] as const;

export const CANDLE_INTERVALS = [
  '1m',
  '3m',
  '5m',
  '15m',
  '30m',
  '1h',
  '2h',
  '4h',
  '8h',
  '12h',
  '1d',
] as const;
