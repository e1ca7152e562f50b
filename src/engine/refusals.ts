/**
 * Reasons why a command is not executed, in the order in which they are checked.
 *
 * A *refusal* leaves no record, uses no nonce and emits no event. It is the command's outcome; the
 * gateway maps its code to the contract's text. A *rejection* is an order that was admitted and
 * then ended at once: it has a record with status `rejected`, uses its nonce, and its `reason` is
 * one of the end reasons below.
 */

/**
 * Refusal codes in precedence order: the first that applies is the outcome. Stable, never reused.
 */
export const REFUSALS = [
  'market_not_found',
  'account_not_found',
  'subaccount_not_found',
  'order_not_found',
  'request_expired',
  'not_delegated',
  'nonce_used',
  'nonce_too_low',
  'client_id_in_use',
  'price_not_positive',
  'price_too_high',
  'quantity_zero',
  'quantity_below_minimum',
  'quantity_above_maximum',
  'flags_conflict',
  'originator_fee_too_high',
  'originator_missing',
  'originator_not_allowed',
  'batch_empty',
  'batch_too_large',
  'batch_nonces_not_increasing',
  'period_not_allowed',
  'period_not_positive',
  'trailing_percent_not_allowed',
  'trailing_percent_out_of_range',
  'trigger_price_not_allowed',
  'trigger_price_not_positive',
  'parent_not_allowed',
  'leg_not_reduce_only',
  'iceberg_ioc',
  'batch_types_mixed',
  'batch_symbols_differ',
  'batch_sides_differ',
  'batch_prices_differ',
  'batch_quantities_differ',
  'batch_periods_differ',
  'batch_parents_differ',
  'batch_second_pair',
  'amount_not_positive',
  'amount_exceeds_available',
  'amount_exceeds_exchange_limit',
  'transfer_not_allowed',
  'margin_out_of_range',
  'margin_below_initial',
  'margin_mode_in_use',
  'margin_insufficient',
  'delegate_not_allowed',
  'too_many_delegates',
  'signers_count',
  'signers_not_distinct',
  'quorum_out_of_range',
  'vault_deposit_too_small',
  'vault_shares_insufficient',
  'vault_shares_locked',
  'vault_not_priced',
  'vault_value_not_positive',
  'vault_shares_zero',
  'symbol_already_listed',
  'market_spec_invalid',
  'too_many_markets',
  'index_source_not_oracle',
  'mark_source_not_external',
  'funding_source_not_external',
  'funding_rate_out_of_range',
  'index_not_fresh',
  'tape_level_invalid',
  'inverse_market',
  'market_delisted',
  'market_terms_immutable',
  'price_outside_band',
] as const;

export type Refusal = (typeof REFUSALS)[number];

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
