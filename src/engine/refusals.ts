/**
 * Reasons why a command is not executed, in the order in which they are checked.
 *
 * A *refusal* leaves no record, uses no nonce and emits no event. It is the command's outcome; the
 * gateway maps its code to the contract's text. A *rejection* is an order that was admitted and
 * then ended at once: it has a record with status `rejected`, uses its nonce, and its `reason` is
 * one of the end reasons below.
 */
import type { Lots, Ppm, PriceTicks, Quanta, TimeUs } from '../num/units.ts';
import type { OrderType } from './commands.ts';

/**
 * Refusal codes in precedence order: the first that holds is the outcome. The value is the
 * number of the code in the chain hash: stable, never reused.
 */
const NUMBERS = {
  batch_empty: 18,
  batch_too_large: 19,
  batch_nonces_not_increasing: 20,
  market_not_found: 0,
  account_not_found: 1,
  subaccount_not_found: 2,
  request_expired: 4,
  not_delegated: 5,
  nonce_used: 6,
  nonce_too_low: 7,
  client_id_in_use: 8,
  symbol_already_listed: 57,
  market_delisted: 67,
  market_terms_immutable: 68,
  market_spec_invalid: 58,
  too_many_markets: 59,
  inverse_market: 66,
  funding_source_not_external: 62,
  funding_rate_out_of_range: 63,
  index_not_fresh: 64,
  impact_needs_levels: 73,
  tape_level_invalid: 65,
  price_not_positive: 9,
  price_off_tick: 70,
  price_too_high: 10,
  price_outside_band: 69,
  index_source_not_oracle: 60,
  mark_source_not_external: 61,
  quantity_zero: 11,
  quantity_off_lot: 71,
  quantity_below_minimum: 12,
  quantity_above_maximum: 13,
  flags_conflict: 14,
  originator_fee_too_high: 15,
  originator_missing: 16,
  originator_not_allowed: 17,
  period_not_allowed: 21,
  period_not_positive: 22,
  trailing_percent_not_allowed: 23,
  trailing_percent_off_step: 72,
  trailing_percent_out_of_range: 24,
  trigger_price_not_allowed: 25,
  trigger_price_not_positive: 26,
  parent_not_allowed: 27,
  leg_not_reduce_only: 28,
  iceberg_ioc: 29,
  batch_types_mixed: 30,
  batch_symbols_differ: 31,
  batch_sides_differ: 32,
  batch_prices_differ: 33,
  batch_quantities_differ: 34,
  batch_periods_differ: 35,
  batch_second_pair: 37,
  batch_parents_differ: 36,
  order_not_found: 3,
  transfer_not_allowed: 41,
  amount_not_positive: 38,
  vault_deposit_too_small: 51,
  vault_shares_insufficient: 52,
  vault_shares_locked: 53,
  vault_not_priced: 54,
  vault_value_not_positive: 55,
  vault_shares_zero: 56,
  amount_exceeds_available: 39,
  amount_exceeds_exchange_limit: 40,
  margin_out_of_range: 42,
  margin_below_initial: 43,
  margin_mode_in_use: 44,
  margin_insufficient: 45,
  delegate_not_allowed: 46,
  too_many_delegates: 47,
  signers_count: 48,
  signers_not_distinct: 49,
  quorum_out_of_range: 50,
} as const;

export type RefusalCode = keyof typeof NUMBERS;

/** All codes, in precedence order. */
export const REFUSALS = Object.keys(NUMBERS) as readonly RefusalCode[];

/** Attached orders name their prices after themselves: `stopLoss.triggerPrice`. */
export type Leg = 'takeProfit' | 'stopLoss';
export type PriceField = 'price' | 'triggerPrice' | `${Leg}.${'price' | 'triggerPrice'}`;

/** The data of codes: the field and the limit, in engine units with the size of their unit. */
interface RefusalData {
  batch_too_large: { maxOrders: number };
  price_not_positive: { field: PriceField };
  /** `ioc`: a buy whose price is below one tick, since prices of `ioc` orders are rounded. */
  price_off_tick: { field: PriceField; tickSize: string; ioc: boolean };
  price_too_high: { field: PriceField; maxTicks: PriceTicks; tickSize: string };
  quantity_off_lot: { lotSize: string };
  quantity_below_minimum: { minLots: Lots; lotSize: string };
  quantity_above_maximum: { maxLots: Lots; lotSize: string };
  originator_fee_too_high: { maxPpm: Ppm };
  period_not_allowed: { orderType: OrderType };
  trigger_price_not_positive: { field: PriceField };
  /** A `leg` that an order of this type cannot have; null: a parent that it cannot have. */
  parent_not_allowed: { leg: Leg | null; orderType: OrderType };
  vault_deposit_too_small: { minQuanta: Quanta };
  vault_shares_locked: { untilUs: TimeUs };
  amount_exceeds_available: { availableQuanta: Quanta };
  margin_below_initial: { minPpm: Ppm };
  too_many_delegates: { maxDelegates: number };
  signers_count: { maxSigners: number };
}

export type RefusalOf<Code extends RefusalCode> = {
  readonly code: Code;
} & (Code extends keyof RefusalData ? Readonly<RefusalData[Code]> : unknown);

/** Why a command was refused: a union over the codes. */
export type Refusal = { [Code in RefusalCode]: RefusalOf<Code> }[RefusalCode];

/**
 * Reasons why an order ended, as stored in its record; a completely filled order has none.
 */
export const END_REASONS = [
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

export type EndReason = (typeof END_REASONS)[number];

/** Result of `apply`: `ok`, or the refusal. */
export type Outcome = 'ok' | Refusal;

/** The outcome as one word: `ok` or the code. */
export function outcomeCode(outcome: Outcome): 'ok' | RefusalCode {
  return outcome === 'ok' ? 'ok' : outcome.code;
}

/** Number of the outcome in the chain hash. */
export function outcomeNumber(outcome: Outcome): number {
  return outcome === 'ok' ? -1 : NUMBERS[outcome.code];
}
