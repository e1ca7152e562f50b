/** Symbols of venues outside of ASCII, and the names of their markets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isSameMarket, specSymbol } from '../../src/tape/formats/market-names.ts';
import { symbolOfFile } from '../../src/tape/formats/formats.ts';
import { readFiles } from './read-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-market-symbols-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, rows: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.join('\n'));
  return path;
}

const trade = (symbol: string, id: number): string =>
  `{"e":"trade","E":${String(1704067200000 + id)},"T":${String(1704067200000 + id)},"s":"${symbol}","t":${String(id)},"p":"1.5","q":"2","X":"MARKET","m":false}`;

describe('a symbol outside of ASCII', () => {
  it('has its code points in the name of its market', () => {
    expect(specSymbol('龙USDT')).toBe('u9f99USDT');
    expect(specSymbol('BTC/USDT')).toBe('BTC-USDT');
    expect(isSameMarket('龙USDT', 'u9f99usdt')).toBe(true);
  });

  it('is another market than one with other characters, or with none', () => {
    expect(isSameMarket('龙USDT', '虎USDT')).toBe(false);
    expect(isSameMarket('龙USDT', 'USDT')).toBe(false);
  });

  it('is not merged with another one in a table', async () => {
    const path = file('two.csv', [
      'time,symbol,price,size,side',
      '1704067200000,龙USDT,1.5,2,buy',
      '1704067201000,虎USDT,9.5,2,buy',
    ]);
    await expect(readFiles('csv', [path])).rejects.toThrow(
      'the records are of 龙USDT, 虎USDT; --symbol selects one market',
    );
    const { units, records } = await readFiles('csv', [path], { symbol: '虎USDT' });
    expect(units?.symbol).toBe('u864eUSDT');
    expect(records).toHaveLength(1);
  });

  it('is read from messages that name it as the venue does', async () => {
    const path = file('raw.jsonl', [trade('龙USDT', 1), trade('龙USDT', 2)]);
    const { units, records } = await readFiles('binance-raw', [path]);
    expect(units?.symbol).toBe('u9f99USDT');
    expect(records).toHaveLength(2);
  });

  it('is no pair of the ASCII letters in the name of a file', () => {
    expect(symbolOfFile('新BTCUSDT-1m-2024-01.csv')).toBeNull();
    expect(symbolOfFile('BTCUSDT-1m-2024-01.csv')).toBe('BTCUSDT');
  });
});

it('a pair that is written with a slash selects the messages of its market', async () => {
  const path = file('pair.jsonl', [trade('ABCUSDT', 1), trade('ABCUSDT', 2)]);
  const { units, records } = await readFiles('binance-raw', [path], { symbol: 'ABC/USDT' });
  expect(units?.symbol).toBe('ABC-USDT');
  expect(records).toHaveLength(2);
});

describe('symbols that differ only in punctuation or case', () => {
  const rows = (...symbols: readonly string[]): readonly string[] => [
    'time,symbol,price,size,side',
    ...symbols.map((symbol, i) => `${String(1704067200000 + i)},${symbol},1.5,2,buy`),
  ];

  it.each([null, 'BTCUSDT', 'BTC/USDT'])(
    'are refused in one file, with --symbol %s',
    async (symbol) => {
      const path = file('spellings.csv', rows('BTC-USDT', 'BTC-USDT', 'BTC/USDT'));
      await expect(readFiles('csv', [path], { symbol })).rejects.toThrow(
        'spellings.csv: line 4: the market BTC/USDT, after BTC-USDT: names that differ only in punctuation or case are one market',
      );
    },
  );

  it('are refused in messages', async () => {
    const path = file('raw.jsonl', [trade('kPEPEUSDT', 1), trade('KPEPEUSDT', 2)]);
    await expect(readFiles('binance-raw', [path])).rejects.toThrow(
      'raw.jsonl: line 2: the market KPEPEUSDT, after kPEPEUSDT',
    );
  });

  it('are no fault where another market is read, or in files of two tools', async () => {
    const mixed = file('mixed.csv', rows('BTC-USDT', 'BTC/USDT', 'ETH-USDT'));
    expect((await readFiles('csv', [mixed], { symbol: 'ETHUSDT' })).records).toHaveLength(1);
    const paths = [file('a.csv', rows('BTC-USDT')), file('b.csv', rows('BTC/USDT'))];
    const { units, records } = await readFiles('csv', paths);
    expect(units?.symbol).toBe('BTC-USDT');
    expect(records).toHaveLength(2);
  });
});
