/** Feeds after a failed disk has rolled the exchange back to what is durable. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FeedClient } from '../../src/http-client/index.ts';
import { ALICE, order } from '../gateway/fixture.ts';
import { FailingDisk } from '../journal-files/failing-disk.ts';
import { Served } from './served.ts';

const SYMBOL = 'BTC-USD-PERP';
const AS_ALICE = { account: ALICE, signer: ALICE };
interface Update {
  readonly snapshot: boolean;
  readonly bids: readonly { readonly price: string; readonly quantity: string }[];
  readonly previous_sequence_number: number | null;
  readonly sequence_number: number;
}

let served: Served;
let feeds: FeedClient;
let disk: FailingDisk;

beforeEach(async () => {
  disk = new FailingDisk();
  served = await Served.start({ disk });
  await served.sim('deposit', { account: ALICE, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  feeds = new FeedClient({ url: `${served.url.replace('http', 'ws')}/ws`, bearer: null });
});
afterEach(async () => {
  await feeds.close();
  await served.remove();
});

const rest = (price: string) => served.call('submitOrder', order({ price }), AS_ALICE);
const timeout = (ms: number) =>
  new Promise<{ value: string }>((resolve) => setTimeout(resolve, ms, { value: 'nothing' }));

async function untilWritten(price: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    if ((await rest(price)).status === 200) return;
    await timeout(50);
  }
  throw new Error('writes have not resumed');
}

test('a book feed goes on once a full disk has space again', async () => {
  await rest('51000');
  const book = await feeds.subscribe('book', { symbols: [SYMBOL] });
  const first = (await book.next()).value as Update;
  expect(first.snapshot).toBe(true);
  disk.code = 'ENOSPC';
  expect((await rest('52000')).status).toBe(503);
  disk.code = null;
  await untilWritten('53000');
  const levels = new Map(first.bids.map(({ price, quantity }) => [price, quantity]));
  let last = first.sequence_number;
  const at = (await served.send('GET', `/book/${SYMBOL}`)).body as Pick<Update, 'bids'>;
  while (!levels.has('53000')) {
    const { value } = (await Promise.race([book.next(), timeout(2000)])) as { value: unknown };
    expect(value).toMatchObject({ symbol: SYMBOL });
    const update = value as Update;
    if (update.snapshot) levels.clear();
    else expect(update.previous_sequence_number).toBe(last);
    for (const { price, quantity } of update.bids) levels.set(price, quantity);
    last = update.sequence_number;
  }
  expect(levels).toEqual(new Map(at.bids.map(({ price, quantity }) => [price, quantity])));
});

test('a listing that is lost leaves the feeds of all markets running', async () => {
  const X = { symbol: 'X', tickSize: '0.1', lotSize: '1' };
  const prices = await feeds.subscribe('price', { symbols: [] });
  await feeds.subscribe('book', { symbols: [] });
  disk.code = 'ENOSPC';
  expect((await served.operator('markets', X)).status).toBe(503);
  // Prices of all markets are sent ten times a second.
  await timeout(250);
  disk.code = null;
  await untilWritten('53000');
  let update: unknown = [];
  while (!JSON.stringify(update).includes(SYMBOL)) {
    ({ value: update } = (await Promise.race([prices.next(), timeout(2000)])) as {
      value: unknown;
    });
    expect(update).not.toBe('nothing');
  }
});
