/** Messages of one turn are framed once, and leave in one write for each subscriber. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Publisher } from '../../src/http/feeds/publisher.ts';
import type { Subscription } from '../../src/http/feeds/subscription.ts';
import { textFrames } from '../../src/http/feeds/text-frames.ts';
import type { Watcher } from '../../src/http/feeds/watcher.ts';
import { ALICE, BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

test('a client reads messages of every form of length', async () => {
  const texts = [0, 1, 125, 126, 65_535, 65_536, 70_000].map((bytes) => 'x'.repeat(bytes));
  texts.push('“ü€”');
  const server = createServer((socket) => {
    socket.once('data', (request) => {
      const key = /sec-websocket-key: (.*)\r/i.exec(request.toString())?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}${KEY_SUFFIX}`).digest('base64');
      const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket'];
      lines.push('Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`, '', '');
      socket.write(lines.join('\r\n'));
      socket.write(textFrames(texts));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  const got: string[] = [];
  client.on('message', (data: Buffer, isBinary) => {
    expect(isBinary).toBe(false);
    got.push(data.toString());
  });
  await expect.poll(() => got.length).toBe(texts.length);
  expect(got).toEqual(texts);
  client.terminate();
  server.close();
});

test('the fills of a command are one write and one flush for each subscriber', async () => {
  const served = await Served.start();
  for (const account of [ALICE, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  const market = served.host.view.marketIdOf(SYMBOL)!;
  const publisher = new Publisher(served.host);
  const calls: string[] = [];
  const watch = (name: string, subscription: object): void => {
    const watcher = {
      allows: () => true,
      recheck: () => undefined,
      isBehind: () => false,
      send: (_of: Subscription, frames: Buffer) => {
        calls.push(`${name} ${String(frames.toString('latin1').split('{"type":').length - 1)}`);
      },
      flush: () => calls.push(`${name} flush`),
    } as unknown as Watcher;
    publisher.watch(watcher);
    publisher.subscribe(watcher, subscription as Subscription);
  };
  watch('trade', { access: 'public', source: 'trade', markets: [market], key: '' });
  for (const name of ['a', 'b']) {
    watch(name, { access: 'private', source: 'fill', account: ALICE, indices: null, key: '' });
  }
  const submit = (account: typeof ALICE, quantity: string) =>
    served.call('submitOrder', order({ account, quantity, price: '60000' }), {
      account,
      signer: account,
    });
  for (let i = 0; i < 3; i++) await submit(BOB, '-0.001');
  await submit(ALICE, '0.003');
  await expect.poll(() => calls.length).toBe(6);
  expect(calls).toEqual(['trade 3', 'a 3', 'b 3', 'trade flush', 'a flush', 'b flush']);
  publisher.close();
  await served.remove();
});
