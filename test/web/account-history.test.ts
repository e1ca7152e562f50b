/** Lists of the account's history stay without holes when a page does not reach the older rows. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HistoryTable } from '../../src/web/exchange/account-history.ts';
import { account, token } from '../../src/web/exchange/session.ts';

interface Row {
  readonly id: number;
}

/** Ids of the rows on the server, newest first, in pages of 200. */
let newest = 0;
const rowsFrom = (top: number, count: number): Row[] =>
  Array.from({ length: Math.min(count, top) }, (_one, i) => ({ id: top - i }));

beforeEach(() => {
  account.value = '0xa';
  token.value = 'token';
  vi.stubGlobal('fetch', (path: string) => {
    const query = new URL(path, 'http://host').searchParams;
    const top = Number(query.get('cursor') ?? newest);
    const count = Number(query.get('limit'));
    const headers = top > count ? { 'x-next-cursor': String(top - count) } : undefined;
    const answer = new Response(JSON.stringify(rowsFrom(top, count)), headers && { headers });
    return Promise.resolve(answer);
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  account.value = null;
  token.value = null;
});

const idsOf = (table: HistoryTable<Row>): number[] => table.rows.value.map(({ id }) => id);
const idsFrom = (top: number): number[] => rowsFrom(top, top).map(({ id }) => id);

async function opened(): Promise<HistoryTable<Row>> {
  newest = 500;
  const table = new HistoryTable<Row>('/rows', ({ id }) => String(id));
  await table.load();
  await table.loadOlder(false);
  expect(idsOf(table)).toEqual(idsFrom(500).slice(0, 400));
  return table;
}

it.each([
  // Missed rows, rows that the feed adds before the page is read, rows that stay.
  [0, 0, 400],
  [199, 0, 599],
  [150, 3, 553],
  [200, 0, 200],
  [300, 0, 200],
  [300, 3, 200],
])('after %i missed rows and %i of the feed, %i rows are there', async (missed, fed, count) => {
  const table = await opened();
  newest += missed;
  for (let i = 0; i < fed; i++) {
    newest += 1;
    table.add([{ id: newest }]);
  }
  await table.load();
  expect(idsOf(table)).toEqual(idsFrom(newest).slice(0, count));
  await table.loadOlder(true);
  expect(idsOf(table)).toEqual(idsFrom(newest));
});
