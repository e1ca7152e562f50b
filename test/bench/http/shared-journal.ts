/**
 * `npm run bench:pg`: orders per second of an exchange on a journal in PostgreSQL, as a ratio to one
 * in a data folder, and the time of take-overs. The database, the servers and the load generator
 * share the machine. Samples are interleaved, and a ratio is the median over rounds.
 */
import { join } from 'node:path';
import pg from 'pg';
import autocannon, { type Request } from 'autocannon';
import { Cluster } from '../../postgres/cluster.ts';
import { fund, unsignedOrders } from './order-flow.ts';
import { paced, type Paced } from './paced.ts';
import { median, ROOT, Server, SIM_TOKEN } from './processes.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 2);
const TAKEOVERS = Number(process.env['TAKEOVERS'] ?? 5);
const CONNECTIONS = 64;
const CLI = join(ROOT, 'dist/cli/main.js');

interface Target {
  readonly server: Server;
  readonly orders: Request;
}

interface Sample {
  readonly perSecond: number;
  readonly micros: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/** Orders of one flow, since a nonce is used once. */
async function load({ server, orders }: Target): Promise<Sample> {
  const cpu = server.cpuSeconds();
  const result = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: [orders],
  });
  return {
    perSecond: result.requests.total / result.duration,
    micros: ((server.cpuSeconds() - cpu) / result.requests.total) * 1e6,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  };
}

function shared(address: string, flags: readonly string[]): Promise<Server> {
  const always = ['--port', '0', '--sim-token', SIM_TOKEN, '--clock', 'virtual'];
  return Server.start([
    CLI,
    'serve',
    '--journal',
    address,
    ...always,
    '--trust-signatures',
    ...flags,
  ]);
}

async function leads({ url }: Server): Promise<boolean> {
  const answer = await fetch(`${url}/leaderz`).catch(() => null);
  await answer?.text();
  return answer?.status === 200;
}

async function takeOver(leader: Server, follower: Server): Promise<number> {
  const startedMs = performance.now();
  leader.stop();
  while (!(await leads(follower))) await new Promise((resolve) => void setTimeout(resolve, 10));
  return performance.now() - startedMs;
}

/** Bytes of the journal's table and of its rows. */
async function sizesOf(address: string): Promise<string> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<Record<'rows' | 'commands' | 'frames' | 'table', string>>(
    `select count(*) as rows, max(last_seq) as commands, sum(octet_length(frames)) as frames,
       pg_total_relation_size('orrery.journal') as table from orrery.journal`,
  );
  await client.end();
  const { rows: count = '', commands, frames, table } = rows[0] ?? {};
  const each = (bytes: string | undefined): string => (Number(bytes) / Number(commands)).toFixed(0);
  return (
    `${String(commands)} commands in ${count} rows: ${each(frames)} bytes each, ` +
    `${each(table)} with table and index`
  );
}

const cluster = await Cluster.start();
const servers: Server[] = [];
try {
  const local = await Server.exchange('trust');
  let leader = await shared(cluster.address(), []);
  servers.push(local, leader);
  const own: Target = { server: local, orders: unsignedOrders() };
  const other: Target = { server: leader, orders: unsignedOrders() };
  for (const target of [own, other]) {
    await fund(target.server);
    await load(target);
  }
  const samples: [Sample, Sample][] = [];
  for (let i = 0; i < ROUNDS; i++) samples.push([await load(own), await load(other)]);
  const middle = (which: 0 | 1, of: (sample: Sample) => number): number =>
    median(samples.map((pair) => of(pair[which])));
  for (const [name, which] of [
    ['data folder', 0],
    ['PostgreSQL ', 1],
  ] as const) {
    const text = (of: (sample: Sample) => number, digits = 0): string =>
      middle(which, of).toFixed(digits);
    console.log(
      `${name}  ${text((s) => s.perSecond)} orders/s  ${text((s) => s.micros, 1)} µs of the server each  ` +
        `p50 ${text((s) => s.p50)} ms  p99 ${text((s) => s.p99)} ms  not 200: ${text((s) => s.failed)}`,
    );
  }
  const ratio = median(samples.map(([a, b]) => b.perSecond / a.perSecond));
  console.log(`PostgreSQL to data folder: ${ratio.toFixed(2)} of the orders per second`);
  const half = middle(1, (sample) => sample.perSecond) / 2;
  const pace = { connections: CONNECTIONS, perSecond: half, seconds: 2 * SECONDS, warmSeconds: 2 };
  // The same requests without a journal and with a local one show the part of the machine.
  for (const [name, { server, orders }] of [
    ['health, no journal', { server: leader, orders: { path: '/healthz' } as Request }],
    ['data folder', own],
    ['PostgreSQL', other],
  ] as const) {
    const runs: Paced[] = [];
    for (let i = 0; i < ROUNDS; i++) runs.push(await paced(server.url, orders, pace));
    const text = (of: (run: Paced) => number): string => median(runs.map(of)).toFixed(1);
    console.log(
      `at half of that, evenly spaced: ${name}  p50 ${text((one) => one.p50)} ms  ` +
        `p99 ${text((one) => one.p99)} ms (best round ${Math.min(...runs.map(({ p99 }) => p99)).toFixed(1)}), ` +
        `${text((one) => one.perSecond)} a second, not 200: ${text((one) => one.failed)}`,
    );
  }
  console.log(await sizesOf(cluster.address()));
  const times: number[] = [];
  let follower = await shared(cluster.address(), ['--follow']);
  servers.push(follower);
  for (let i = 0; i < TAKEOVERS; i++) {
    times.push(await takeOver(leader, follower));
    leader = follower;
    follower = await shared(cluster.address(), ['--follow']);
    servers.push(follower);
  }
  console.log(
    `take-over after kill -9, ${String(TAKEOVERS)} rounds: median ${median(times).toFixed(0)} ms, ` +
      `worst ${Math.max(...times).toFixed(0)} ms`,
  );
} finally {
  for (const server of servers) server.stop();
  cluster.stop();
}
