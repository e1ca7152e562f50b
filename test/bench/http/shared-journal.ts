/**
 * `npm run bench:pg`: orders per second of an exchange on a journal in PostgreSQL, as a ratio to one
 * in a data folder, and the time of take-overs. The database, the servers and the load generator
 * are processes of one machine, and the kernel places them on its cores. Samples are interleaved,
 * and a ratio is the median over rounds.
 */
import { join } from 'node:path';
import pg from 'pg';
import type { Request } from 'autocannon';
import { Cluster } from '../../postgres/cluster.ts';
import { fund, unsignedOrders } from './order-flow.ts';
import { generated, type Generated } from './generated.ts';
import { median, ROOT, Server, SIM_TOKEN } from './processes.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 4);
const WARM_SECONDS = 1;
const TAKEOVERS = Number(process.env['TAKEOVERS'] ?? 5);
const CONNECTIONS = 64;
const CLI = join(ROOT, 'dist/cli/main.js');

interface Target {
  readonly server: Server;
  readonly orders: Request;
}

/** A run of the generator, with the processor time of the server for one request, in µs. */
interface Sample extends Generated {
  readonly micros: number;
  /** Processor time of all processes of the database. */
  readonly database: number;
}

/** Requests made in advance for a second without a rate. */
const MOST_PER_SECOND = 40_000;

/** Orders of one flow, since a nonce is used once. */
async function load(
  { server, orders }: Target,
  cluster: Cluster,
  perSecond: number | null = null,
): Promise<Sample> {
  const cpu = server.cpuSeconds();
  const databaseCpu = cluster.cpuSeconds();
  const requests = Math.ceil((perSecond ?? MOST_PER_SECOND) * (SECONDS + WARM_SECONDS)) + 1;
  const run = await generated(server.url, orders, {
    ...{ connections: CONNECTIONS, perSecond, seconds: SECONDS, warmSeconds: WARM_SECONDS },
    requests,
  });
  if (run.repeated > 0) throw new Error('the server is faster than the requests made in advance');
  const took = SECONDS + WARM_SECONDS;
  return {
    ...run,
    micros: ((server.cpuSeconds() - cpu) / (run.perSecond * took)) * 1e6,
    database: (cluster.cpuSeconds() - databaseCpu) / took,
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
    await load(target, cluster);
  }
  const samples: [Sample, Sample][] = [];
  for (let i = 0; i < ROUNDS; i++)
    samples.push([await load(own, cluster), await load(other, cluster)]);
  const fastest = (which: 0 | 1): Sample[] => samples.map((pair) => pair[which]);
  for (const [name, which] of [
    ['data folder', 0],
    ['PostgreSQL ', 1],
  ] as const) {
    const text = (of: (sample: Sample) => number, digits = 0): string =>
      median(fastest(which).map(of)).toFixed(digits);
    console.log(
      `${name}  ${text((s) => s.perSecond)} orders/s  ${text((s) => s.micros, 1)} µs of the server each  ` +
        `p50 ${text((s) => s.p50)} ms  p99 ${text((s) => s.p99)} ms  not 200: ${text((s) => s.failed)}`,
    );
  }
  const ratio = median(samples.map(([a, b]) => b.perSecond / a.perSecond));
  console.log(`PostgreSQL to data folder: ${ratio.toFixed(2)} of the orders per second`);
  const half = median(fastest(1).map((sample) => sample.perSecond)) / 2;
  // The same requests without a journal and with a local one show the part of the machine.
  const targets: readonly (readonly [string, Target])[] = [
    ['health, no journal', { server: leader, orders: { path: '/healthz' } }],
    ['data folder', own],
    ['PostgreSQL', other],
  ];
  const runs = targets.map((): Sample[] => []);
  for (let i = 0; i < ROUNDS; i++) {
    for (const [which, [, target]] of targets.entries()) {
      runs[which]?.push(await load(target, cluster, half));
    }
  }
  console.log(`at half of that, ${half.toFixed(0)} requests a second at even intervals:`);
  for (const [which, [name]] of targets.entries()) {
    const rounds = runs[which] ?? [];
    const text = (of: (run: Sample) => number, digits = 1): string =>
      median(rounds.map(of)).toFixed(digits);
    const each = rounds.map(({ p99 }) => p99.toFixed(1)).join(', ');
    console.log(
      `${name}  p50 ${text((one) => one.p50)} ms  p99 ${text((one) => one.p99)} ms (rounds: ${each})  ` +
        `not 200: ${text((one) => one.failed, 0)}  ` +
        `cores: server ${text((one) => (one.micros * one.perSecond) / 1e6, 2)}, ` +
        `database ${text((one) => one.database, 2)}, generator ${text((one) => one.cores, 2)}  ` +
        `99 % of the requests are sent at most ${text((one) => one.lateMs)} ms late`,
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
