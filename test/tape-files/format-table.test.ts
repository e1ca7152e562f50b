/**
 * The table of data formats: it covers the documentation, and a row with a decoder is a complete
 * format.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterAll, expect, test } from 'vitest';
import { timeUs } from '../../src/num/units.ts';
import { FORMATS, type Format } from '../../src/tape/formats/formats.ts';
import { timeOf } from '../../src/tape/formats/numbers.ts';
import { formatNamed } from '../../src/tape-files/format-named.ts';
import { Recording } from '../../src/tape-files/recordings.ts';

const root = new URL('../../', import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'orrery-format-table-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

/** Names in the first column of the table of docs/DATA.md; `-trades` continues `binance-klines`. */
function documentedNames(): string[] {
  const table = readFileSync(`${root}docs/DATA.md`, 'utf8').split(/^\| format .*\n/m)[1] ?? '';
  const cells = (table.split('\n\n')[0] ?? '')
    .split('\n')
    .flatMap((row) => /^\| (`.*?) \|/.exec(row)?.[1] ?? []);
  return cells.flatMap((cell) =>
    [...cell.matchAll(/`(-?[a-z][a-z0-9-]*)`/g)].map(([, name = '']) =>
      name.startsWith('-') ? `binance${name}` : name,
    ),
  );
}

test('every documented format has a row in the table', () => {
  const names = documentedNames();
  expect(names.length).toBeGreaterThanOrEqual(10);
  expect(names.filter((name) => !FORMATS.some((format) => format.name === name))).toEqual([]);
});

test('every row of the table is documented, under its name or its suffix', () => {
  const text = readFileSync(`${root}docs/DATA.md`, 'utf8');
  const isDocumented = ({ name }: Format): boolean =>
    text.includes(`\`${name}\``) ||
    text.includes(`\`${name.replace('binance', '')}\``) ||
    name.startsWith('tardis-');
  expect(FORMATS.filter((format) => !isDocumented(format)).map(({ name }) => name)).toEqual([]);
  expect(new Set(FORMATS.map(({ name }) => name)).size).toBe(FORMATS.length);
});

test('no file of src outside the table names a format, apart from readers of raw Binance lines', () => {
  const names = FORMATS.map(({ name }) => name).filter(
    (name) => !['csv', 'parquet', 'arrow'].includes(name),
  );
  const files = execFileSync('git', ['grep', '-lE', `'(${names.join('|')})'`, '--', 'src'], {
    cwd: root,
    encoding: 'utf8',
  });
  // `lobster` and `binance-raw` are also containers: recordings.ts has one reader per container, and
  // find-units.ts reads them otherwise. candles.ts reads arrays of ccxt; raw-recording.ts reads raw Binance lines without an import.
  expect(files.trim().split('\n')).toEqual([
    'src/library/backtest/candles.ts',
    'src/tape-files/find-units.ts',
    'src/tape-files/raw-recording.ts',
    'src/tape-files/recordings.ts',
    'src/tape/formats/formats.ts',
  ]);
});

test('a row with a decoder is a complete format: a recording reads it without other changes', async () => {
  const format: Format = {
    name: 'marks',
    description: 'a mark per line',
    markets: ['linear'],
    fileName: /\.marks$/,
    symbolIn: 'path',
    options: [],
    container: 'csv',
    rows: ({ context }) => ({
      symbol: null,
      row: ({ fields, line }) => {
        const at = timeOf(fields[0], 'time');
        const priceTicks = context.numbers.rounded(fields[1], 'mark');
        context.emit({ kind: 'mark', timeUs: at, localUs: at, line, priceTicks });
      },
      endFile: () => undefined,
      state: () => null,
    }),
  };
  const path = join(scratch, 'x.marks');
  writeFileSync(path, '1700000000,101.5\n');
  const units = { symbol: 'X', tickSize: '0.5', lotSize: '1', inverse: false };
  const recording = new Recording({
    format,
    files: [path],
    symbol: 'X',
    units,
    inverse: false,
    map: null,
    skipBad: 0,
    state: null,
  });
  const records = [];
  for await (const batch of recording.read(path)) records.push(...batch);
  const at = timeUs(1_700_000_000_000_000);
  expect(records).toEqual([{ kind: 'mark', timeUs: at, localUs: at, line: 1, priceTicks: 203 }]);
});

test.each([
  [['BTCUSDT-trades-2024-01-01.zip'], 'binance-trades'],
  [['x/BTCUSDT-aggTrades-2024-01.csv'], 'binance-aggtrades'],
  [['BTCUSDT-fundingRate-2024-01.zip'], 'binance-funding'],
  [['BTCUSDT-bookTicker-2024-01-01.zip'], 'binance-bookticker'],
  [
    ['BTCUSDT_T_DEPTH_2024-01-01_depth_snap.csv', 'BTCUSDT_T_DEPTH_2024-01-01_depth_update.csv'],
    'binance-depth',
  ],
  [['binance-futures_incremental_book_L2_2020-02-01_BTCUSDT.csv.gz'], 'tardis'],
  [['deribit_trades_2020-02-01_PERPETUALS.csv.gz'], 'tardis'],
  [['2024-01-01_BTCUSDT_ob500.data.zip'], 'bybit'],
  [
    [
      'AAPL_2012-06-21_34200000_57600000_message_50.csv',
      'AAPL_2012-06-21_34200000_57600000_orderbook_50.csv',
    ],
    'lobster',
  ],
  [['binance/minute/adausdt/20221213_trade.zip'], 'lean'],
  [['BINANCE_x.ws.1.0', 'BINANCE_x.http.0.0'], 'binance-raw'],
  [['ticks.parquet'], 'parquet'],
  [['ticks.feather'], 'arrow'],
])('detects the format of %j as %s', (files, name) => {
  expect(formatNamed('auto', files).name).toBe(name);
});

test.each([
  [
    ['BTCUSDT-1m-2024-01.zip'],
    'match several formats; name one of binance-klines, binance-mark-klines, binance-index-klines',
  ],
  [['ticks.csv'], 'match no format; name one of binance-raw, '],
  [['ticks.parquet', 'ticks.feather'], 'match no format'],
])('does not guess the format of %j', (files, message) => {
  expect(() => formatNamed('auto', files)).toThrow(message);
});

test.each([
  ['2026-04-19T14:05:00+02:00', '2026-04-19T12:05:00Z'],
  ['2026-04-19 14:05:00-0530', '2026-04-19T19:35:00Z'],
  ['2026-04-19T00:05:00+00:00', '2026-04-19T00:05:00Z'],
  ['2026-04-19', '2026-04-19T00:00:00Z'],
])('the time %s is %s', (text, utc) => {
  expect(timeOf(text, 'time')).toBe(Date.parse(utc) * 1000);
  if (text.includes('T')) expect(timeOf(text, 'time', 'ms')).toBe(Date.parse(utc) * 1000);
});

test.each([
  '2026-04-19T14:05:00+24:00',
  '2026-04-19T14:05:00+02:60',
  '2026-04-19T14:05:00+2',
  '01/02/2024 00:00',
])('the time %s is refused', (text) => {
  expect(() => timeOf(text, 'time')).toThrow(
    'is not a time from 1970 to 2255: write it as 2024-01-31 13:00:00 or as a number since 1970',
  );
});
