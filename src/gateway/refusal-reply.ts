/** Engine refusals in the contract's words: one row a code. */
import {
  invalidField,
  internalError,
  MESSAGES,
  notOffered,
  type ErrorReply,
} from '../contract/messages.ts';
import type { Refusal } from '../engine/rejections.ts';

export const REFUSAL_REPLIES: Readonly<Record<Refusal, ErrorReply>> = {
  market_not_found: MESSAGES.symbolNotFound,
  account_not_found: MESSAGES.accountNotFound,
  subaccount_not_found: MESSAGES.invalidSubaccountIndex,
  order_not_found: MESSAGES.orderNotFound,
  request_expired: MESSAGES.requestExpired,
  nonce_used: MESSAGES.nonceUsed,
  nonce_too_low: MESSAGES.nonceTooLow,
  client_id_in_use: MESSAGES.clientIdInUse,
  price_not_positive: MESSAGES.priceNotPositive,
  price_too_high: invalidField('price', "exceeds the market's maxPrice"),
  quantity_zero: MESSAGES.quantityZero,
  quantity_below_minimum: invalidField('quantity', "is below the market's minQuantity"),
  quantity_above_maximum: invalidField('quantity', "exceeds the market's maxQuantity"),
  flags_conflict: MESSAGES.flagsConflict,
  originator_fee_too_high: invalidField('originatorFee', 'exceeds the limit in GET /config'),
  originator_missing: MESSAGES.originatorMissing,
  order_type_unsupported: notOffered('this order type'),
  amount_not_positive: MESSAGES.amountNotPositive,
  amount_exceeds_available: MESSAGES.transferExceedsBalance,
  amount_exceeds_exchange_limit: MESSAGES.amountExceedsExchange,
  transfer_not_allowed: MESSAGES.transferNotAllowed,
  symbol_already_listed: invalidField('symbol', 'is listed already'),
  market_spec_invalid: invalidField('market', 'its figures leave the range of exact arithmetic'),
  index_source_not_oracle: invalidField('symbol', "the market's index is its own mid price"),
  mark_source_not_external: invalidField('symbol', "the market's mark is not external"),
  tape_level_invalid: internalError('a tape level is out of range'),
  inverse_market: notOffered('an inverse (coin-margined) market'),
};
