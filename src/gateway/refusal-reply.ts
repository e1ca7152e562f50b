/** Replies to engine refusals, in the contract's texts: one row per code. */
import {
  internalError,
  MESSAGES,
  notOffered,
  reply,
  type ErrorReply,
} from '../contract/messages.ts';
import {
  ORDER_TYPE_RULES,
  ORDER_TYPES,
  type OrderTypeRules,
} from '../engine/orders/order-types.ts';
import type { Outcome, Refusal, RefusalCode, RefusalOf } from '../engine/refusals.ts';
import { formatDecimal } from '../num/decimal.ts';
import { inSteps } from './encode.ts';
import { RequestError } from './request-error.ts';

/** Text of an error with status 400, or another error; made from the refusal's data, if any. */
type Row<Data> = string | ErrorReply | ((refusal: Data) => string | ErrorReply);

/** The names of the types with this rule, in a sentence. */
function typesWith(has: (rules: OrderTypeRules) => boolean): string {
  const names = ORDER_TYPES.filter((type) => has(ORDER_TYPE_RULES[type]));
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

const REPLIES: { readonly [Code in RefusalCode]: Row<RefusalOf<Code>> } = {
  batch_empty: 'orders: must have at least one order',
  batch_too_large: ({ maxOrders }) => `orders: must have at most ${String(maxOrders)} orders`,
  batch_nonces_not_increasing: 'nonce: must increase from order to order in a batch',
  market_not_found: MESSAGES.symbolNotFound,
  account_not_found: MESSAGES.accountNotFound,
  subaccount_not_found: MESSAGES.invalidSubaccountIndex,
  request_expired: MESSAGES.requestExpired,
  not_delegated: MESSAGES.notDelegated,
  nonce_used: MESSAGES.nonceUsed,
  nonce_too_low: reply(
    409,
    'Nonce too low: it is below the window of the 1024 highest used nonces',
  ),
  client_id_in_use: reply(409, 'clientId is in use by a live order of this account'),
  symbol_already_listed: 'symbol: is listed already',
  market_delisted: 'symbol: the market is delisted',
  market_terms_immutable:
    'terms: what identifies a market and where its prices come from cannot change',
  market_spec_invalid: 'market: its figures leave the range of exact arithmetic',
  too_many_markets: 'market: at most 65536 markets',
  inverse_market: notOffered('an inverse (coin-margined) market'),
  funding_source_not_external: "symbol: the market's funding is not external",
  funding_rate_out_of_range: 'fundingRate: must be from -1 to 1',
  index_not_fresh: 'symbol: the market has no fresh index price',
  impact_needs_levels: internalError('squareRoot impact needs recorded levels'),
  tape_level_invalid: internalError('a tape level is out of range'),
  price_not_positive: ({ field }) => `${field}${field === 'price' ? '' : ':'} must be positive`,
  price_off_tick: ({ field, tickSize, ioc }) =>
    ioc
      ? `${field}: a buy needs at least one tick, ${tickSize}`
      : `${field}: must be a multiple of the tick size ${tickSize}`,
  price_too_high: ({ field, maxTicks, tickSize }) =>
    `${field}: must be at most ${inSteps(maxTicks, tickSize)}`,
  price_outside_band: 'price: is outside the price band of the last index',
  index_source_not_oracle: "symbol: the market's index is its own mid price",
  mark_source_not_external: "symbol: the market's mark is not external",
  quantity_zero: 'quantity must not be zero',
  quantity_off_lot: ({ lotSize }) => `quantity: must be a multiple of the lot size ${lotSize}`,
  quantity_below_minimum: ({ minLots, lotSize }) =>
    `quantity: must be at least ${inSteps(minLots, lotSize)}`,
  quantity_above_maximum: ({ maxLots, lotSize }) =>
    `quantity: must be at most ${inSteps(maxLots, lotSize)}`,
  flags_conflict: 'flags.ioc and flags.postOnly exclude each other',
  originator_fee_too_high: ({ maxPpm }) => `originatorFee: must be at most ${String(maxPpm)} ppm`,
  originator_missing: 'originatorFee must be 0 for the zero originator address',
  originator_not_allowed: 'originator: is an account of the exchange',
  period_not_allowed: ({ orderType }) =>
    orderType === 'limit'
      ? MESSAGES.periodOnLimit
      : `period: belongs to ${typesWith(({ timed }) => timed)} orders, which need it`,
  period_not_positive: 'period: must be above 0',
  trailing_percent_not_allowed: `trailingPercent: belongs to ${typesWith(({ trails }) => trails)} orders, which need it`,
  trailing_percent_off_step: 'trailingPercent: must have at most 4 decimals',
  trailing_percent_out_of_range: 'trailingPercent: must be above 0 and below 100',
  trigger_price_not_allowed: `triggerPrice: belongs to ${typesWith(({ triggerPrice }) => triggerPrice === 'required')} orders, which need it, and to ${typesWith(({ triggerPrice }) => triggerPrice === 'optional')} orders`,
  trigger_price_not_positive: ({ field }) => `${field}: must be positive`,
  parent_not_allowed: ({ leg, orderType }) => {
    if (leg === null) {
      return `parentOrderId: belongs to ${typesWith(({ protective }) => protective)} orders`;
    }
    const { sliced } = ORDER_TYPE_RULES[orderType];
    return `${leg}: cannot be attached to a ${sliced ? orderType : 'reduceOnly'} order`;
  },
  leg_not_reduce_only:
    'flags.reduceOnly: must be true for a takeProfit or stopLoss of a pair or with a parent',
  iceberg_ioc: 'flags.ioc: an iceberg order rests, so it cannot be ioc',
  batch_types_mixed: `orderType: ${typesWith(({ sliced }) => sliced)} orders come in batches of their own type`,
  batch_symbols_differ: 'symbol: must be the same for all orders of the group',
  batch_sides_differ: 'quantity: must have the same sign for all orders of the group',
  batch_prices_differ: 'price: must be the same for all orders of an iceberg',
  batch_quantities_differ:
    'quantity: must be the same for all orders of an iceberg; only the last may be smaller',
  batch_periods_differ: 'period: must be the same for all orders of a twap',
  batch_second_pair: 'orders: may have at most one takeProfit and one stopLoss order',
  batch_parents_differ: 'parentOrderId: must be the same for both orders of a pair',
  order_not_found: MESSAGES.orderNotFound,
  transfer_not_allowed: reply(403, 'Transfer between these accounts is not allowed'),
  amount_not_positive: 'amount must be positive',
  vault_deposit_too_small: 'amount: is below the smallest deposit to the vault',
  vault_shares_insufficient: 'amount: exceeds the value of the vault shares held',
  vault_shares_locked: 'Vault shares are locked until lockupEndsAt',
  vault_not_priced: 'The vault holds a position without a fresh price; try again later',
  vault_value_not_positive: 'The vault has no value above its losses now',
  vault_shares_zero: 'amount: is worth less than the smallest part of a vault share',
  amount_exceeds_available: MESSAGES.transferExceedsBalance,
  amount_exceeds_exchange_limit: 'amount exceeds what the exchange can hold',
  margin_out_of_range: 'margin: must be a ratio above 0 and at most 1',
  margin_below_initial: ({ minPpm }) =>
    `margin: must be at least ${formatDecimal(BigInt(minPpm), 6)}`,
  margin_mode_in_use: 'isolated: cannot change with an open position or open orders in the market',
  margin_insufficient: 'margin: free collateral or isolated margin is too small for it',
  delegate_not_allowed:
    'delegate: must be neither the account itself, nor the zero address, nor an account of the exchange',
  too_many_delegates: ({ maxDelegates }) =>
    `delegate: the subaccount has ${String(maxDelegates)} delegates already`,
  signers_count: ({ maxSigners }) => `signers: must have 1 to ${String(maxSigners)} entries`,
  signers_not_distinct: 'signers: must be distinct addresses and not the zero address',
  quorum_out_of_range: 'quorum: must be from 1 to the number of signers',
};

/** Status of the reply to this refusal; null if it depends on the refusal's data. */
export function refusalStatus(code: RefusalCode): number | null {
  const row: unknown = REPLIES[code];
  if (typeof row === 'function') return null;
  return typeof row === 'string' ? 400 : (row as ErrorReply).status;
}

export function refusalReply(refusal: Refusal): ErrorReply {
  // The row of a code takes the refusals of that code.
  const row = REPLIES[refusal.code] as Row<Refusal>;
  const made = typeof row === 'function' ? row(refusal) : row;
  return typeof made === 'string' ? reply(400, made) : made;
}

/** Throws the error of a refusal; null and `ok` are none. */
export function mustSucceed(outcome: Outcome | null): void {
  if (outcome !== null && outcome !== 'ok') throw new RequestError(refusalReply(outcome));
}
