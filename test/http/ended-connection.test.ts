/** A request is taken up when its connection has been reset, and has no address any more. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Served } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.start({ requestsPerSecond: 200 });
});
afterAll(() => served.remove());

test('a request without an address is no internal error', async () => {
  served.app.server.prependListener('request', ({ socket }) => {
    Object.defineProperty(socket, 'remoteAddress', { value: undefined });
  });
  const { status } = await fetch(`${served.url}/time`);
  expect(status).toBe(200);
});
