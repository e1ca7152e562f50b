/** `orrery metrics`: files of other tools, conventions, and messages for faulty files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import * as fs from 'node:fs';

vi.mock('node:fs', { spy: true });

const folder = mkdtempSync(join(tmpdir(), 'orrery-metrics-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function metrics(
  files: { equity: string; trades?: string },
  ...flags: string[]
): Promise<{ code: number; out: string; error: string }> {
  const equity = join(folder, 'equity.csv');
  const trades = join(folder, 'trades.csv');
  writeFileSync(equity, files.equity);
  const more = files.trades === undefined ? [] : ['--trades', trades];
  if (files.trades !== undefined) writeFileSync(trades, files.trades);
  const written = new Map([
    [1, ''],
    [2, ''],
  ]);
  vi.mocked(fs.writeSync).mockImplementation((descriptor: number, bytes: unknown) => {
    written.set(descriptor, `${written.get(descriptor)}${String(bytes)}`);
    return (bytes as Buffer).length;
  });
  const code = await main(['metrics', equity, ...more, ...flags]);
  vi.mocked(fs.writeSync).mockRestore();
  return { code, out: written.get(1) ?? '', error: written.get(2) ?? '' };
}

const figures = (out: string): Record<string, unknown> =>
  (JSON.parse(out) as { metrics: Record<string, unknown> }).metrics;

const DAILY = 'date,equity\n2024-01-01,100\n2024-01-02,110\n2024-01-03,99\n';

describe('files', () => {
  it.each([
    ['days', DAILY],
    [
      'a byte order mark, quotes, blank lines',
      '\uFEFF"Date","Equity"\r\n2024-01-01,"100"\r\n\r\n2024-01-02,110\r\n2024-01-03,99\r\n',
    ],
    ['days without separators', 'date,equity\n20240101,100\n20240102,110\n20240103,99\n'],
    ['seconds', 'time,value\n1704067200,100\n1704153600,110\n1704240000,99\n'],
    ['milliseconds', 'timestamp,nav\n1704067200000,100\n1704153600000,110\n1704240000000,99\n'],
    [
      'microseconds',
      'time_us,balance\n1704067200000000,100\n1704153600000000,110\n1704240000000000,99\n',
    ],
    [
      'nanoseconds',
      'ts,equity\n1704067200000000000,100\n1704153600000000000,110\n1704240000000000000,99\n',
    ],
    [
      'times with UTC offsets',
      'datetime,equity\n2024-01-01 00:00:00,100\n2024-01-02T01:00:00+01:00,110\n2024-01-03 00:00:00.000000,99\n',
    ],
    [
      'other columns',
      'Portfolio Value,x,Date\n100,a,2024-01-01\n110,b,2024-01-02\n99,c,2024-01-03\n',
    ],
  ])('%s', async (_what, equity) => {
    const { code, out } = await metrics({ equity }, '--json');
    expect(code).toBe(0);
    expect(figures(out)).toMatchObject({
      startUs: 1704067200000000,
      endUs: 1704240000000000,
      periodsPerYear: 365,
    });
    expect(figures(out)['maxDrawdown']).toBeCloseTo(0.1, 12);
  });

  it('a list without times, with --spacing', async () => {
    const { out } = await metrics(
      { equity: 'equity\n100\n110\n99\n' },
      '--spacing',
      '1h',
      '--json',
    );
    expect(figures(out)['periodsPerYear']).toBe(8760);
  });

  it.each([
    [
      'as pandas writes a series',
      ',equity\n2024-01-01 00:00:00+00:00,100\n2024-01-02 00:00:00+00:00,101\n',
    ],
    ['with semicolons', 'time;equity\n2024-01-01;100\n2024-01-02;101\n'],
  ])('a curve %s', async (_what, equity) => {
    const { out } = await metrics({ equity }, '--json');
    expect(figures(out)['totalReturn']).toBeCloseTo(0.01, 12);
  });

  it('seconds of 1970 that look like days in some rows only', async () => {
    const { out } = await metrics(
      { equity: 'time,equity\n20040060,100\n20040120,101\n20040180,102\n' },
      '--json',
    );
    expect(figures(out)).toMatchObject({ startUs: 20040060e6, endUs: 20040180e6 });
  });

  it('a figure beyond the largest number is a dash', async () => {
    const { out } = await metrics({ equity: 'date,equity\n2024-01-01,1e-300\n2024-01-02,1e300\n' });
    expect(out).not.toMatch(/Infinity|NaN/);
  });

  it('trades as a table', async () => {
    const trades =
      'Entry Time,Exit Time,Net PnL,Notional\n2024-01-01,2024-01-02,10,210\n2024-01-02,2024-01-03,-11,209\n';
    const { code, out } = await metrics({ equity: DAILY, trades });
    expect(code).toBe(0);
    expect(out).toContain('profit factor');
    expect(out).toContain('100.00 %');
  });
});

describe('bad input ends with code 2 and names the place', () => {
  it.each([
    [{ equity: '' }, [], 'is empty'],
    [
      { equity: 'date,equity\n2024-01-01,9,900\n2024-01-02,10,100\n' },
      [],
      'line 2: has 3 fields, but the header 2',
    ],
    [
      { equity: DAILY },
      ['--spacing', '5d'],
      "the times are in the column 'date'; --spacing is for a file without times",
    ],
    [
      { equity: 'when,equity\n1,100\n2,101\n' },
      ['--spacing', '5d', '--time-column', 'when'],
      "the times are in the column 'when'",
    ],
    [
      { equity: 'a,b\n1,2\n' },
      [],
      "line 1: no column for equity (equity, balance, value, nav …); the columns are 'a', 'b'",
    ],
    [
      { equity: 'date,equity\n2024-01-01,1e5\n2024-13-01,2\n' },
      [],
      "line 3: date: '2024-13-01' is not a time",
    ],
    [
      { equity: 'date,equity\n2023-02-28,1e5\n2023-02-29,2\n' },
      [],
      "line 3: date: '2023-02-29' is not a time",
    ],
    [
      { equity: 'date,equity\n2024-01-01,100\n2024-01-02,1.2.3\n' },
      [],
      "line 3: equity: '1.2.3' is not a number",
    ],
    [{ equity: 'date,equity\n2024-01-01,100\n2024-01-02,NaN\n' }, [], "'NaN' is not a number"],
    [{ equity: 'date,equity\n2024-01-02,100\n2024-01-01,100\n' }, [], 'row 2: time is not after'],
    [{ equity: 'date,equity\n2024-01-01,100\n' }, [], 'at least 2'],
    [{ equity: DAILY, trades: 'pnl\nx\n' }, [], "trades.csv: line 2: pnl: 'x' is not a number"],
    [
      { equity: DAILY, trades: 'pnl,entry,exit\n1,2024-01-02,2024-01-01\n' },
      [],
      'trades.csv: trade 1: exit is before entry',
    ],
    [{ equity: DAILY }, ['--level', '7'], '--level is 7; it must be from 0.5 to 0.9999'],
    [{ equity: DAILY }, ['--period', 'soon'], "--period is 'soon'"],
    [{ equity: DAILY }, ['--trials', '5'], 'go together'],
    [{ equity: DAILY }, ['--returns', 'big'], '--returns must be one of simple, log'],
  ])('%#', async (files, flags, words) => {
    const { code, error } = await metrics(files, ...flags);
    expect(error).toContain(words);
    expect(code).toBe(2);
  });
});
