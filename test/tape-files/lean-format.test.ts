/**
 * LEAN's files: the path contains market, day and length of a bar. Symbols in file names of all
 * formats.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, expect, test } from 'vitest';
import { parseColumnMap } from '../../src/tape/formats/column-map.ts';
import { symbolOfFile } from '../../src/tape/formats/formats.ts';
import { readFiles } from './read-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-lean-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

function file(path: string, text: string): string {
  const whole = join(scratch, path);
  mkdirSync(dirname(whole), { recursive: true });
  const isZip = path.endsWith('.zip');
  writeFileSync(whole, isZip ? zipSync({ 'member.csv': Buffer.from(text) }) : text);
  return whole;
}

const MINUTES = '0,0.3067,0.3068,0.3066,0.3068,274004\n60000,0.3068,0.3072,0.3067,0.3071,1031647\n';
const HOUR = '20221213 01:00,0.3057,0.3062,0.3047,0.3053,11303015\n';
/** 2022-12-13T00:00:00Z */
const DAY = 1_670_889_600_000_000;

test('minutes count from the day in the name, across files', async () => {
  const { units, records } = await readFiles('lean', [
    file('binance/minute/adausdt/20221213_trade.zip', MINUTES),
    file('binance/minute/adausdt/20221214_trade.zip', MINUTES),
  ]);
  expect(units).toEqual({ symbol: 'ADAUSDT', tickSize: '0.0001', lotSize: '1', inverse: false });
  expect(records.length).toBe(4);
  expect(records[1]).toMatchObject({
    kind: 'bar',
    startUs: DAY + 60e6,
    timeUs: DAY + 120e6 - 1,
    open: 3068,
    high: 3072,
    low: 3067,
    close: 3071,
    volume: 1_031_647,
  });
  expect(records[2]).toMatchObject({ startUs: DAY + 86_400e6 });
});

test('rows of hours, days and funding rates have their date', async () => {
  const hour = await readFiles('lean', [file('x/hour/adausdt_trade.zip', HOUR)]);
  expect(hour.records).toMatchObject([{ startUs: DAY + 3600e6, timeUs: DAY + 7200e6 - 1 }]);
  const day = await readFiles('lean', [
    file('x/daily/adausdt_trade.zip', HOUR.replace('01:', '00:')),
  ]);
  expect(day.records).toMatchObject([{ startUs: DAY, timeUs: DAY + 86_400e6 - 1 }]);
  const rates = '20221213 08:00:00,-0.00035916\n';
  const funding = await readFiles('lean', [file('bybit/margin_interest/btcusd.csv', rates)]);
  expect(funding.units?.symbol).toBe('BTCUSD');
  expect(funding.records).toMatchObject([
    { kind: 'funding', timeUs: DAY + 8 * 3600e6, ratePpb: -359_160 },
  ]);
});

test('a file outside the folders of LEAN uses its name, --interval and --symbol', async () => {
  const named = await readFiles('lean', [file('20221213_adausdt_minute_trade_perp.csv', MINUTES)]);
  expect(named.units?.symbol).toBe('ADAUSDT');
  expect(named.records[0]).toMatchObject({ startUs: DAY, timeUs: DAY + 60e6 - 1 });
  const bare = file('elsewhere/adausdt_trade.csv', HOUR);
  await expect(readFiles('lean', [bare])).rejects.toThrow('the length of a bar');
  const map = { ...parseColumnMap({ kind: 'bar' }), intervalUs: 3600e6 };
  expect((await readFiles('lean', [bare], { map })).records).toMatchObject([
    { startUs: DAY + 3600e6 },
  ]);
});

test.each([
  ['m/minute/adausdt/20221213_quote.zip', MINUTES, 'bars of quotes are not supported'],
  ['m/tick/adausdt/20221213_trade.zip', MINUTES, "LEAN's ticks are not supported"],
  ['equity/usa/minute/spy/20131007_trade.zip', MINUTES, 'files of `equity` are not supported'],
  ['m/minute/adausdt/trade.csv', MINUTES, 'day in the name of the file'],
  ['m/minute/adausdt/20221299_trade.csv', MINUTES, '`date` "2022-12-99" is not a time'],
  [
    'm/minute/adausdt/20221215_trade.csv',
    '86400000,1,1,1,1,1\n',
    'line 1: `time` "86400000" is not from 0 to 86399999 ms',
  ],
  ['m/minute/adausdt/20221216_trade.csv', '0,1,1,1,1\n', 'line 1: 5 fields; a bar of trades has 6'],
  ['m/hour/adausdt_trade.csv', '2022-12-13,1,1,1,1,1\n', 'such as 20221213 08:00'],
])('%s is rejected with a message', async (path, text, words) => {
  await expect(readFiles('lean', [file(path, text)])).rejects.toThrow(words);
});

test('files of several markets are rejected', async () => {
  const paths = ['adausdt', 'btcusd'].map((name) => file(`two/hour/${name}_trade.csv`, HOUR));
  await expect(readFiles('lean', paths)).rejects.toThrow(
    'the records are of ADAUSDT, BTCUSD; --symbol selects one market',
  );
});

test.each([
  ['BTCUSDT-1m-2024-01.zip', 'BTCUSDT'],
  ['binance_btcusdt-trades.parquet', 'BTCUSDT'],
  ['BTCUSDT_T_DEPTH_2024-01-01_depth_snap.csv', 'BTCUSDT'],
  ['1000PEPEUSDT-trades-2024-01-01.csv.gz', '1000PEPEUSDT'],
  ['AAPL_2012-06-21_34200000_57600000_message_50.csv', 'AAPL'],
  ['btcusdt_ethusdt.csv', null],
  ['BINANCE_PERP.csv', null],
  ['binance_trades.csv', null],
  ['ticks.csv', null],
])('the file name %s has the symbol %s', (name, symbol) => {
  expect(symbolOfFile(name)).toBe(symbol);
});

test('a market that neither files nor names contain must be given', async () => {
  const ticks = file('binance_trades.csv', 'time,price,size,side\n1700000000000,10,1,buy\n');
  await expect(readFiles('csv', [ticks])).rejects.toThrow(
    'the files and file names name no market; give --symbol',
  );
  const { units } = await readFiles('csv', [ticks], { symbol: 'GOLD' });
  expect(units?.symbol).toBe('GOLD');
});
