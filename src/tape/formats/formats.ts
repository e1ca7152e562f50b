/**
 * The table of data formats that `orrery data import` reads. Adding a format takes one row here and
 * one file with its decoder.
 */
import { BinanceCsvDecoder, type BinanceFile } from './binance-csv.ts';
import { BinanceDepthDecoder } from './binance-depth.ts';
import { BybitDecoder } from './bybit.ts';
import { ColumnDecoder, type ColumnMap } from './column-map.ts';
import { HyperliquidDecoder } from './hyperliquid.ts';
import { LeanDecoder } from './lean.ts';
import type { DecoderContext, RowDecoder } from './row-decoder.ts';
import { TardisDecoder } from './tardis.ts';

export type MarketKind = 'spot' | 'linear' | 'inverse' | 'equity';

/** Input of a decoder of rows: one file, and the decoder state after the file before it. */
export interface RowInput {
  readonly path: string;
  readonly context: DecoderContext;
  readonly map: ColumnMap | null;
  readonly state: unknown;
}

export type RowDecoderFactory = (input: RowInput) => RowDecoder;

/** Decodes lines of messages into records. */
export interface MessageDecoder {
  /** Market of the recording: the one asked for, else the first one named. */
  readonly symbol: string | null;
  /** Throws `TapeError` without line number; a line that throws changes no state. */
  line(text: string, line: number): void;
  /** State for the next file, as JSON. */
  state(): unknown;
}

type Reader =
  | { readonly container: 'csv' | 'parquet' | 'arrow'; readonly rows: RowDecoderFactory }
  | {
      readonly container: 'messages';
      readonly messages: (context: DecoderContext, state: unknown) => MessageDecoder;
    }
  | { readonly container: 'lobster' | 'binance-raw' };

interface FormatRow {
  readonly name: string;
  readonly description: string;
  /** Kinds of market that the format records. */
  readonly markets: readonly MarketKind[];
  /** Detects files by their base name; null if their names have no pattern of their own. */
  readonly fileName: RegExp | null;
  /** Place of the symbol; where it is missing, `--symbol` must be given. */
  readonly symbolIn: 'records' | 'path';
  /** Import options that apply to the format; others are refused. */
  readonly options: readonly ('map' | 'interval' | 'round')[];
  /** Base names of companion files, which are read together with the others. */
  readonly companion?: RegExp;
}

export type Format = FormatRow & Reader;

const CRYPTO = ['spot', 'linear', 'inverse'] as const;
const FUTURES = ['linear', 'inverse'] as const;
const ANY = ['spot', 'linear', 'inverse', 'equity'] as const;
const KLINE = /^[0-9A-Z_]+-[0-9]+(?:s|m|h|d|w|mo)-[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?\.(?:csv|zip)/;
const TARDIS =
  /_(?:incremental_book_L2|book_snapshot_[0-9]+|trades|quotes|book_ticker|derivative_ticker)_[0-9]{4}-[0-9]{2}-[0-9]{2}_/;

function binance(
  file: BinanceFile,
  markets: readonly MarketKind[],
  fileName: RegExp,
  description: string,
): Format {
  return {
    name: `binance-${file}`,
    description: `Binance public ${description} (CSV or zip)`,
    markets,
    fileName,
    symbolIn: 'path',
    options: ['round'],
    container: 'csv',
    rows: ({ context }) => new BinanceCsvDecoder(file, context),
  };
}

const tardis = (name: string, fileName: RegExp | null = null): Format => ({
  name,
  description: 'Tardis CSV; the header determines the kind of file',
  markets: CRYPTO,
  fileName,
  symbolIn: 'records',
  options: ['round'],
  container: 'csv',
  rows: ({ context, state }) => new TardisDecoder(context, state),
});

const table = (
  name: 'csv' | 'parquet' | 'arrow',
  fileName: RegExp | null,
  description: string,
): Format => ({
  name,
  description: `any ${description}, by --map or its column names`,
  markets: ANY,
  fileName,
  symbolIn: 'path',
  options: ['map', 'interval', 'round'],
  container: name,
  rows: ({ context, map, state }) => new ColumnDecoder(context, map, state),
});

export const FORMATS: readonly Format[] = [
  {
    name: 'binance-raw',
    description: 'raw Binance futures websocket lines, `<local ns> <json>`; cryptofeed captures',
    markets: FUTURES,
    fileName: /^BINANCE.*\.(?:ws|http)\.[0-9]/,
    symbolIn: 'records',
    // Sizes of raw messages are whole lots.
    options: [],
    companion: /\.http\.[0-9]/,
    container: 'binance-raw',
  },
  binance('klines', CRYPTO, KLINE, 'klines'),
  binance('mark-klines', FUTURES, KLINE, 'mark price klines: marks'),
  binance('index-klines', FUTURES, KLINE, 'index price klines'),
  binance('trades', CRYPTO, /-trades-[0-9]{4}/, 'trades'),
  binance('aggtrades', CRYPTO, /-aggTrades-[0-9]{4}/, 'aggregate trades'),
  binance('funding', FUTURES, /-fundingRate-[0-9]{4}/, 'funding rates'),
  binance('bookticker', FUTURES, /-bookTicker-[0-9]{4}/, 'best bid and ask'),
  {
    name: 'binance-depth',
    description: 'Binance historical order books: snapshots and updates',
    markets: FUTURES,
    fileName: /_depth_(?:snap|update)\.csv/,
    symbolIn: 'records',
    options: ['round'],
    container: 'csv',
    rows: ({ context }) => new BinanceDepthDecoder(context),
  },
  tardis('tardis', TARDIS),
  tardis('tardis-incremental-book-l2'),
  tardis('tardis-book-snapshot'),
  tardis('tardis-trades'),
  tardis('tardis-quotes'),
  tardis('tardis-derivative-ticker'),
  {
    name: 'hyperliquid',
    description: 'Hyperliquid l2Book and trades, lines of JSON',
    markets: ['spot', 'linear'],
    fileName: null,
    symbolIn: 'records',
    options: ['round'],
    container: 'messages',
    messages: (context, state) => new HyperliquidDecoder(context, state),
  },
  {
    name: 'bybit',
    description: 'Bybit v5 order books (ob500), trades and tickers, lines of JSON',
    markets: CRYPTO,
    fileName: /_ob[0-9]+\.data/,
    symbolIn: 'records',
    options: ['round'],
    container: 'messages',
    messages: (context, state) => new BybitDecoder(context, state),
  },
  {
    name: 'lean',
    description: 'LEAN bars of trades and funding rates of crypto, in LEAN’s folder layout',
    markets: CRYPTO,
    fileName: /(?:^|_)trade(?:_perp)?\.(?:zip|csv)$/,
    symbolIn: 'path',
    options: ['interval', 'round'],
    container: 'csv',
    rows: ({ path, context, map }) => new LeanDecoder(context, path, map?.intervalUs ?? null),
  },
  {
    name: 'lobster',
    description: 'LOBSTER messages, with their order books as companion files',
    markets: ['equity'],
    fileName: /_(?:message|orderbook)_[0-9]+\.csv/,
    symbolIn: 'path',
    options: ['round'],
    companion: /orderbook/,
    container: 'lobster',
  },
  table('csv', null, 'CSV'),
  table('parquet', /\.(?:parquet|pq)$/, 'Parquet table'),
  table('arrow', /\.(?:arrow|feather)$/, 'Arrow IPC table'),
];

/** A quote currency at the end of a pair. */
const PAIR = /^[0-9A-Z]{2,}(USDT|USDC|FDUSD|BUSD|TUSD|USD|EUR|BTC|ETH)$/;

/**
 * Symbol in a file name; null if the name has none. It is the only word that is a pair
 * (`BTCUSDT-1m-2024-01.zip`, `binance_btcusdt-trades.csv`). Otherwise it is the leading word in
 * capitals, if no other word is in capitals (`AAPL_2012-06-21_…`).
 */
export function symbolOfFile(name: string): string | null {
  const words = name.split(/[^0-9A-Za-z]+/);
  const pairs = new Set(words.map((word) => word.toUpperCase()).filter((word) => PAIR.test(word)));
  if (pairs.size > 0) return (pairs.size === 1 && [...pairs][0]) || null;
  const capitals = words.filter((word) => /^[A-Z][0-9A-Z]*$/.test(word));
  return capitals.length === 1 && capitals[0] === words[0] ? (words[0] ?? null) : null;
}
