/**
 * Units of the exchange. A unit is a branded type: it has no runtime cost and prevents adding a
 * price to a size. Each alias states its JavaScript type and why that is sufficient.
 *
 * The constructor functions only brand a number. Range checks are where numbers enter: in the
 * gateway's decoders, the journal's codec and market listing.
 */

declare const unit: unique symbol;
type Unit<Carrier, Name extends string> = Carrier & { readonly [unit]: Name };

/** Whole ticks of a price. A number: listing limits prices to 2^31 − 1 ticks. */
export type PriceTicks = Unit<number, 'PriceTicks'>;
/** Signed lots; positive buys or is long. A number: at most 2^53 − 1 by listing. */
export type Lots = Unit<number, 'Lots'>;
/**
 * Signed money in 1e-6 of the collateral unit. A bigint, since sums of ticks × lots exceed 2^53.
 */
export type Quanta = Unit<bigint, 'Quanta'>;
/** Microseconds since the Unix epoch. A number: 2^53 µs is the year 2255. */
export type TimeUs = Unit<number, 'TimeUs'>;
/** A duration in microseconds. */
export type DurationUs = Unit<number, 'DurationUs'>;
/** Signed parts per million; a number, always within ±1e9. */
export type Ppm = Unit<number, 'Ppm'>;
/** Signed parts per 1e9, used by funding rates. */
export type Ppb = Unit<number, 'Ppb'>;

/** Dense index of a market, 0 for the first one listed. */
export type MarketId = Unit<number, 'MarketId'>;
/**
 * Dense index of an address known to the engine (credited or delegated to), in order of first use.
 */
export type AccountId = Unit<number, 'AccountId'>;
/** Dense index of an (account, subaccount index) pair, in order of first credit. */
export type SubaccountId = Unit<number, 'SubaccountId'>;
/** Dense number of an order, 1 for the first; never reused. A number: 2^53 exceeds any journal. */
export type OrderId = Unit<number, 'OrderId'>;
/** Number of a trade in its exchange, 1 for the first. */
export type TradeId = Unit<number, 'TradeId'>;
/** Number of a command in its journal, 1 for the first; strictly increasing. */
export type Seq = Unit<number, 'Seq'>;
/** A wallet address as canonical text: `0x` and 40 lower-case hex digits. */
export type Address = Unit<string, 'Address'>;

export const priceTicks = (n: number): PriceTicks => n as PriceTicks;
export const lots = (n: number): Lots => n as Lots;
export const quanta = (n: bigint): Quanta => n as Quanta;
export const timeUs = (n: number): TimeUs => n as TimeUs;
export const durationUs = (n: number): DurationUs => n as DurationUs;
export const ppm = (n: number): Ppm => n as Ppm;
export const ppb = (n: number): Ppb => n as Ppb;
export const marketId = (n: number): MarketId => n as MarketId;
export const accountId = (n: number): AccountId => n as AccountId;
export const subaccountId = (n: number): SubaccountId => n as SubaccountId;
export const orderId = (n: number): OrderId => n as OrderId;
export const tradeId = (n: number): TradeId => n as TradeId;
export const seq = (n: number): Seq => n as Seq;
export const address = (text: string): Address => text as Address;

/** Max price in ticks of any market. */
export const MAX_PRICE_TICKS = 2 ** 31 - 1;
/** Bound on the magnitude of all money, so that every balance fits a signed 64-bit integer. */
export const MAX_QUANTA = 2n ** 62n;
/** Decimals of the collateral. */
export const COLLATERAL_DECIMALS = 6;
/** Parts per million in a whole (100 %). */
export const PPM = 1_000_000;
