/**
 * The table of data formats that `orrery data import` reads. Adding a format takes one row here and
 * one file with its decoder.
 */
import { BinanceCsvDecoder, type BinanceFile } from './binance-csv.ts';
import { BinanceDepthDecoder } from './binance-depth.ts';
import { BybitDecoder } from './bybit.ts';
import { ColumnDecoder, parseColumnMap, type ColumnMap } from './column-map.ts';
import { CoinbaseDecoder } from './coinbase.ts';
import { DatabentoDecoder } from './databento.ts';
import { DeribitDecoder } from './deribit.ts';
import { HyperliquidDecoder } from './hyperliquid.ts';
import { INVERSE, OKX_CONTRACT } from './venue-contracts.ts';
import { KrakenDecoder } from './kraken.ts';
import { LeanDecoder } from './lean.ts';
import { NautilusDecoder } from './nautilus.ts';
import { OkxDecoder } from './okx.ts';
import type { DecoderContext, RowDecoder } from './row-decoder.ts';
import { TardisDecoder } from './tardis.ts';

export type MarketKind = 'spot' | 'linear' | 'inverse' | 'equity';

/** Input of a decoder of rows: one file, and the decoder state after the file before it. */
export interface RowInput {
  readonly path: string;
  readonly context: DecoderContext;
  readonly map: ColumnMap | null;
  readonly state: unknown;
  /** Length of a bar, given or by the name of the file; null if neither states it. */
  readonly barUs: number | null;
  /** Whether the contract is coin-margined, given or by the name of the file. */
  readonly isInverse: boolean;
}

export type RowDecoderFactory = (input: RowInput) => RowDecoder;

/** Decodes lines of messages into records. */
export interface MessageDecoder {
  /** Throws `TapeError` without line number; a line that throws changes no state. */
  line(text: string, line: number): void;
  /** State for the next file, as JSON. */
  state(): unknown;
}

type Reader =
  | { readonly container: 'csv' | 'arrays' | 'parquet' | 'arrow'; readonly rows: RowDecoderFactory }
  | {
      readonly container: 'messages';
      readonly messages: (context: DecoderContext, state: unknown) => MessageDecoder;
    }
  | { readonly container: 'lobster' | 'binance-raw' | 'journal' };

/** Options of an import that some formats have. */
export const IMPORT_OPTIONS = ['map', 'interval', 'round', 'contract-size'] as const;
export type ImportOption = (typeof IMPORT_OPTIONS)[number];

interface FormatRow {
  readonly name: string;
  readonly description: string;
  /** Kinds of market that the format records. */
  readonly markets: readonly MarketKind[];
  /** Detects files by their base name; null if their names have no pattern of their own. */
  readonly fileName: RegExp | null;
  /** The month or day of the records in the name of a file; absent if names state none. */
  readonly period?: RegExp;
  /** Place of the symbol; where it is missing, `--symbol` must be given. */
  readonly symbolIn: 'records' | 'path';
  /** Import options that apply to the format; others are refused. */
  readonly options: readonly ImportOption[];
  /** Symbols of inverse (coin-margined) contracts. */
  readonly inverse?: RegExp;
  /** Symbols of markets whose sizes are numbers of contracts. */
  readonly counted?: RegExp;
  /** The venue's names of spot markets, if they differ from those of contracts. */
  readonly spot?: RegExp;
  /** True if the venue has no update ids, so that the decoder assigns them. */
  readonly assignsIds?: boolean;
  /** Symbols of markets with ids of the venue, in a format that assigns them otherwise. */
  readonly withIds?: RegExp;
  /** True if no record can be missing, so that a silence is no gap. */
  readonly isComplete?: boolean;
  /** True if bars without trades are not in the files, so that a missing bar is no gap. */
  readonly omitsEmptyBars?: boolean;
  /** Base names of companion files, which are read together with the others. */
  readonly companion?: RegExp;
}

export type Format = FormatRow & Reader;

const CRYPTO = ['spot', 'linear', 'inverse'] as const;
const FUTURES = ['linear', 'inverse'] as const;
const ANY = ['spot', 'linear', 'inverse', 'equity'] as const;
const KLINE = /^[0-9A-Z_]+-[0-9]+(?:s|m|h|d|w|mo)-[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?\.(?:csv|zip)/;
/** Day of Tardis' files, and month or day of Binance's public files. */
const TARDIS_DAY = /_([0-9]{4}-[0-9]{2}-[0-9]{2})_/;
const BINANCE_PERIOD = /-([0-9]{4}-(?:0[1-9]|1[0-2])(?:-[0-9]{2})?)\.(?:csv|zip)/;
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
    period: BINANCE_PERIOD,
    symbolIn: 'path',
    options: ['round'],
    inverse: INVERSE.binance,
    container: 'csv',
    rows: (input) => new BinanceCsvDecoder(file, input),
  };
}

const tardis = (name: string, fileName: RegExp | null = null): Format => ({
  name,
  description: 'Tardis CSV; the header determines the kind of file',
  markets: CRYPTO,
  fileName,
  period: TARDIS_DAY,
  symbolIn: 'records',
  options: ['round', 'contract-size'],
  assignsIds: true,
  container: 'csv',
  rows: ({ context, state }) => new TardisDecoder(context, state),
});

/** Lines of JSON of a venue's websocket, bare or with the time of receipt in front. */
const venue = (
  name: string,
  description: string,
  markets: readonly MarketKind[],
  Decoder: new (context: DecoderContext, state: unknown) => MessageDecoder,
): Format => ({
  name,
  description: `${description}, lines of JSON`,
  markets,
  fileName: new RegExp(`^${name}\\b.*\\.(?:jsonl?|ws\\.|txt|log)`, 'i'),
  symbolIn: 'records',
  options: ['round', 'contract-size'],
  container: 'messages',
  messages: (context, state) => new Decoder(context, state),
});

const CCXT_MAP = parseColumnMap({
  kind: 'bar',
  columns: { time: 0, open: 1, high: 2, low: 3, close: 4, volume: 5 },
  timeUnit: 'ms',
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
  options: ['map', 'interval', 'round', 'contract-size'],
  inverse: INVERSE.binance,
  assignsIds: true,
  container: name,
  rows: ({ context, map, state, barUs }) => new ColumnDecoder(context, map, state, barUs),
});

export const FORMATS: readonly Format[] = [
  {
    name: 'binance-raw',
    description:
      'raw Binance websocket lines of spot and futures, `<local ns> <json>`; cryptofeed captures',
    markets: CRYPTO,
    fileName: /^BINANCE.*\.(?:ws|http)\.[0-9]/,
    symbolIn: 'records',
    // Sizes of raw messages are whole lots.
    options: [],
    inverse: INVERSE.binance,
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
    inverse: INVERSE.binance,
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
    spot: /^@|\//,
    assignsIds: true,
    container: 'messages',
    messages: (context, state) => new HyperliquidDecoder(context, state),
  },
  {
    name: 'bybit',
    description: 'Bybit v5 order books (ob500), trades and tickers, lines of JSON',
    markets: CRYPTO,
    fileName: /_ob[0-9]+\.data/,
    period: /^([0-9]{4}-[0-9]{2}-[0-9]{2})_.*_ob[0-9]+\.data/,
    symbolIn: 'records',
    options: ['round'],
    inverse: INVERSE.bybit,
    container: 'messages',
    messages: (context, state) => new BybitDecoder(context, state),
  },
  {
    ...venue('okx', 'OKX v5 books, trades, best prices and marks', CRYPTO, OkxDecoder),
    spot: /^[^-]+-[^-]+$/,
    inverse: INVERSE.okx,
    counted: OKX_CONTRACT,
  },
  {
    ...venue('deribit', 'Deribit books, trades, quotes, marks and indices', CRYPTO, DeribitDecoder),
    spot: /^[^-]+_[^-]+$/,
    inverse: INVERSE.deribit,
  },
  {
    ...venue('kraken', 'Kraken spot v2 and Futures books and trades', CRYPTO, KrakenDecoder),
    spot: /\//,
    inverse: INVERSE.kraken,
    assignsIds: true,
    // Kraken Futures numbers its updates.
    withIds: /^[PF][A-Z]_/,
  },
  {
    ...venue(
      'coinbase',
      'Coinbase Advanced Trade and Exchange books and trades',
      ['spot', 'linear'],
      CoinbaseDecoder,
    ),
    spot: /^[^-]+-[^-]+$/,
    assignsIds: true,
  },
  {
    name: 'databento',
    description: 'Databento CSV: mbo, mbp-1, mbp-10, trades and bars',
    markets: ANY,
    fileName: /\.(?:mbo|mbp-[0-9]+|tbbo|trades|ohlcv-1[smhd])\.(?:.*\.)?csv/,
    symbolIn: 'records',
    options: ['round', 'contract-size'],
    assignsIds: true,
    omitsEmptyBars: true,
    container: 'csv',
    rows: ({ context, state }) => new DatabentoDecoder(context, state),
  },
  {
    name: 'ccxt-ohlcv',
    description: 'ccxt’s OHLCV arrays as JSON: [time in ms, open, high, low, close, volume]',
    markets: CRYPTO,
    fileName: /ohlcv.*\.json/i,
    symbolIn: 'path',
    options: ['interval', 'round', 'contract-size'],
    container: 'arrays',
    rows: ({ context, state, barUs }) => new ColumnDecoder(context, CCXT_MAP, state, barUs),
  },
  {
    name: 'nautilus',
    description: 'Parquet files of a NautilusTrader catalog',
    markets: ANY,
    fileName: null,
    symbolIn: 'path',
    options: ['round', 'contract-size'],
    assignsIds: true,
    container: 'parquet',
    rows: ({ path, context, state }) => new NautilusDecoder(context, path, state),
  },
  {
    name: 'lean',
    description: 'LEAN bars of trades and funding rates of crypto, in LEAN’s folder layout',
    markets: CRYPTO,
    fileName: /(?:^|_)trade(?:_perp)?\.(?:zip|csv)$/,
    symbolIn: 'path',
    options: ['interval', 'round'],
    omitsEmptyBars: true,
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
  {
    name: 'orrery-journal',
    description: 'public market data in the journal of a served exchange: a file or a data folder',
    markets: ['linear'],
    fileName: /\.orrery$/,
    symbolIn: 'records',
    options: [],
    assignsIds: true,
    isComplete: true,
    container: 'journal',
  },
  table('csv', null, 'CSV'),
  table('parquet', /\.(?:parquet|pq)$/, 'Parquet table'),
  table('arrow', /\.(?:arrow|feather)$/, 'Arrow IPC table'),
];

/** A quote currency at the end of a pair. */
const PAIR = /^[0-9A-Z]{2,}(USDT|USDC|FDUSD|BUSD|TUSD|USD|EUR|BTC|ETH)$/;

/** Binance's contracts: `BTCUSDT_240628-1m-2024-01.zip`, `BTCUSD_PERP-trades-2024-01.zip`. */
const CONTRACT = /^([0-9A-Z]+(?:USDT?|USDC)_[0-9]{6}|[0-9A-Z]+USD_PERP)-/;

/** A pair at the start of a name in two words, as ccxt's tools write it: `BTC_USDT-1m.json`. */
const SPLIT_PAIR = /^([0-9A-Z]{2,})[_-](USDT|USDC|FDUSD|BUSD|TUSD|USD|EUR)(?![0-9A-Za-z])/;

/** Whether bars without trades are not in files of the format: a missing bar is no gap. */
export function omitsEmptyBars(format: string): boolean {
  return FORMATS.find(({ name }) => name === format)?.omitsEmptyBars === true;
}

/**
 * Symbol in a file name; null if the name has none. It is the only word that is a pair
 * (`BTCUSDT-1m-2024-01.zip`, `binance_btcusdt-trades.csv`). Otherwise it is the leading word in
 * capitals, if no other word is in capitals (`AAPL_2012-06-21_…`).
 */
export function symbolOfFile(name: string): string | null {
  const [, contract] = CONTRACT.exec(name) ?? [];
  if (contract !== undefined) return contract;
  const pair = SPLIT_PAIR.exec(name);
  if (pair !== null) return `${pair[1] ?? ''}${pair[2] ?? ''}`;
  const words = name.split(/[^\p{L}\p{N}]+/u);
  const pairs = new Set(words.map((word) => word.toUpperCase()).filter((word) => PAIR.test(word)));
  if (pairs.size > 0) return (pairs.size === 1 && [...pairs][0]) || null;
  const capitals = words.filter((word) => /^[A-Z][0-9A-Z]*$/.test(word));
  return capitals.length === 1 && capitals[0] === words[0] ? (words[0] ?? null) : null;
}
