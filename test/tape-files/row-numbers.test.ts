/** Numbers of rows that fit no tick or lot, where tick and lot are found in the files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readFiles } from './read-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-row-numbers-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const row = (id: number, price = '42313.9', size = '1.5'): string =>
  `${String(id)},${price},${size},0,${String(1_704_067_200_000 + id)},true\n`;

function read(odd: string, skipBad = 0): ReturnType<typeof readFiles> {
  const path = join(scratch, 'BTCUSDT-trades-2024-01.csv');
  writeFileSync(path, row(1) + odd + row(3));
  return readFiles('binance-trades', [path], { skipBad });
}

test('a number with too many digits for any tick or lot is a bad row, and no step', async () => {
  const digits = '123456789012345678901234567890';
  const faults: readonly (readonly [string, string])[] = [
    [row(2, `42313.${digits}`), `line 2: \`price\` price "42313.${digits}" has too many digits`],
    [
      row(2, '42313.9', `1.${digits}`),
      `line 2: \`qty\` size "1.${digits}" is not a multiple of 0.1`,
    ],
    [row(2, '42313.9', '9007199254740993'), 'is more than 2^53 − 1 lots of 0.1'],
  ];
  for (const [odd, message] of faults) {
    await expect(read(odd)).rejects.toThrow(message);
    const { units, records, skipped } = await read(odd, 1);
    expect([units?.tickSize, units?.lotSize, records.length, skipped]).toEqual([
      '0.1',
      '0.1',
      2,
      1,
    ]);
  }
});

test('text that is no number is named as such, and an empty field as empty', async () => {
  const comma = 'is not a number, such as 1234.5';
  await expect(read(row(2, '"42,313.9"'))).rejects.toThrow(`price "42,313.9" ${comma}`);
  await expect(read(row(2, ''))).rejects.toThrow('line 2: `price` price "" is empty');
  await expect(read(row(2, '42313.9', '1_5'))).rejects.toThrow(`\`qty\` size "1_5" ${comma}`);
  await expect(read(row(2, '42313.95', '1').replace('2,', '2,-'))).rejects.toThrow(
    'price "-42313.95" is not a positive multiple of 0.1, the tick; no price is rounded',
  );
});

test('prices with more digits than a market has ticks are to be rounded in the file', async () => {
  const path = join(scratch, 'prices.csv');
  writeFileSync(
    path,
    'time,open,high,low,close,volume\n1704067200,42280.234375,42281,42280,42281,1\n',
  );
  await expect(readFiles('csv', [path], { symbol: 'BTC-USD' })).rejects.toThrow(
    'price "42280.234375" has too many digits: a price has at most 2^31 − 1 ticks; round the prices of the file',
  );
  // The tick is that of the first price, which all others do not fit.
  writeFileSync(path, 'time,open,high,low,close,volume\n1704067200,42,42.123456789,42,42,1\n');
  await expect(readFiles('csv', [path], { symbol: 'BTC-USD' })).rejects.toThrow(
    '`high` price "42.123456789" has too many digits',
  );
});

test('prices without a common tick are named, the finest and the highest', async () => {
  await expect(read(row(2, '0.0000001'))).rejects.toThrow(
    'the price "42313.9" is beyond 2^31 − 1 ticks of 0.0000001, which the price "0.0000001" needs',
  );
  await expect(read(row(2, '0.00001'))).rejects.toThrow('which the price "0.00001" needs');
  expect((await read(row(2, '0.0001'))).units?.tickSize).toBe('0.0001');
});
