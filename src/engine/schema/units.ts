/**
 * Descriptors of the units of `num/units`, with their width in the chain hash and their sign in the
 * journal.
 */
import type {
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
  SubaccountId,
  TimeUs,
  TradeId,
} from '../../num/units.ts';
import { bigint, number, type FieldType } from './field-types.ts';

const WIDE = { wide: true };
const WIDE_SIGNED = { wide: true, signed: true };

export const MARKET = number<MarketId>('marketId');
export const SUBACCOUNT = number<SubaccountId>('subaccountId');
export const ACCOUNT = number<AccountId>('accountId');
export const ORDER = number<OrderId>('orderId', WIDE);
export const TRADE = number<TradeId>('tradeId', WIDE);
export const TICKS = number<PriceTicks>('ticks');
export const LOTS = number<Lots>('lots', WIDE_SIGNED);
/** Sizes that are never below 0. */
export const SIZE = number<Lots>('lots', WIDE);
export const PPM = number<Ppm>('ppm');
export const WIDE_PPM = number<Ppm>('ppm', WIDE);
export const PPB = number<Ppb>('ppb', WIDE_SIGNED);
export const TIME = number<TimeUs>('timeUs', WIDE);
export const DURATION = number<DurationUs>('durationUs', WIDE);
export const COUNT = number<number>('count');
export const WIDE_COUNT = number<number>('count', WIDE);
export const QUANTA = bigint<Quanta>('quanta');
export const SHARES = bigint<bigint>('shares');
export const NONCE = bigint<bigint>('nonce');
export const MILLISECONDS = bigint<bigint>('ms');
export const BOOLEAN: FieldType<boolean> = { type: 'boolean' };
export const TEXT: FieldType<string> = { type: 'text', isAddress: false };
export const ADDRESS: FieldType<Address> = { type: 'text', isAddress: true };
