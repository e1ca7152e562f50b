/**
 * `npm run bench:http`: throughput of the served API, as ratios to a bare Fastify echo with
 * schemas. Reads compare with a small echo, orders also with one that receives an order and answers
 * a record, as many bytes as ours. Both echoes, reads, orders and signed orders have servers of
 * their own, in separate processes; the load generator has the other core. Each is warm before the
 * first round. Samples are interleaved: each round measures every server once, and a ratio is the
 * median over rounds. Every order is on disk before its response. Reads repeat, so their answers
 * are sent again (decision record 0091, which also has the cost of those that are composed). Other
 * load on the machine distorts rates more than the servers' own time, so both are printed.
 */
import { join } from 'node:path';
import autocannon, { type Request } from 'autocannon';
import Table from 'cli-table3';
import {
  askedOrder,
  fund,
  JSON_TYPE,
  orderEcho,
  recoversPerSecond,
  signedOrders,
  SYMBOL,
  unsignedOrders,
} from './http/order-flow.ts';
import { median, ROOT, Server } from './http/processes.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 2);
const CONNECTIONS = 50;
/** Of load on each server before the first round: V8 compiles the path of an order for seconds. */
const WARMING_SECONDS = Number(process.env['WARMING_SECONDS'] ?? 8);
/** More than a server takes. */
const SIGNED_ORDERS = 10_000 * ((ROUNDS + 2) * SECONDS + WARMING_SECONDS);
/** Of the maximum throughput. */
const HALF = 0.5;

interface Sample {
  readonly perSecond: number;
  /** The server's processor time per request. */
  readonly micros: number;
  readonly cores: number;
  readonly generatorCores: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

interface Contestant {
  readonly name: string;
  readonly server: Server;
  readonly request: Request;
  readonly samples: Sample[];
}

async function load(
  { server, request }: Contestant,
  seconds: number,
  perSecond?: number,
): Promise<Sample> {
  const cpu = server.cpuSeconds();
  const own = process.cpuUsage();
  const started = performance.now();
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [request],
    ...(perSecond === undefined ? {} : { overallRate: Math.round(perSecond) }),
  });
  const taken = server.cpuSeconds() - cpu;
  const elapsed = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(own);
  const answered = result.requests.total;
  return {
    perSecond: answered / result.duration,
    micros: (taken / answered) * 1e6,
    cores: taken / elapsed,
    generatorCores: (user + system) / 1e6 / elapsed,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

const servers: Server[] = [];
try {
  const echo = await Server.start(['--import', 'tsx', join(ROOT, 'test/bench/echo-server.ts')]);
  const orderEchoing = await Server.start([
    '--import',
    'tsx',
    join(ROOT, 'test/bench/echo-server.ts'),
  ]);
  const reading = await Server.exchange('trust');
  const trusting = await Server.exchange('trust');
  const verifying = await Server.exchange('verify');
  servers.push(echo, orderEchoing, reading, trusting, verifying);
  for (const server of [reading, trusting, verifying]) await fund(server);
  const contestant = (name: string, server: Server, request: Request): Contestant => ({
    name,
    server,
    request,
    samples: [],
  });
  const base = contestant('Fastify echo with schemas', echo, {
    method: 'POST',
    path: '/echo',
    headers: JSON_TYPE,
    body: JSON.stringify({ account: `0x${'1'.repeat(40)}`, price: '60000', nonce: 1 }),
  });
  const equal = contestant('Fastify echo of an order', orderEchoing, orderEcho());
  // Before the signing of many orders: a connection of `fetch` is closed meanwhile.
  const asked = await askedOrder(reading);
  const orders = contestant('POST /account/order, trusted', trusting, unsignedOrders());
  const signed = contestant('POST /account/order, signed', verifying, signedOrders(SIGNED_ORDERS));
  const contestants = [
    base,
    equal,
    contestant('GET /price/{symbol}', reading, { path: `/price/${SYMBOL}` }),
    contestant('GET /account/order', reading, asked),
    orders,
    signed,
  ];
  for (const each of contestants) await load(each, WARMING_SECONDS);
  const recovers: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const each of contestants) each.samples.push(await load(each, SECONDS));
    recovers.push(recoversPerSecond(500));
  }

  const table = new Table({
    head: [
      `${String(CONNECTIONS)} connections, ${String(ROUNDS)} rounds`,
      'requests/s',
      'of echo',
      'by own time',
      'of order echo',
      'µs each',
      'cores',
      'generator',
      'p50 ms',
      'p99 ms',
      'not 200',
    ],
    colAligns: ['left', ...Array.from({ length: 10 }, () => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  const middle = ({ samples }: Contestant, of: (sample: Sample) => number): number =>
    median(samples.map(of));
  const ratio = (
    { samples }: Contestant,
    of: (ours: Sample, echo: Sample) => number,
    to = base,
  ): string => median(samples.map((sample, i) => of(sample, to.samples[i]!))).toFixed(2);
  const byOwnTime = (ours: Sample, bare: Sample): number => bare.micros / ours.micros;
  for (const each of contestants) {
    table.push([
      each.name,
      Math.round(middle(each, ({ perSecond }) => perSecond)).toLocaleString('en'),
      ratio(each, (ours, bare) => ours.perSecond / bare.perSecond),
      ratio(each, byOwnTime),
      each === orders || each === signed ? ratio(each, byOwnTime, equal) : '',
      middle(each, ({ micros }) => micros).toFixed(1),
      middle(each, ({ cores }) => cores).toFixed(2),
      middle(each, ({ generatorCores }) => generatorCores).toFixed(2),
      middle(each, ({ p50 }) => p50),
      middle(each, ({ p99 }) => p99),
      each.samples.reduce((sum, { failed }) => sum + failed, 0),
    ]);
  }
  console.log(table.toString());
  const native = median(recovers);
  const ofNative = median(signed.samples.map(({ perSecond }, i) => perSecond / recovers[i]!));
  console.log(
    `native recovery on one core: ${Math.round(native).toLocaleString('en')}/s; signed orders are ${ofNative.toFixed(2)} of it`,
  );
  for (const each of [orders, signed]) {
    const rate = HALF * middle(each, ({ perSecond }) => perSecond);
    const { p50, p99, perSecond } = await load(each, 2 * SECONDS, rate);
    console.log(
      `${each.name} at half of that, ${Math.round(perSecond).toLocaleString('en')}/s: p50 ${String(p50)} ms, p99 ${String(p99)} ms`,
    );
  }
} finally {
  for (const server of servers) server.stop();
}
process.exit(0);
