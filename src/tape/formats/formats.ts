/** The formats that `orrery data import` reads. */
import { BinanceCsvDecoder, type BinanceFile } from './binance-csv.ts';
import { BinanceDepthDecoder } from './binance-depth.ts';
import { BybitDecoder } from './bybit.ts';
import { ColumnDecoder, type ColumnMap } from './column-map.ts';
import { HyperliquidDecoder } from './hyperliquid.ts';
import { LeanDecoder } from './lean.ts';
import type { DecoderContext, RowDecoder } from './row-decoder.ts';
import { TardisDecoder } from './tardis.ts';

export interface FormatInfo {
  readonly name: string;
  readonly describe: string;
  /** How its files are read. */
  readonly shape: 'csv' | 'parquet' | 'arrow' | 'messages' | 'lobster' | 'binance-raw';
}

const BINANCE: Readonly<Record<string, { readonly file: BinanceFile; readonly describe: string }>> =
  {
    'binance-klines': { file: 'klines', describe: 'Binance public klines' },
    'binance-mark-klines': {
      file: 'mark-klines',
      describe: 'Binance public mark price klines: marks',
    },
    'binance-index-klines': { file: 'index-klines', describe: 'Binance public index price klines' },
    'binance-trades': { file: 'trades', describe: 'Binance public trades' },
    'binance-aggtrades': { file: 'aggtrades', describe: 'Binance public aggregate trades' },
    'binance-funding': { file: 'funding', describe: 'Binance public funding rates' },
    'binance-bookticker': { file: 'bookticker', describe: 'Binance public best bid and ask' },
  };

const TARDIS = [
  'tardis',
  'tardis-incremental-book-l2',
  'tardis-book-snapshot',
  'tardis-trades',
  'tardis-quotes',
  'tardis-derivative-ticker',
];

export const FORMATS: readonly FormatInfo[] = [
  {
    name: 'binance-raw',
    describe: 'raw Binance futures websocket lines, `<local ns> <json>`; captures of cryptofeed',
    shape: 'binance-raw',
  },
  ...Object.entries(BINANCE).map(([name, { describe }]) => ({
    name,
    describe: `${describe} (CSV or zip)`,
    shape: 'csv' as const,
  })),
  {
    name: 'binance-depth',
    describe: 'Binance historical order books: snapshots and updates',
    shape: 'csv',
  },
  ...TARDIS.map((name) => ({
    name,
    describe: 'Tardis CSV; which file it is says its header',
    shape: 'csv' as const,
  })),
  {
    name: 'hyperliquid',
    describe: 'Hyperliquid l2Book and trades, lines of JSON',
    shape: 'messages',
  },
  {
    name: 'bybit',
    describe: 'Bybit v5 order books (ob500), trades and tickers, lines of JSON',
    shape: 'messages',
  },
  {
    name: 'lean',
    describe:
      'LEAN’s bars of trades and funding rates of crypto, in the folders that it keeps them in',
    shape: 'csv',
  },
  {
    name: 'lobster',
    describe: 'LOBSTER messages, and order books beside them',
    shape: 'lobster',
  },
  { name: 'csv', describe: 'any CSV, by --map or its header', shape: 'csv' },
  { name: 'parquet', describe: 'any Parquet table, by --map or its columns', shape: 'parquet' },
  { name: 'arrow', describe: 'any Arrow IPC table, by --map or its columns', shape: 'arrow' },
];

/** The decoder of a format whose files are rows; `path` of the file. */
export function rowDecoder(
  format: FormatInfo,
  path: string,
  context: DecoderContext,
  map: ColumnMap | null,
  state: unknown,
): RowDecoder {
  const binance = BINANCE[format.name];
  if (binance !== undefined) return new BinanceCsvDecoder(binance.file, context);
  if (format.name === 'binance-depth') return new BinanceDepthDecoder(context);
  if (TARDIS.includes(format.name)) return new TardisDecoder(context, state);
  if (format.name === 'lean') return new LeanDecoder(context, path, map?.intervalUs ?? null);
  return new ColumnDecoder(context, map, state);
}

/** What turns the lines of a feed's messages into records. */
export interface MessageDecoder {
  /** The market that is read; the first one named unless given. */
  readonly symbol: string | null;
  /** Throws `TapeError` without its line; a line that throws has changed nothing. */
  line(text: string, line: number): void;
  /** What the next file goes on with, for JSON. */
  state(): unknown;
}

export function messageDecoder(
  format: FormatInfo,
  context: DecoderContext,
  state: unknown,
): MessageDecoder {
  return format.name === 'bybit'
    ? new BybitDecoder(context, state)
    : new HyperliquidDecoder(context, state);
}

/** A currency after what is priced in it. */
const PAIR = /^[0-9A-Z]{2,}(USDT|USDC|FDUSD|BUSD|TUSD|USD|EUR|BTC|ETH)$/;

/**
 * The symbol in a file's name: its one word that is a pair (`BTCUSDT-1m-2024-01.zip`, `binance_btcusdt-trades.csv`), else the word in
 * capitals that it begins with when there is no other (`AAPL_2012-06-21_…`); null when the name does not say.
 */
export function symbolOfFile(name: string): string | null {
  const words = name.split(/[^0-9A-Za-z]+/);
  const pairs = new Set(words.map((word) => word.toUpperCase()).filter((word) => PAIR.test(word)));
  if (pairs.size > 0) return (pairs.size === 1 && [...pairs][0]) || null;
  const capitals = words.filter((word) => /^[A-Z][0-9A-Z]*$/.test(word));
  return capitals.length === 1 && capitals[0] === words[0] ? (words[0] ?? null) : null;
}
