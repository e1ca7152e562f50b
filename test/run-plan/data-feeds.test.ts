/** Files of the user's data: options, cells, and runs of strategy files on them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as arrow from 'apache-arrow';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, test } from 'vitest';
import { feedNotes, parseFeed, planFeeds, readFeeds } from '../../src/run-plan/data-feeds.ts';
import { probeLookAhead } from '../../src/run-plan/look-ahead.ts';
import { executePlan } from '../../src/run-plan/plan.ts';
import { plannedOf, planOf, RECORDED_FROM_US } from './plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-feed-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const file = (name: string, content: string | ArrayBuffer): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : Buffer.from(content));
  return path;
};
const read = async (text: string) => readFeeds(await planFeeds([parseFeed(text)]));

const SIGNALS = `about,known,score,word,flag,id,gap
1,1723161260000,1.5,up,true,9007199254740993,
2,1723161258000,-2e-1,"a, b",false,12,NaN
`;

test('rows are sorted by the declared column; cells have types by their own text', async () => {
  const rows = await read(`${file('signals.csv', SIGNALS)},available=known`);
  expect(rows).toEqual([
    {
      feed: 'signals',
      timeUs: 1_723_161_258_000_000,
      row: { about: 2, score: -0.2, word: 'a, b', flag: false, id: 12, gap: null },
    },
    {
      feed: 'signals',
      timeUs: 1_723_161_260_000_000,
      row: { about: 1, score: 1.5, word: 'up', flag: true, id: '9007199254740993', gap: null },
    },
  ]);
});

test('a Parquet file gives the rows of its CSV', async () => {
  const parquet = parquetWriteBuffer({
    columnData: [
      { name: 'at', data: [new Date(1_723_161_258_000)], type: 'TIMESTAMP' },
      { name: 'score', data: [0.25], type: 'DOUBLE' },
    ],
  });
  const rows = await read(`${file('p.parquet', parquet)},available=at,name=mine`);
  expect(rows).toEqual([{ feed: 'mine', timeUs: 1_723_161_258_000_000, row: { score: 0.25 } }]);
});

test.each([
  ['ns', '1723161258000000001', 1_723_161_258_000_001],
  ['ns', '1723161258000000999', 1_723_161_258_000_001],
  ['ns', '1723161258000001000', 1_723_161_258_000_001],
  ['us', '1723161258000000.5', 1_723_161_258_000_001],
  ['ms', '1723161258000.0004', 1_723_161_258_000_001],
  ['s', '1723161258.0000010', 1_723_161_258_000_001],
  ['s', '1723161258.00000001', 1_723_161_258_000_001],
  ['iso', '2024-08-08T23:54:18.0000009Z', 1_723_161_258_000_001],
  ['iso', '2024-08-08T23:54:18.000001000Z', 1_723_161_258_000_001],
])('a row is not known before its time in %s, %s', async (unit, time, expected) => {
  const path = file('finer.csv', `at,score\n${time},1\n`);
  for (const text of [`${path},available=at`, `${path},available=at,unit=${unit}`]) {
    expect((await read(text))[0]?.timeUs, text).toBe(expected);
  }
});

test('nor before a time of nanoseconds of an Arrow file', async () => {
  const type = new arrow.TimestampNanosecond();
  const at = arrow.makeVector(
    arrow.makeData({ type, data: BigInt64Array.of(1_723_161_258_000_000_001n) }),
  );
  const score = arrow.vectorFromArray([1], new arrow.Float64());
  const bytes = arrow.tableToIPC(new arrow.Table({ at, score }), 'file');
  const rows = await read(`${file('ns.arrow', Uint8Array.from(bytes).buffer)},available=at`);
  expect(rows[0]?.timeUs).toBe(1_723_161_258_000_001);
});

test('a text column of a Parquet file stays text; in a CSV digits are a number', async () => {
  const parquet = parquetWriteBuffer({
    columnData: [
      {
        name: 'at',
        data: [1, 2, 3].map((s) => new Date(1_723_161_258_000 + s)),
        type: 'TIMESTAMP',
      },
      { name: 'code', data: ['007', 'true', null], type: 'STRING', nullable: true },
      { name: 'count', data: [7n, 8n, 9n], type: 'INT64' },
    ],
  });
  const rows = await read(`${file('t.parquet', parquet)},available=at`);
  expect(rows.map(({ row }) => row)).toEqual([
    { code: '007', count: 7 },
    { code: 'true', count: 8 },
    { code: null, count: 9 },
  ]);
  const csv = await read(`${file('t.csv', 'at,code\n1723161258000,007\n')},available=at`);
  expect(csv.map(({ row }) => row)).toEqual([{ code: 7 }]);
});

test.each([
  ['text', () => arrow.vectorFromArray(['007', 'true'], new arrow.Utf8())],
  [
    'a dictionary',
    () =>
      arrow.vectorFromArray(
        ['007', 'true'],
        new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
      ),
  ],
])('a column of %s of an Arrow file stays text', async (name, column) => {
  const at = arrow.vectorFromArray([1_723_161_258_000, 1_723_161_259_000], new arrow.Float64());
  const bytes = arrow.tableToIPC(new arrow.Table({ at, code: column() }), 'file');
  const rows = await read(
    `${file(`${name.slice(-4)}.arrow`, Uint8Array.from(bytes).buffer)},available=at`,
  );
  expect(rows.map(({ row }) => row)).toEqual([{ code: '007' }, { code: 'true' }]);
});

test('a time of another type names its row, since a Parquet file has no lines', async () => {
  const parquet = parquetWriteBuffer({
    columnData: [
      { name: 'at', data: [1_723_161_258_000n, -1n], type: 'INT64' },
      { name: 'score', data: [0.25, 1], type: 'DOUBLE' },
    ],
  });
  await expect(read(`${file('n.parquet', parquet)},available=at`)).rejects.toThrow('row 2: `at`');
  const flags = parquetWriteBuffer({
    columnData: [{ name: 'at', data: [true], type: 'BOOLEAN' }],
  });
  await expect(read(`${file('b.parquet', flags)},available=at`)).rejects.toThrow(
    'row 1: `at` "true" is not a time',
  );
});

test.each([
  ['no column', 'x.csv', SIGNALS, '', 'add available=<column>: the time from which a row is known'],
  ['another column', 'x.csv', SIGNALS, ',available=now', "no column 'now'; the columns are about"],
  ['an unknown option', 'x.csv', SIGNALS, ',at=known', "'at=known' is not one of"],
  ['an option given twice', 'x.csv', SIGNALS, ',unit=s,unit=s', "'unit=s' is not one of"],
  ['an unknown unit', 'x.csv', SIGNALS, ',available=known,unit=h', "unit 'h' must be one of"],
  ['a name with a slash', 'x.csv', SIGNALS, ',available=known,name=a/b', "name 'a/b' must be"],
  ['an empty cell', 'x.csv', 'at,v\n,1\n', ',available=at', 'line 2: `at`'],
  ['a time before 1970', 'x.csv', 'at,v\n-5,1\n', ',available=at', 'line 2: `at`'],
  ['a short row', 'x.csv', 'at,v\n5\n', ',available=at', 'line 2: 1 cells; the header has 2'],
  ['two equal names', 'x.csv', 'at,v,v\n5,1,2\n', ',available=at', "two columns are called 'v'"],
  ['no rows', 'x.csv', 'at,v\n', ',available=at', 'no rows'],
  ['an empty file', 'x.csv', '', ',available=at', 'no header'],
  ['an empty Parquet file', 'x.parquet', '', ',available=at', 'not a Parquet file: it is empty'],
  ['no Arrow', 'x.arrow', 'x', ',available=at', 'not Arrow IPC data: it has no schema'],
  ['another separator', 'x.csv', 'at;v\n5;1\n', ',available=at', "commas, and this file has ';'"],
  ['no Parquet', 'x.parquet', 'abc', ',available=at', 'not a Parquet file'],
  ['another kind', 'x.xlsx', 'abc', ',available=at', 'must end in .csv, .parquet'],
])('%s is refused', async (_, name, content, options, message) => {
  await expect(read(`${file(name, content)}${options}`)).rejects.toThrow(message);
});

test('a number beyond the largest stays text', async () => {
  const [row] = await read(`${file('h.csv', 'at,v\n2024-01-01,1e400\n')},available=at`);
  expect(row?.row).toEqual({ v: '1e400' });
});

test.each([
  ['late', 2, 'No row of late.csv is in the run: all 1 are after its end, by'],
  ['early', 0, 'No row of early.csv is in the run: all 1 are before its start, by'],
])('a feed that is too %s for the run is a warning', (name, timeUs, message) => {
  const feed = { name, file: `${name}.csv`, available: 'at', sha256: 'x' } as const;
  const rows = [{ feed: name, timeUs, row: {} }];
  const [note] = feedNotes([feed], rows, 1, 1);
  expect(note?.isWarning).toBe(true);
  expect(note?.text.startsWith(message)).toBe(true);
  expect(feedNotes([feed], rows, 0, 2)[0]?.isWarning).toBeUndefined();
});

test('two feeds of one name, a missing file, and a file that changed are refused', async () => {
  const path = file('s.csv', SIGNALS);
  const request = { file: path, available: 'known' };
  await expect(planFeeds([request, request])).rejects.toThrow("another feed is called 's'");
  await expect(planFeeds([{ ...request, file: join(folder, 'no.csv') }])).rejects.toThrow('no.csv');
  const planned = await planFeeds([request]);
  file('s.csv', `${SIGNALS}\n`);
  await expect(readFeeds(planned)).rejects.toThrow('has changed since');
});

const TRADER = `
import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'news', parameters: {}, keeps: { equity: true, book: true, bars: 5 }, barsUs: () => [1_000_000],
  create: () => ({
    onData({ feed, row, timeUs }, context) {
      context.log(feed + ' ' + row.side + ' ' + (context.now() - timeUs) + ' ' + (context.book()?.symbol ?? 'none') + ' ' + context.history(1).length + ' ' + context.equity());
      context.plot('score', Number(row.score), { pane: 'below' });
      void context.submit({ side: row.side === 'sell' ? 'sell' : 'buy', size: '0.01', tag: 'news ' + row.score });
    },
  }),
});
`;
const at = (seconds: number): string => String(RECORDED_FROM_US / 1e6 + seconds);
const NEWS = `at,side,score\n${at(-5)},buy,0\n${at(5)},buy,1\n${at(9)},sell,2\n${at(99)},buy,3\n`;

const READER = `
import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({
  name: 'reader', parameters: {}, barsUs: () => [1_000_000],
  create: () => ({
    onData({ timeUs }, context) { context.log(String(timeUs)); },
    // Its reply is later than the data.
    async onStop(context) { await context.cancelAll(); },
  }),
});
`;

test('the report counts the rows that were delivered, to the end of the data', async () => {
  const planned = await plannedOf(file('reader.ts', READER));
  const toUs = RECORDED_FROM_US + 5_000_000;
  const { lastUs } = (await executePlan(planOf([planned], { toUs }))).output;
  const times = [-1, 0, 1, 2, 3].map((more) => String(lastUs - 5_500 + more));
  const path = file('ends.csv', `at\n${times.join('\n')}\n`);
  const feeds = await planFeeds([{ file: path, available: 'at' }]);
  const { output, data } = await executePlan(planOf([planned], { toUs, feeds }));
  const delivered = output.strategies[0]?.log.length ?? 0;
  expect(delivered).toBeGreaterThan(0);
  expect(delivered).toBeLessThan(times.length);
  const after = String(times.length - delivered);
  expect(data.at(-1)?.text).toContain(`0 of before the run and ${after} of after it`);
});

test('a strategy file trades on a feed, and has no look-ahead', async () => {
  const planned = await plannedOf(file('trader.ts', TRADER));
  const plan = planOf([planned], {
    toUs: RECORDED_FROM_US + 15_000_000,
    feeds: await planFeeds([{ file: file('news.csv', NEWS), available: 'at' }]),
  });
  const { output, data, terms } = await executePlan(plan);
  const [{ log, fills, plots }] = output.strategies as [(typeof output.strategies)[number]];
  expect(log.map(({ text }) => text.replace(/[\d.]+$/, 'equity'))).toEqual([
    'news buy 2000 BTCUSDT 1 equity',
    'news sell 2000 BTCUSDT 1 equity',
  ]);
  expect(Number(log[0]?.text.split(' ').at(-1))).toBe(10_000);
  expect([...new Set(fills.map(({ tag }) => tag))]).toEqual(['news 1', 'news 2']);
  expect(plots.map(({ values }) => values)).toEqual([[1, 2]]);
  expect(data.at(-1)?.text).toContain('1 of before the run and 1 of after it are not delivered');
  expect(terms[0]?.['feeds']).toContain('news ');
  const probes = await probeLookAhead(plan, { instants: 1, seed: '3' });
  expect(probes.map(({ change }) => change)).toContain('feeds');
  expect(probes.filter(({ difference }) => difference !== null)).toEqual([]);
  // Planted fault: the delivery of rows depends on rows to come.
  const last = (rows: readonly { timeUs: number }[]): number => rows.at(-1)?.timeUs ?? 0;
  let known = 0;
  const leaky = await probeLookAhead(
    plan,
    { instants: 1, seed: '3' },
    {
      data: (rows) => {
        known ||= last(rows);
        return last(rows) === known ? rows : rows.slice(0, 1);
      },
    },
  );
  expect(leaky.some(({ change, difference }) => change === 'feeds' && difference !== null)).toBe(
    true,
  );
});
