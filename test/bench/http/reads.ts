/**
 * Reads over HTTP against a bare Fastify echo with schemas: a price, an order with a cached token,
 * a page of a list. Samples are interleaved with the echo's; ratios are medians over adjacent
 * pairs.
 */
import autocannon, { type Request } from 'autocannon';
import Table from 'cli-table3';
import { join } from 'node:path';
import { RawSocket } from './raw-socket.ts';
import { median, ROOT, Server, tokenOf } from './processes.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 2);
const CONNECTIONS = 50;
const SYMBOL = 'BTC-USD-PERP';
const ACCOUNT = `0x${'1'.repeat(40)}`;
const ORDERS = 200;

interface Sample {
  readonly perSecond: number;
  /** The server's processor time per request. */
  readonly micros: number;
  readonly cores: number;
  readonly p99: number;
}

async function sample(server: Server, request: Request): Promise<Sample> {
  const cpu = server.cpuSeconds();
  const started = performance.now();
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: [request],
  });
  if (result.non2xx + result.errors > 0) throw new Error(`${request.path ?? ''} was refused`);
  const taken = server.cpuSeconds() - cpu;
  return {
    perSecond: result.requests.average,
    micros: (taken / result.requests.total) * 1e6,
    cores: taken / ((performance.now() - started) / 1000),
    p99: result.latency.p99,
  };
}

async function placeOrders(exchange: Server, token: string): Promise<string> {
  const socket = await RawSocket.open(exchange.url, () => undefined);
  await socket.ask('auth', { bearer: token });
  let answer = '';
  for (let nonce = 0; nonce < ORDERS; nonce++) {
    answer = await socket.ask('create', {
      account: ACCOUNT,
      subaccountIndex: 0,
      symbol: SYMBOL,
      orderType: 'limit',
      price: '50000',
      quantity: '0.001',
      nonce,
      expiresAt: 9_007_199_254_740_991,
      originator: `0x${'0'.repeat(40)}`,
      originatorFee: 0,
      flags: { ioc: false, postOnly: false, reduceOnly: false },
      signatures: [],
    });
  }
  socket.close();
  return /"orderId":"([0-9a-f]{64})"/.exec(answer)?.[1] ?? '';
}

const servers: Server[] = [];
try {
  const echo = await Server.start(['--import', 'tsx', join(ROOT, 'test/bench/echo-server.ts')]);
  servers.push(echo);
  const exchange = await Server.exchange();
  servers.push(exchange);
  await exchange.sim('deposit', { account: ACCOUNT, amount: '1000000' });
  await exchange.sim('oracle', { symbol: SYMBOL, price: '60000' });
  const token = await tokenOf(ACCOUNT);
  const orderId = await placeOrders(exchange, token);
  const headers = { authorization: `Bearer ${token}` };
  const base: Request = {
    method: 'POST',
    path: '/echo',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ account: ACCOUNT, price: '60000', nonce: 1 }),
  };
  const reads: readonly (readonly [string, Request])[] = [
    ['GET /price/{symbol}', { path: `/price/${SYMBOL}` }],
    ['GET /account/order', { path: `/account/order?orderId=${orderId}`, headers }],
    [
      'GET /account/orders, 10 of 200',
      { path: `/account/orders?account=${ACCOUNT}&subaccountIndex=0&limit=10`, headers },
    ],
  ];
  const table = new Table({
    head: [
      `${String(CONNECTIONS)} connections`,
      'requests/s',
      'of echo',
      'by own time',
      'cores',
      'p99 ms',
    ],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  await sample(echo, base);
  for (const [name, request] of reads) {
    await sample(exchange, request);
    const pairs: { readonly ours: Sample; readonly bare: Sample }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const first = round % 2 === 0 ? await sample(exchange, request) : null;
      const bare = await sample(echo, base);
      pairs.push({ ours: first ?? (await sample(exchange, request)), bare });
    }
    const rate = median(pairs.map(({ ours, bare }) => ours.perSecond / bare.perSecond));
    const work = median(pairs.map(({ ours, bare }) => bare.micros / ours.micros));
    const of = (what: keyof Sample): number => median(pairs.map(({ ours }) => ours[what]));
    table.push([
      name,
      Math.round(of('perSecond')).toLocaleString('en'),
      rate.toFixed(2),
      work.toFixed(2),
      of('cores').toFixed(2),
      of('p99'),
    ]);
  }
  console.log(table.toString());
} finally {
  for (const server of servers) server.stop();
}
process.exit(0);
