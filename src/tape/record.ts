/**
 * Records of a market in whole ticks and lots. `timeUs` is the venue's time, `localUs` the time of
 * receipt; `line` is the line in the recording. Ids are the venue's own.
 */
import { UserError } from '../base/user-error.ts';
import type { Side, TapeLevel } from '../engine/commands.ts';
import type { Lots, Ppb, PriceTicks, TimeUs } from '../num/units.ts';

interface RecordBase {
  readonly timeUs: TimeUs;
  readonly localUs: TimeUs;
  readonly line: number;
}

/** A change of levels: covers the venue's update ids firstId…lastId and follows prevId. */
export interface DepthRecord extends RecordBase {
  readonly kind: 'depth';
  readonly firstId: number;
  readonly lastId: number;
  readonly prevId: number;
  readonly levels: readonly TapeLevel[];
}

/** The complete book as of update lastId. */
export interface SnapshotRecord extends RecordBase {
  readonly kind: 'snapshot';
  readonly lastId: number;
  readonly levels: readonly TapeLevel[];
}

export interface TradeRecord extends RecordBase {
  readonly kind: 'trade';
  readonly tradeId: number;
  readonly priceTicks: PriceTicks;
  /** Signed by the taker's side. */
  readonly lots: Lots;
}

/** The venue's best bid and ask after update id, to verify a rebuilt book. */
export interface TouchRecord extends RecordBase {
  readonly kind: 'touch';
  /** 0 if the venue has no ids. */
  readonly updateId: number;
  readonly bidTicks: PriceTicks;
  readonly bidLots: Lots;
  readonly askTicks: PriceTicks;
  readonly askLots: Lots;
}

/** Trading in an interval; `timeUs` is its last microsecond, when all of it is known. */
export interface BarRecord extends RecordBase {
  readonly kind: 'bar';
  readonly startUs: TimeUs;
  readonly open: PriceTicks;
  readonly high: PriceTicks;
  readonly low: PriceTicks;
  readonly close: PriceTicks;
  readonly volume: Lots;
}

/** The venue's mark or index price. */
export interface PriceRecord extends RecordBase {
  readonly kind: 'mark' | 'index';
  readonly priceTicks: PriceTicks;
}

/** Funding rate of the interval that ends now, in 1e-9. */
export interface FundingRecord extends RecordBase {
  readonly kind: 'funding';
  readonly ratePpb: Ppb;
}

/** Changes of one order of a venue that publishes all orders (L3). */
export const ORDER_ACTIONS = ['add', 'reduce', 'remove', 'execute'] as const;
export type OrderAction = (typeof ORDER_ACTIONS)[number];

/** `ref` is the venue's order number; `lots` the size added, removed or traded. */
export interface OrderRecord extends RecordBase {
  readonly kind: 'order';
  readonly action: OrderAction;
  readonly ref: number;
  readonly side: Side;
  readonly priceTicks: PriceTicks;
  readonly lots: Lots;
}

export type TapeRecord =
  | DepthRecord
  | SnapshotRecord
  | TradeRecord
  | TouchRecord
  | BarRecord
  | PriceRecord
  | FundingRecord
  | OrderRecord;

export type RecordKind = TapeRecord['kind'];

/** A recording that cannot be read; the message gives the place and what was expected. */
export class TapeError extends UserError {
  override readonly name = 'TapeError';
  readonly code = 'tape';
}

/** Tick and lot size: prices and sizes of a recording are whole multiples of them. */
export interface TapeUnits {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  /** Inverse (coin-margined) contract: for book checks only, never for PnL. */
  readonly inverse: boolean;
}

/** Units of the symbols in common recordings; others must be given. */
export const KNOWN_UNITS: readonly TapeUnits[] = [
  { symbol: 'BTCUSDT', tickSize: '0.1', lotSize: '0.001', inverse: false },
  { symbol: 'ETHUSDT', tickSize: '0.01', lotSize: '0.001', inverse: false },
  { symbol: 'SOLUSDT', tickSize: '0.001', lotSize: '1', inverse: false },
  { symbol: 'BTCUSD_PERP', tickSize: '0.1', lotSize: '1', inverse: true },
  { symbol: 'ETHUSD_PERP', tickSize: '0.01', lotSize: '1', inverse: true },
];
