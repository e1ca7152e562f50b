/** Refusals of the engine as the contract's errors: one row per code. */
import {
  invalidField,
  internalError,
  MESSAGES,
  notOffered,
  type ErrorReply,
} from '../contract/messages.ts';
import type { Outcome, Refusal, RefusalCode, RefusalOf } from '../engine/refusals.ts';
import { formatDecimal } from '../num/decimal.ts';
import { inSteps } from './encode.ts';
import { RequestError } from './request-error.ts';

/** The reply to a code: always the same, or made from the data of the refusal. */
type Row<Code extends RefusalCode> = ErrorReply | ((refusal: RefusalOf<Code>) => ErrorReply);

const REPLIES: { readonly [Code in RefusalCode]: Row<Code> } = {
  market_not_found: MESSAGES.symbolNotFound,
  account_not_found: MESSAGES.accountNotFound,
  subaccount_not_found: MESSAGES.invalidSubaccountIndex,
  order_not_found: MESSAGES.orderNotFound,
  request_expired: MESSAGES.requestExpired,
  not_delegated: MESSAGES.notDelegated,
  nonce_used: MESSAGES.nonceUsed,
  nonce_too_low: MESSAGES.nonceTooLow,
  client_id_in_use: MESSAGES.clientIdInUse,
  price_not_positive: ({ field }) =>
    field === 'price' ? MESSAGES.priceNotPositive : invalidField(field, 'must be positive'),
  price_off_tick: ({ field, tickSize, ioc }) =>
    invalidField(
      field,
      ioc
        ? `a buy needs at least one tick, ${tickSize}`
        : `must be a multiple of the tick size ${tickSize}`,
    ),
  price_too_high: ({ field, maxTicks, tickSize }) =>
    invalidField(field, `must be at most ${inSteps(maxTicks, tickSize)}`),
  quantity_zero: MESSAGES.quantityZero,
  quantity_off_lot: ({ lotSize }) =>
    invalidField('quantity', `must be a multiple of the lot size ${lotSize}`),
  quantity_below_minimum: ({ minLots, lotSize }) =>
    invalidField('quantity', `must be at least ${inSteps(minLots, lotSize)}`),
  quantity_above_maximum: ({ maxLots, lotSize }) =>
    invalidField('quantity', `must be at most ${inSteps(maxLots, lotSize)}`),
  flags_conflict: MESSAGES.flagsConflict,
  originator_fee_too_high: ({ maxPpm }) =>
    invalidField('originatorFee', `must be at most ${String(maxPpm)} ppm`),
  originator_missing: MESSAGES.originatorMissing,
  originator_not_allowed: invalidField('originator', 'is an account of the exchange'),
  batch_empty: invalidField('orders', 'must have at least one order'),
  batch_too_large: ({ maxOrders }) =>
    invalidField('orders', `must have at most ${String(maxOrders)} orders`),
  batch_nonces_not_increasing: invalidField(
    'nonce',
    'must increase from order to order in a batch',
  ),
  period_not_allowed: ({ orderType }) =>
    orderType === 'limit'
      ? MESSAGES.periodOnLimit
      : invalidField('period', 'belongs to twap orders, which need it'),
  period_not_positive: invalidField('period', 'must be above 0'),
  trailing_percent_not_allowed: invalidField(
    'trailingPercent',
    'belongs to trailingStop orders, which need it',
  ),
  trailing_percent_off_step: invalidField('trailingPercent', 'must have at most 4 decimals'),
  trailing_percent_out_of_range: invalidField('trailingPercent', 'must be above 0 and below 100'),
  trigger_price_not_allowed: invalidField(
    'triggerPrice',
    'belongs to takeProfit and stopLoss orders, which need it, and to trailingStop orders',
  ),
  trigger_price_not_positive: ({ field }) => invalidField(field, 'must be positive'),
  parent_not_allowed: ({ leg, orderType }) => {
    if (leg === null) {
      return invalidField('parentOrderId', 'belongs to takeProfit and stopLoss orders');
    }
    const isSliced = orderType === 'twap' || orderType === 'iceberg';
    return invalidField(
      leg,
      `cannot be attached to a ${isSliced ? orderType : 'reduceOnly'} order`,
    );
  },
  leg_not_reduce_only: invalidField(
    'flags.reduceOnly',
    'must be true for a takeProfit or stopLoss of a pair or with a parent',
  ),
  iceberg_ioc: invalidField('flags.ioc', 'an iceberg order rests, so it cannot be ioc'),
  batch_types_mixed: invalidField(
    'orderType',
    'twap and iceberg orders come in batches of their own type',
  ),
  batch_symbols_differ: invalidField('symbol', 'must be the same for all orders of the group'),
  batch_sides_differ: invalidField(
    'quantity',
    'must have the same sign for all orders of the group',
  ),
  batch_prices_differ: invalidField('price', 'must be the same for all orders of an iceberg'),
  batch_quantities_differ: invalidField(
    'quantity',
    'must be the same for all orders of an iceberg; only the last may be smaller',
  ),
  batch_periods_differ: invalidField('period', 'must be the same for all orders of a twap'),
  batch_parents_differ: invalidField('parentOrderId', 'must be the same for both orders of a pair'),
  batch_second_pair: invalidField(
    'orders',
    'may have at most one takeProfit and one stopLoss order',
  ),
  amount_not_positive: MESSAGES.amountNotPositive,
  amount_exceeds_available: MESSAGES.transferExceedsBalance,
  amount_exceeds_exchange_limit: MESSAGES.amountExceedsExchange,
  transfer_not_allowed: MESSAGES.transferNotAllowed,
  margin_out_of_range: invalidField('margin', 'must be a ratio above 0 and at most 1'),
  margin_below_initial: ({ minPpm }) =>
    invalidField('margin', `must be at least ${formatDecimal(BigInt(minPpm), 6)}`),
  margin_mode_in_use: MESSAGES.marginInUse,
  margin_insufficient: MESSAGES.marginInsufficient,
  delegate_not_allowed: MESSAGES.delegateNotAllowed,
  too_many_delegates: ({ maxDelegates }) =>
    invalidField('delegate', `the subaccount has ${String(maxDelegates)} delegates already`),
  signers_count: ({ maxSigners }) =>
    invalidField('signers', `must have 1 to ${String(maxSigners)} entries`),
  signers_not_distinct: invalidField(
    'signers',
    'must be distinct addresses and not the zero address',
  ),
  quorum_out_of_range: invalidField('quorum', 'must be from 1 to the number of signers'),
  vault_deposit_too_small: MESSAGES.vaultDepositTooSmall,
  vault_shares_insufficient: MESSAGES.vaultSharesInsufficient,
  vault_shares_locked: MESSAGES.vaultLocked,
  vault_not_priced: MESSAGES.vaultNotPriced,
  vault_value_not_positive: MESSAGES.vaultWorthless,
  vault_shares_zero: MESSAGES.vaultSharesZero,
  symbol_already_listed: invalidField('symbol', 'is listed already'),
  market_spec_invalid: invalidField('market', 'its figures leave the range of exact arithmetic'),
  too_many_markets: ({ maxMarkets }) =>
    invalidField('market', `at most ${String(maxMarkets)} markets`),
  index_source_not_oracle: invalidField('symbol', "the market's index is its own mid price"),
  mark_source_not_external: invalidField('symbol', "the market's mark is not external"),
  funding_source_not_external: invalidField('symbol', "the market's funding is not external"),
  funding_rate_out_of_range: invalidField('fundingRate', 'must be above -1 and below 1'),
  index_not_fresh: invalidField('symbol', 'the market has no fresh index price'),
  tape_level_invalid: internalError('a tape level is out of range'),
  inverse_market: notOffered('an inverse (coin-margined) market'),
  market_delisted: invalidField('symbol', 'the market is delisted'),
  market_terms_immutable: invalidField(
    'terms',
    'what identifies a market and where its prices come from cannot change',
  ),
  price_outside_band: invalidField('price', 'is outside the price band of the last index'),
};

export function refusalReply(refusal: Refusal): ErrorReply {
  // The row of a code takes the refusals of that code.
  const row = REPLIES[refusal.code] as ErrorReply | ((refusal: Refusal) => ErrorReply);
  return typeof row === 'function' ? row(refusal) : row;
}

/** Throws the error of a refusal; null and `ok` are none. */
export function mustSucceed(outcome: Outcome | null): void {
  if (outcome !== null && outcome !== 'ok') throw new RequestError(refusalReply(outcome));
}
