/** A leader answers reads within its lease only (docs/SCALING.md), also those of feeds. */
import { expect, test } from 'vitest';
import { FeedClient } from '../../src/http-client/index.ts';
import { Served } from './served.ts';

test('a leader whose lease is over starts no feed, and does so once it leads again', async () => {
  const served = await Served.start();
  let lagMs = 0;
  const replica = { get: () => ({ role: 'leader', epoch: 1, lagMs, leader: '' }) };
  Object.defineProperty(served.host.exchange, 'replica', replica);
  const feeds = new FeedClient({ url: `${served.url.replace('http', 'ws')}/ws`, bearer: null });
  try {
    lagMs = 1;
    const book = { symbols: ['BTC-USD-PERP'] };
    await expect(feeds.subscribe('book', book)).rejects.toMatchObject({ status: 503 });
    lagMs = 0;
    expect((await (await feeds.subscribe('book', book)).next()).value).toMatchObject({
      snapshot: true,
    });
  } finally {
    await feeds.close();
    await served.remove();
  }
});
