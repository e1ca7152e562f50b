/** `orrery/server`: a program that trades over the API, tested with a clock of its own. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { afterEach, expect, test } from 'vitest';
import { replay } from '../../src/journal/replay/replay.ts';
import {
  ServerError,
  startServer,
  type HttpMatcherClient,
  type Server,
  type ServerOptions,
} from '../../src/library/server/index.ts';

const BTC = 'BTC-USD-PERP';
const ALICE = new Wallet(`0x${'1'.repeat(64)}`);
const BOB = new Wallet(`0x${'2'.repeat(64)}`);

const DOGE = {
  symbol: 'DOGE-PERP',
  tickSize: '0.00001',
  lotSize: '1',
  initialMargin: '0.1',
  maintenanceMargin: '0.05',
  maxOpenInterestNotional: '1000000',
};

const open: Server[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(options?: ServerOptions): Promise<Server> {
  const server = await startServer(options);
  open.push(server);
  return server;
}

function order(client: HttpMatcherClient, quantity: string, price = '60000') {
  return client.send('submitOrder', {
    account: client.account ?? '',
    subaccountIndex: 0,
    symbol: BTC,
    orderType: 'limit',
    price,
    quantity,
    expiresAt: 9_007_199_254_740_991,
    originator: `0x${'0'.repeat(40)}`,
    originatorFee: 0,
    flags: { ioc: false, postOnly: false, reduceOnly: false },
  });
}

/** Alice sells 0.1 BTC to Bob at 60,000. */
async function trade(server: Server) {
  await server.setPrice(BTC, '60000');
  for (const { address } of [ALICE, BOB]) await server.deposit(address, '10000');
  const [maker, taker] = [server.client(ALICE), server.client(BOB)];
  await order(maker, '-0.1');
  await order(taker, '0.1');
  return { maker, taker };
}

test('a trade, a day and a withdrawal, over HTTP with verified signatures', async () => {
  const server = await start();
  expect(server.now()).toEqual(new Date('2024-01-01T00:00:00Z'));
  const { taker } = await trade(server);
  const query = { account: BOB.address, subaccountIndex: 0 };
  const [position] = await taker.call('getPositions', query);
  expect(position).toMatchObject({ symbol: BTC, quantity: '0.1' });
  expect(await server.advance('8h')).toEqual(new Date('2024-01-01T08:00:00Z'));
  expect(await server.advance(250)).toEqual(new Date('2024-01-01T08:00:00.250Z'));
  expect(await server.advanceTo('2024-01-02T00:00:00Z')).toEqual(server.now());
  await server.withdraw(ALICE.address, '1');
  await expect(server.withdraw(ALICE.address, '1000000')).rejects.toThrow(/^withdraw: /);
});

test('a market freezes a minute after its last price, unless indexStaleMs is longer', async () => {
  for (const [indexStaleMs, frozen] of [
    [60_000, true],
    [86_400_000, false],
  ] as const) {
    const server = await start({ config: { indexStaleMs } });
    await server.setPrice(BTC, '60000');
    const isFrozen = async () => (await server.client().call('getPrice', { symbol: BTC })).frozen;
    await server.advance('60s');
    expect(await isFrozen()).toBe(false);
    await server.advance('8h');
    expect(await isFrozen()).toBe(frozen);
  }
});

test('logins are verified also where signatures are trusted', async () => {
  const server = await start({ signatures: 'trust' });
  const { message, server_signature } = await server
    .client()
    .call('getAuth', { account: ALICE.address });
  const signature = `0x${'0'.repeat(130)}`;
  const login = { message, server_signature, signature };
  await expect(server.client().call('postAuth', login)).rejects.toThrow('Invalid signature');
});

test('a mark and a funding rate of the caller', async () => {
  const own = { markSource: 'external', funding: { source: 'external' } };
  const server = await start({ markets: [{ symbol: BTC, ...own }] });
  await server.setPrice(BTC, '60000');
  await server.setMark(BTC, '60000');
  const { taker } = await trade(server);
  const balance = async () => {
    const [first] = await taker.call('getBalance', { account: BOB.address });
    return Number(first?.balance);
  };
  const before = await balance();
  await server.settleFunding(BTC, '0.001');
  // 0.1 BTC at 60,000 pays 0.1 %.
  expect(await balance()).toBeCloseTo(before - 6, 6);
  await expect(server.settleFunding(BTC, '2')).rejects.toThrow(/^funding: rate: must be from -1/);
});

test('the same calls give the same hashes, whatever the machine’s clock', async () => {
  const hashes = [];
  for (let run = 0; run < 2; run++) {
    const server = await start({ signatures: 'trust' });
    await server.setPrice(BTC, '60000');
    await server.deposit(ALICE.address, '10000');
    await server.advance('3h');
    hashes.push(server.hash());
  }
  expect(hashes[0]).toEqual(hashes[1]);
});

test('a deposit or withdrawal that is repeated with its reference is made once', async () => {
  const server = await start({ signatures: 'trust' });
  const { address } = ALICE;
  for (let i = 0; i < 2; i++) await server.deposit(address, '500', 0, 'wire-17');
  const { sequenceNumber } = server.hash();
  for (let i = 0; i < 2; i++) await server.withdraw(address, '100', 0, 'out-1');
  expect(server.hash().sequenceNumber).toBe(sequenceNumber + 1);
  await expect(server.deposit(address, '501', 0, 'wire-17')).rejects.toThrow(
    'deposit: reference: is that of a deposit of 500',
  );
});

test('the journal has every command, and replays to the hash of the server', async () => {
  const server = await start();
  await trade(server);
  const { engine } = replay(await server.journal(), { verify: true });
  expect(engine.chainHash()).toBe(server.hash().chainHash);
});

test('feeds deliver what requests change', async () => {
  const server = await start();
  const feeds = server.client(BOB).feeds();
  const trades = await feeds.subscribe('trade', { symbols: [BTC] });
  await trade(server);
  expect(await trades.next()).toMatchObject({
    value: { symbol: BTC, price: '60000', quantity: '0.1' },
  });
  await expect(feeds.subscribe('trades' as never)).rejects.toThrow(
    /^feed 'trades': must be one of/,
  );
  await feeds.close();
});

test('an injected fault reaches the client, and ends', async () => {
  const server = await start();
  await server.inject('internalError', { times: 1, endpoint: 'getPrice' });
  const client = server.client();
  await server.setPrice(BTC, '60000');
  await expect(client.call('getPrice', { symbol: BTC })).rejects.toThrow(/injected fault/);
  expect(await client.call('getPrice', { symbol: BTC })).toMatchObject({ index: '60000' });
  await expect(server.inject('rain')).rejects.toThrow(/^faults: fault: must be one of timeout/);
  const any = (value: unknown): never => value as never;
  const refused: readonly (readonly [Promise<void>, string])[] = [
    [server.inject(any(undefined)), 'fault: must be text, the name of a fault'],
    [server.inject('internalError', any(null)), 'options: must be an object'],
    [server.inject('internalError', any('x')), 'options: must be an object'],
    [server.inject('internalError', { times: any(1n) }), 'times: must be text or a finite number'],
    [server.deposit(ALICE.address, '1', NaN), 'subaccountIndex: must be text or a finite number'],
    [
      server.inject('internalError', { endpoint: any(() => 0) }),
      'endpoint: must be text or a finite number',
    ],
    [server.setPrice(BTC, any(60_000n)), 'price: must be text or a finite number'],
  ];
  for (const [call, text] of refused) {
    await expect(call).rejects.toThrow(ServerError);
    await expect(call).rejects.toThrow(text);
  }
});

test('a folder is kept, and continued by the next server; a temporary one is removed', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'orrery-kept-'));
  try {
    const first = await start({ dataDir });
    await trade(first);
    const before = first.hash();
    await first.close();
    await first.close();
    const second = await start({ dataDir });
    expect(second.hash()).toEqual(before);
    expect(
      await second.client(BOB).call('getPositions', { account: BOB.address, subaccountIndex: 0 }),
    ).toHaveLength(1);
    await expect(startServer({ dataDir })).rejects.toThrow(/in use|another/);
    await second.close();
    expect(existsSync(dataDir)).toBe(true);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('`await using` closes the server', async () => {
  let url: string;
  {
    await using server = await startServer();
    url = server.url;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  }
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test('markets and parameters of one’s own', async () => {
  const server = await start({
    markets: [BTC, DOGE],
    config: { name: 'Mine' },
  });
  const markets = await server.client().call('getMarkets', {});
  expect(markets.map(({ symbol }) => symbol)).toEqual([BTC, 'DOGE-PERP']);
  expect(await server.client().call('getConfig', {})).toMatchObject({ domain: { name: 'Mine' } });
});

test.each<[Record<string, unknown>, RegExp]>([
  [{ clok: 'wall' }, /^clok: is not one of clock, start/],
  [{ clock: 'solar' }, /^clock: must be one of virtual, wall/],
  [{ clock: 'wall', start: '2024-01-01T00:00:00Z' }, /^start: requires the clock virtual/],
  [{ start: 'noon' }, /^start: must be a UTC time/],
  [{ start: new Date(NaN) }, /^start: must be a UTC time/],
  [{ start: 5 }, /^start: must be a UTC time/],
  [{ markets: 'BTC' }, /^markets: must be a list of symbols/],
  [{ markets: ['GOLD'] }, /^markets\[0\]: GOLD is not a predefined market/],
  [{ markets: [null] }, /^markets\[0\]: null is not a predefined market/],
  [{ markets: [{ symbol: BTC, tickSize: 'x' }] }, /^markets\[0\]: .*tickSize/],
  [{ markets: [DOGE, BTC, DOGE] }, /^markets\[2\]: DOGE-PERP is listed already, by markets\[0\]/],
  [{ config: { speed: 1 } }, /^config: .*speed/],
  [{ config: { indexStaleMS: 1 } }, /indexStaleMS: unknown field; did you mean "indexStaleMs"\?$/],
  [{ signatures: 'maybe' }, /^signatures: must be one of verify, trust/],
  [{ port: 65_536 }, /^port: must be a whole number from 0 to 65535/],
  [{ dataDir: '' }, /^dataDir: must be the path of a folder/],
])('refuses %j', async (options, message) => {
  const refused = startServer(options);
  await expect(refused).rejects.toThrow(message);
  await expect(refused).rejects.toBeInstanceOf(ServerError);
});

test.each([null, 'x', []])('refuses %j in place of options', async (options) => {
  await expect(startServer(options as never)).rejects.toThrow('options: must be an object');
});

test('calls after the end name it', async () => {
  const server = await start();
  await server.close();
  await expect(server.setPrice(BTC, '1')).rejects.toThrow('oracle: the server is closed');
  await expect(server.advance('1s')).rejects.toThrow('clock: the server is closed');
  await expect(server.journal()).rejects.toThrow('journal: the server is closed');
});

test('a port that is taken is named, and leaves no folder', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as { port: number };
  await expect(startServer({ port })).rejects.toThrow(/^port: cannot listen: .*EADDRINUSE/);
  other.close();
});

test.each([
  ['8 hours', /whole milliseconds, or a length such as 8h/],
  [-1, /whole milliseconds/],
  [0.5, /whole milliseconds/],
  ['5us', /whole milliseconds/],
])('does not advance by %j', async (by, message) => {
  const server = await start();
  await expect(server.advance(by)).rejects.toThrow(message);
});

test('a clock of the machine is not moved, and time does not go back', async () => {
  const wall = await start({ clock: 'wall' });
  expect(Math.abs(wall.now().getTime() - Date.now())).toBeLessThan(5000);
  await expect(wall.advance('1s')).rejects.toThrow(/wall clock/);
  const virtual = await start();
  await expect(virtual.advanceTo('2023-01-01T00:00:00Z')).rejects.toThrow(/must not be before now/);
});
