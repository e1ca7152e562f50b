/**
 * Candles of a program as a dataset: OHLCV arrays as ccxt returns them,
 * `[time in ms, open, high, low, close, volume]`.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../platform/make-folder.ts';
import { StrategyError } from '../../strategy/definition.ts';
import { parseColumnMap } from '../../tape/formats/column-map.ts';
import { TapeError, type TapeUnits } from '../../tape/record.ts';
import { DatasetWriter } from '../../tape-files/dataset-writer.ts';
import { findUnits } from '../../tape-files/find-units.ts';
import { formatNamed } from '../../tape-files/format-named.ts';
import { Recording } from '../../tape-files/recordings.ts';
import { checkOptions, type OptionKinds } from './option-kinds.ts';
import { lengthOf } from './option-values.ts';

/** One candle: time of its start in ms since 1970, open, high, low, close, volume. */
export type Candle = readonly (number | null | undefined)[];

export interface CandleMarket {
  /** Letters, digits, point, dash and underscore: `BTCUSDT`. */
  readonly symbol: string;
  /** In order of time. The last one must be complete: ccxt also returns the current one. */
  readonly candles: readonly Candle[];
  /** Length of a candle: `1h`, or microseconds. Found from the first two unless given. */
  readonly interval?: string | number;
  /** Decimal text. Found in the prices and the volumes unless both are given. */
  readonly tickSize?: string;
  readonly lotSize?: string;
}

const FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'];
const SOURCE = 'candles of a program';

/**
 * Writes candles as a dataset, whose folder `data` then names. The folder must not exist.
 *
 * @returns the folder
 * @throws StrategyError naming the candle and its field
 * @throws TapeError or FileError when the folder cannot be written, or prices do not fit the tick
 */
export async function writeCandles(
  folder: string,
  markets: readonly CandleMarket[],
): Promise<string> {
  checkOptions({ folder, candles: markets }, { folder: 'text', candles: 'objects' });
  if (markets.length === 0) throw new StrategyError('candles: no market is given');
  for (const [i, market] of markets.entries()) checkMarket(market, markets.slice(0, i));
  const isFree = await stat(folder).then(
    () => false,
    () => true,
  );
  if (!isFree) throw new StrategyError(`candles: ${folder} exists; name another folder`);
  // Beside the folder, so that it appears whole.
  const scratch = `${folder}.${randomUUID()}`;
  await makeFolder(scratch);
  try {
    const written = join(scratch, 'dataset');
    for (const [i, market] of markets.entries()) await importMarket(written, market, scratch, i);
    await rename(written, folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** Calls `work` with a dataset of the candles, which is removed afterwards. */
export async function withCandles<T>(
  markets: readonly CandleMarket[],
  work: (data: string) => Promise<T>,
): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), 'orrery-candles-'));
  try {
    return await work(await writeCandles(join(scratch, 'candles'), markets));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A name for a symbol of ccxt, which calls the perpetual 'BTC/USDT:USDT'. */
function suggestedFor(symbol: unknown): string {
  const [pair = ''] = typeof symbol === 'string' ? symbol.split(':') : [];
  return /^\w+\/\w+$/.test(pair) ? pair.replace('/', '-') : 'BTCUSDT';
}

const MARKET_KINDS: OptionKinds<keyof CandleMarket> = {
  ...{
    symbol: 'text',
    candles: 'any',
    interval: 'length',
    tickSize: 'decimal',
    lotSize: 'decimal',
  },
};

function checkMarket(market: CandleMarket, before: readonly CandleMarket[]): void {
  checkOptions(market, MARKET_KINDS, `candles[${String(before.length)}]`);
  const { symbol, candles, tickSize, lotSize } = market;
  if (typeof symbol !== 'string' || !/^[A-Za-z0-9._-]{1,32}$/.test(symbol)) {
    throw new StrategyError(
      `candles: symbol '${symbol}': may hold letters, digits, point, dash and underscore, such as ${suggestedFor(symbol)}`,
    );
  }
  if (before.some((other) => other.symbol === symbol)) {
    throw new StrategyError(`candles: ${symbol} is given twice`);
  }
  if ((tickSize === undefined) !== (lotSize === undefined)) {
    throw new StrategyError(`candles of ${symbol}: tickSize and lotSize need each other`);
  }
  if (!Array.isArray(candles) || candles.length < 2) {
    throw new StrategyError(`candles of ${symbol}: must be a list of at least two`);
  }
  let lastMs = -Infinity;
  for (const [i, candle] of candles.entries()) {
    const place = `candles of ${symbol}: candle ${String(i)}`;
    const values = FIELDS.map((name, k) => {
      const value: unknown = Array.isArray(candle) ? candle[k] : undefined;
      if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
      throw new StrategyError(
        `${place}: ${name} '${String(value)}' must be a number of at least 0`,
      );
    });
    const [ms = 0] = values;
    if (!Number.isSafeInteger(ms) || ms <= lastMs) {
      throw new StrategyError(
        `${place}: time ${String(ms)} must be whole ms since 1970, after that of the candle before`,
      );
    }
    lastMs = ms;
  }
}

async function importMarket(
  folder: string,
  { symbol, candles, interval, tickSize, lotSize }: CandleMarket,
  scratch: string,
  index: number,
): Promise<void> {
  const rows = candles.map(
    (candle) => `[${FIELDS.map((_, k) => plain(candle[k] ?? 0)).join(',')}]`,
  );
  const text = `[${rows.join(',\n')}]`;
  const file = join(scratch, `market-${String(index)}.json`);
  await writeFile(file, text);
  const given: TapeUnits | null =
    tickSize === undefined || lotSize === undefined
      ? null
      : { symbol, tickSize, lotSize, inverse: false };
  const format = formatNamed('ccxt-ohlcv');
  const intervalUs = interval === undefined ? null : lengthOf('interval', interval, 1000);
  const map = { ...parseColumnMap({ kind: 'bar' }), intervalUs };
  const options = {
    ...{ format, files: [file], symbol, inverse: false, map, skipBad: 0, state: null },
    round: given !== null,
  };
  const writer = await DatasetWriter.open(folder, {
    id: symbol,
    // Nothing resumes: candles are in memory.
    job: randomUUID(),
    mode: index === 0 ? 'create' : 'add',
  });
  try {
    const units = await findUnits({ ...options, units: given });
    if (units === null) throw new TapeError('no price was found');
    const recording = new Recording({ ...options, units });
    for await (const batch of recording.read(file)) {
      for (const record of batch) await writer.write(record);
    }
    const sha256 = createHash('sha256').update(text).digest('hex');
    const size = Buffer.byteLength(text);
    await writer.endFile({ name: `${symbol}.json`, sha256, bytes: size }, null);
    const facts = { symbol, format: format.name, source: SOURCE, licence: '' };
    await writer.finish(facts, units);
  } catch (error) {
    await writer.abandon();
    if (!(error instanceof TapeError)) throw error;
    const message = error.message
      .replaceAll(file, `candles of ${symbol}`)
      .replace('--interval gives', 'interval gives')
      .replace(/line ([0-9]+)/, (_, line: string) => `candle ${String(Number(line) - 1)}`);
    throw new TapeError(message);
  }
}

/** Decimal text without an exponent. */
function plain(value: number): string {
  const text = String(value);
  const [digits = '', exponent] = text.split('e');
  if (exponent === undefined) return text;
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  if (shift < 0) return `0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
  return `${whole}${fraction.padEnd(shift, '0')}`;
}
