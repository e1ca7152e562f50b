/** Exported tables: one schema whatever the run, and equal content in every format. */
import { tableFromIPC } from 'apache-arrow';
import { unzipSync } from 'fflate';
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { expect, test } from 'vitest';
import { arrowTable } from '../../src/report/tables/arrow-table.ts';
import { csvTable, npzTables, parquetTable } from '../../src/report/tables/plain-tables.ts';
import { RUN_TABLES, runTables } from '../../src/report/tables/run-tables.ts';
import type { OrderRow } from '../../src/backtest/output.ts';
import { fill, output, START_US, strategy } from './fixture.ts';

const plots = [
  { name: 'sma', symbol: 'BTCUSDT', pane: 'price', timesUs: [START_US], values: [null] },
] as const;
const log = [{ timeUs: START_US + 1, text: 'a "quoted", line\nand 株' }];
const FULL = output([
  strategy('a', { plots, log }),
  strategy('b', { fills: [fill('buy', '1', '5', '1', { tag: 'why', fillId: 2 ** 52 })] }),
]);
const EMPTY = output([strategy('c', { equity: [], fills: [] })]);
const bufferOf = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

test('every run has all tables with all columns', () => {
  for (const run of [FULL, EMPTY]) {
    const types = runTables(run).map(({ name, columns }) => [
      name,
      Object.fromEntries(columns.map((column) => [column.name, column.type])),
    ]);
    expect(Object.fromEntries(types)).toEqual(RUN_TABLES);
  }
});

test.each(runTables(FULL))(
  'Arrow and Parquet files of $name have one schema and the cells',
  async (table) => {
    const empty = runTables(EMPTY).find(({ name }) => name === table.name)!;
    const schemaOf = (bytes: Uint8Array) =>
      tableFromIPC(bytes).schema.fields.map(({ name, type }) => `${name} ${String(type)}`);
    expect(schemaOf(arrowTable(empty))).toEqual(schemaOf(arrowTable(table)));
    const arrow = tableFromIPC(arrowTable(table));
    const parquet = bufferOf(parquetTable(table));
    const layout = (bytes: ArrayBuffer) =>
      parquetSchema(parquetMetadata(bytes)).children.map(({ element }) => element);
    expect(layout(bufferOf(parquetTable(empty)))).toEqual(layout(parquet));
    const rows = await parquetReadObjects({ file: parquet, compressors });
    expect([arrow.numRows, rows.length]).toEqual([table.rows, table.rows]);
    table.columns.forEach(({ name, type, cells }) => {
      const column = arrow.getChild(name)!;
      cells.forEach((cell, i) => {
        const wide = cell === null || (type !== 'int' && type !== 'time') ? cell : BigInt(cell);
        const isTime = type === 'time' && cell !== null;
        expect(column.get(i)).toEqual(isTime ? Number(cell) / 1000 : wide);
        expect(rows[i]?.[name]).toEqual(isTime ? new Date(Number(cell) / 1000) : wide);
      });
    });
  },
);

test('times have the zone UTC, ids 64 bits, text is a dictionary', () => {
  const table = runTables(FULL).find(({ name }) => name === 'fills')!;
  const types = tableFromIPC(arrowTable(table)).schema.fields.map(({ type }) => String(type));
  expect(types.slice(0, 4)).toEqual([
    'Dictionary<Int32, Utf8>',
    'Int64',
    'Timestamp<MICROSECOND, UTC>',
    'Dictionary<Int32, Utf8>',
  ]);
});

test('CSV quotes text and has microseconds', () => {
  const table = runTables(FULL).find(({ name }) => name === 'log')!;
  const time = `${new Date(START_US / 1000).toISOString().slice(0, -1)}001Z`;
  expect(csvTable(table)).toBe(`strategy,time,text\r\na,${time},"a ""quoted"", line\nand 株"\r\n`);
});

test('CSV has doubles with a point, so that a column without fractions is one too', () => {
  const table = runTables(FULL).find(({ name }) => name === 'fills')!;
  const [head = '', ...lines] = csvTable(table).split('\r\n');
  const last = lines.find((line) => line.startsWith('b,'))?.split(',');
  const cells = Object.fromEntries(head.split(',').map((name, i) => [name, last?.[i]] as const));
  expect(cells).toMatchObject({ fill_id: String(2 ** 52), price: '5.0', size: '1.0' });
});

const ORDER: OrderRow = {
  ...{ orderId: '0x1', orderNumber: 1, clientId: null, tag: null, symbol: 'BTCUSDT' },
  ...{ orderType: 'limit', side: 'buy', price: '1', size: '1', filled: '1', ioc: true },
  ...{ postOnly: false, reduceOnly: false, status: 'filled', reason: null, queueAhead: null },
  ...{ sentUs: START_US, arrivedUs: START_US, restedUs: null, endedUs: START_US },
  ...{ sentMid: 100, arrivalMid: 100 },
};

test('an order without a price has none, and a conditional order its trigger', () => {
  const orders = [
    { ...ORDER, ioc: true, side: 'buy', price: '214748364.7', arrivalMid: 100 },
    { ...ORDER, ioc: true, side: 'sell', price: '0.1', triggerPrice: '95', arrivalMid: 100 },
    { ...ORDER, ioc: true, side: 'buy', price: '101', arrivalMid: 100 },
    { ...ORDER, ioc: false, side: 'sell', price: '250', triggerPrice: null, arrivalMid: 100 },
    { ...ORDER, ioc: true, side: 'sell', price: '0.1', arrivalMid: null },
  ] as const;
  const run = { ...FULL, strategies: [{ ...FULL.strategies[0]!, orders }] };
  const table = runTables(run).find(({ name }) => name === 'orders')!;
  const cells = (column: string): unknown =>
    table.columns.find(({ name }) => name === column)!.cells;
  expect(cells('price')).toEqual([null, null, 101, 250, 0.1]);
  expect(cells('trigger_price')).toEqual([null, 95, null, null, null]);
});

test('npz files have an aligned array for each column, and equal bytes for equal runs', () => {
  const bytes = npzTables(runTables(FULL));
  expect(bytes).toEqual(npzTables(runTables(FULL)));
  const files = unzipSync(bytes);
  expect(Object.keys(files).length).toBe(
    Object.values(RUN_TABLES).reduce((sum, columns) => sum + Object.keys(columns).length, 0),
  );
  const fill = Buffer.from(files['fills.fill_id.npy']!);
  const size = 10 + fill.readUInt16LE(8);
  expect(size % 64).toBe(0);
  expect(fill.subarray(10, size).toString()).toContain("'descr': '<i8'");
  expect(fill.readBigInt64LE(fill.length - 8)).toBe(2n ** 52n);
});
