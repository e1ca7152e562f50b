/** Fields of records that change without an update of a feed. */
import type { Fields } from './records.ts';

/** Fields that change without an update: with the mark, with time, or with other positions. */
export const UNSENT_OF_POSITION = ['fees', 'funding', 'liquidationPrice', 'markPrice', 'upnl'];
export const UNSENT_OF_QUOTE = [
  ...['time', 'notionalVolume', 'volume', 'price24hAgo'],
  ...['nextFundingTime', 'indicativeFundingRate', 'fundingSamples'],
];
/** The book's own mid has the time of its last sample. */
export const UNSENT_OF_MID = [...UNSENT_OF_QUOTE, 'indexTime'];

/** The account's mode is part of its orders' records. */
export const UNSENT_OF_ORDER = ['flags'];
export const UNSENT_OF_BALANCE = ['updatedAt'];

export const without = (record: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
