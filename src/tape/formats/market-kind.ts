/**
 * Spot, or a contract with a margin. Recordings of spot are played as a perpetual, and never mixed
 * with those of a contract of the same name. Options are refused.
 */
import { TapeError } from '../record.ts';
import type { Format } from './formats.ts';

export type RecordedKind = 'spot' | 'contract';

/** By the format or by the venue's name of the market; null if neither states it. */
export function recordedKind(
  { spot, markets }: Pick<Format, 'spot' | 'markets'>,
  symbol: string,
): RecordedKind | null {
  if (spot !== undefined) return spot.test(symbol) ? 'spot' : 'contract';
  return markets.every((kind) => kind === 'linear' || kind === 'inverse') ? 'contract' : null;
}

/** The part of a stream's manifest that is compared. */
interface KindOfStream {
  readonly id: string;
  readonly symbol: string;
  readonly kind?: RecordedKind;
}

const SHOWN: Readonly<Record<RecordedKind, string>> = {
  spot: 'spot',
  contract: 'a future or perpetual',
};

/** The kind of all files of an import. Throws `TapeError` for a file of the other one. */
export function sameKind(before: RecordedKind | null, kind: RecordedKind): RecordedKind {
  if (before === null || before === kind) return kind;
  throw new TapeError(
    `it is of ${SHOWN[kind]}, and the files before it are of ${SHOWN[before]}; import one market at a time`,
  );
}

/** Spot and a contract of one name are different markets. Throws `TapeError`. */
export function mustBeOfOneKind(
  kind: RecordedKind | null,
  symbol: string,
  others: readonly KindOfStream[],
): void {
  const other = others.find(
    (stream) => stream.symbol === symbol && stream.kind !== undefined && stream.kind !== kind,
  );
  if (kind === null || other?.kind === undefined) return;
  throw new TapeError(
    `these files are ${SHOWN[kind]}, and ${symbol} of the dataset is ${SHOWN[other.kind]} (stream ${other.id}); import them into another dataset`,
  );
}

/** `BTC-27DEC24-60000-C`, `BTC-USD-241227-60000-P`, `XRP_USDC-30JUN23-0d55-C`. */
const OPTION = /-[0-9]+(?:[d.][0-9]+)?-[CP](?:-[A-Z]+)?$/;

/** Throws `TapeError` for an option. */
export function mustBeNoOption(symbol: string): void {
  if (!OPTION.test(symbol)) return;
  throw new TapeError(
    `${symbol} is an option; refused, since markets here are perpetuals: an option has another margin, and ends at its expiry`,
  );
}
