/**
 * Feeds that resume: over replicas that lag, no update is missed or repeated; beyond the
 * retention the client learns that some may be missing.
 */
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Wallet } from 'ethers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FeedError, type Resumed } from '../../src/http-client/feed.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { address } from '../../src/num/units.ts';
import { BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

const WALLET = new Wallet(`0x${'7'.repeat(64)}`);
const OWN = address(WALLET.address.toLowerCase());
const LAG = 'x-orrery-lag-ms';

let served: Served;
let front: Front;
beforeEach(async () => {
  const retention = { ...DEFAULT_EXCHANGE_CONFIG.retention };
  Object.assign(retention, { tradesPerMarket: 3, endedOrdersPerAccount: 3 });
  served = await Served.start({ config: { ...DEFAULT_EXCHANGE_CONFIG, retention } });
  for (const account of [OWN, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  front = await Front.start(served.url);
});
afterEach(async () => {
  await front.stop();
  await served.remove();
});

/** A load balancer in front of replicas that show the state of `lagMs` ago. */
class Front {
  /** Of the replica that accepts the next feed, and of those that answer the next reads. */
  feedLagMs = 0;
  /** By so much the updates of its replica come later. */
  feedDelayMs = 0;
  readonly readLagsMs: number[] = [];
  upgrades = 0;
  isDown = false;
  readonly reads: string[] = [];
  readonly url: string;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  static async start(target: string): Promise<Front> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const front = new Front(server);
    server.on('request', (asked: IncomingMessage, answer) => {
      const { url = '', method, headers } = asked;
      if (front.upgrades > 1) front.reads.push(url.split('?', 1)[0] ?? '');
      const sent = request(target + url, { method, headers }, (reply) => {
        const lag = String(front.readLagsMs.shift() ?? 0);
        answer.writeHead(reply.statusCode ?? 500, { ...reply.headers, [LAG]: lag });
        reply.pipe(answer);
      });
      asked.pipe(sent);
    });
    server.on('upgrade', (asked: IncomingMessage, client: Socket) => {
      front.upgrades += 1;
      if (front.isDown) {
        client.destroy();
        return;
      }
      const { hostname, port } = new URL(target);
      const lines = Object.entries(asked.headers).map(
        ([name, value]) => `${name}: ${String(value)}`,
      );
      const inner = connect(Number(port), hostname, () => {
        inner.write(`GET ${asked.url ?? ''} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      });
      inner.once('data', (head: Buffer) => {
        const lag = `\r\n${LAG}: ${String(front.feedLagMs)}\r\nx-orrery-role: follower\r\n\r\n`;
        const at = head.indexOf('\r\n\r\n');
        client.write(
          Buffer.concat([head.subarray(0, at), Buffer.from(lag), head.subarray(at + 4)]),
        );
        const delayMs = front.feedDelayMs;
        inner.on('data', (chunk: Buffer) => {
          // Answers of requests come at once.
          const isAnswer = chunk.includes('"usDiff"');
          setTimeout(() => client.write(chunk), isAnswer ? 0 : delayMs);
        });
      });
      client.pipe(inner);
      for (const socket of [client, inner]) {
        front.sockets.add(socket);
        socket.on('error', () => undefined);
      }
    });
    return front;
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const rest = async (account: typeof OWN, terms: object): Promise<void> => {
  const caller = { account, signer: account };
  await served.call('submitOrder', order({ account, ...terms }), caller);
};
/** A trade of `quantity`, a millisecond after the last. */
async function trade(quantity: string): Promise<void> {
  await served.sim('clock', { advanceMs: 1 });
  await rest(OWN, { price: '60000', quantity });
  await rest(BOB, { price: '60000', quantity: `-${quantity}` });
}

test('a replica that is behind the one before is refused', async () => {
  const feeds = new HttpMatcherClient({ url: front.url, signer: null }).feeds();
  const trades = await feeds.subscribe('trade', { symbols: [SYMBOL] });
  await trade('0.01');
  expect((await trades.next()).value).toMatchObject({ quantity: '-0.01' });
  front.feedLagMs = 60_000;
  front.cut();
  await expect.poll(() => front.upgrades).toBe(3);
  expect(feeds.lostSinceMs).not.toBeNull();
  front.feedLagMs = 0;
  await trade('0.02');
  expect((await trades.next()).value).toMatchObject({ quantity: '-0.02' });
  await feeds.close();
});

test('missed updates are read from a replica that is not behind the feed', async () => {
  const feeds = new HttpMatcherClient({ url: front.url, signer: WALLET }).feeds();
  const trades = await feeds.subscribe('trade', { symbols: [SYMBOL] });
  await trade('0.01');
  await trades.next();
  front.isDown = true;
  front.cut();
  await expect.poll(() => feeds.lostSinceMs).not.toBeNull();
  await trade('0.02');
  front.readLagsMs.push(60_000, 60_000);
  front.isDown = false;
  expect((await trades.next()).value).toMatchObject({ quantity: '-0.02' });
  expect(front.reads.filter((path) => path === '/config')).toHaveLength(3);
  await feeds.close();
});

test.each(['trade', 'fill', 'order'] as const)(
  '%ss that are read before the replica of the feed sends them come once',
  async (source) => {
    const feeds = new HttpMatcherClient({ url: front.url, signer: WALLET }).feeds();
    const params = source === 'trade' ? { symbols: [SYMBOL] } : { account: OWN };
    const seen: string[] = [];
    await feeds.listen(source, params, {
      onUpdate: (update) => {
        if ('status' in update && update.status !== 'filled') return;
        seen.push(update.quantity.replace('-', ''));
      },
      onError: (error) => seen.push(error.message),
    });
    await trade('0.01');
    front.feedDelayMs = 1500;
    front.cut();
    await expect.poll(() => feeds.lostSinceMs).not.toBeNull();
    // The feed is there, and its reads are refused meanwhile.
    front.readLagsMs.push(60_000, 60_000, 60_000);
    await expect.poll(() => front.reads.length, { timeout: 5000 }).toBeGreaterThan(0);
    await trade('0.02');
    await trade('0.03');
    await expect.poll(() => feeds.lostSinceMs, { timeout: 5000 }).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 1700));
    await trade('0.04');
    await expect.poll(() => seen.at(-1), { timeout: 5000 }).toBe('0.04');
    expect(seen).toEqual(['0.01', '0.02', '0.03', '0.04']);
    await feeds.close();
  },
  20_000,
);

/** Four orders that end, so that the exchange keeps no earlier one. */
async function forgetOrders(): Promise<void> {
  const flags = { ioc: true, postOnly: false, reduceOnly: false };
  for (let i = 0; i < 4; i++) await rest(OWN, { price: '50000', quantity: '0.01', flags });
}

test.each([0, 1500])(
  'a fill comes once if its order is not kept when it is read, with updates %d ms later',
  async (delayMs) => {
    const feeds = new HttpMatcherClient({ url: front.url, signer: WALLET }).feeds();
    const seen: unknown[] = [];
    await feeds.listen(
      'fill',
      { account: OWN },
      {
        onUpdate: ({ quantity, order_id }) => seen.push([quantity, order_id === null]),
        onError: (error) => seen.push(error.message),
      },
    );
    await trade('0.01');
    await expect.poll(() => seen).toHaveLength(1);
    front.feedDelayMs = delayMs;
    front.cut();
    await expect.poll(() => feeds.lostSinceMs).not.toBeNull();
    // The feed is there, and its reads are refused meanwhile.
    front.readLagsMs.push(...new Array<number>(1000).fill(60_000));
    await expect.poll(() => front.reads.length).toBeGreaterThan(0);
    await trade('0.02');
    await forgetOrders();
    front.readLagsMs.length = 0;
    await expect.poll(() => feeds.lostSinceMs).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, delayMs + 200));
    await trade('0.03');
    await expect.poll(() => seen.length).toBeGreaterThan(2);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(seen).toEqual([
      ['0.01', false],
      ['0.02', true],
      ['0.03', false],
    ]);
    await feeds.close();
  },
  60_000,
);

test.each(['trade', 'order'] as const)(
  'a feed of %ss learns that more were missed than are kept',
  async (source) => {
    const feeds = new HttpMatcherClient({ url: front.url, signer: WALLET }).feeds();
    const params = source === 'order' ? { account: OWN } : { symbols: [SYMBOL] };
    const seen: Resumed[] = [];
    const informed = await feeds.subscribe(source, params, { onResumed: (one) => seen.push(one) });
    const other = new HttpMatcherClient({ url: front.url, signer: WALLET }).feeds();
    const ending = await other.subscribe(source, params);
    await trade('0.01');
    for (const feed of [informed, ending]) await feed.next();
    front.isDown = true;
    front.cut();
    await expect.poll(() => [feeds.lostSinceMs, other.lostSinceMs]).not.toContain(null);
    for (const quantity of ['0.02', '0.03', '0.04', '0.05', '0.06']) await trade(quantity);
    front.isDown = false;
    await expect.poll(() => [feeds.lostSinceMs, other.lostSinceMs]).toEqual([null, null]);
    const read = async (feed: AsyncIterator<unknown>): Promise<void> => {
      while ((await feed.next()).done !== true);
    };
    void read(informed);
    await expect.poll(() => seen).toHaveLength(1);
    const kept = source === 'order' ? 'ended orders' : `trades of ${SYMBOL}`;
    const unknown = expect.stringContaining(`the server keeps ${kept} since 2`) as string;
    expect(seen).toMatchObject([{ unknown, unknownFills: null }]);
    await expect(read(ending)).rejects.toThrow(FeedError);
    await feeds.close();
    await other.close();
  },
);

test.each(['trade', 'fill', 'order'] as const)(
  '%ss of the millisecond of a subscription are not delivered if they came before it',
  async (source) => {
    await trade('0.01');
    const feeds = new HttpMatcherClient({ url: front.url, signer: WALLET }).feeds();
    const params = source === 'trade' ? { symbols: [SYMBOL] } : { account: OWN };
    const seen: string[] = [];
    await feeds.listen(source, params, {
      onUpdate: (update) => {
        if ('status' in update && update.status !== 'filled') return;
        seen.push(update.quantity.replace('-', ''));
      },
      onError: (error) => seen.push(error.message),
    });
    front.isDown = true;
    front.cut();
    await expect.poll(() => feeds.lostSinceMs).not.toBeNull();
    await rest(OWN, { price: '60000', quantity: '0.02' });
    await rest(BOB, { price: '60000', quantity: '-0.02' });
    front.isDown = false;
    await expect.poll(() => feeds.lostSinceMs, { timeout: 5000 }).toBeNull();
    expect(seen).toEqual(['0.02']);
    await feeds.close();
  },
);
