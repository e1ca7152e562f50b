/**
 * `npm run prove -- --only served`: a server at half of its greatest throughput for a long time,
 * with thousands of sockets that watch a book, read twice a second. A tenth of them reconnects every
 * half minute, a few never read, and snapshots are written all the time. It holds if the server
 * answers everything, its memory and its 99th percentile stay flat, the sockets that do not read are
 * closed, the others stay open, and a restart recovers the hashes of the end.
 *
 *   ORRERY_SERVED   seconds [300]
 *   SOCKETS         sockets that read [5000]
 *   ORRERY_PLANTED  `leak`: the server keeps every request, and the check must fail
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import autocannon, { type Request } from 'autocannon';
import Table from 'cli-table3';
import { paced } from '../bench/http/paced.ts';
import { median, ROOT, Server, SIM_TOKEN, tokenOf } from '../bench/http/processes.ts';
import { RawSocket } from '../bench/http/raw-socket.ts';

const SECONDS = Number(process.env['ORRERY_SERVED'] ?? 300);
const SOCKETS = Number(process.env['SOCKETS'] ?? 5000);
const DEAF = 16;
const CONNECTIONS = 32;
const SAMPLE_S = Math.max(10, SECONDS / 15);
const RESTART_MS = 30_000;
const PONG_MS = 5000;
/** Interval between reads of a socket: the processor time of all clients is not the server's. */
const READ_MS = 500;
/** Groups of sockets that are read one after the other. */
const GROUPS = 20;
/** Three samples, and two pings of the server, after which a socket that does not read is closed. */
const LEAST_S = 90;
const SYMBOL = 'BTC-USD-PERP';
const CLI = join(ROOT, 'dist/cli/main.js');
const MAKER = `0x${'a1'.repeat(20)}`;
const TAKER = `0x${'b2'.repeat(20)}`;
/** Greatest rise of memory and of the percentile from the second third to the last. */
const FLAT_MEMORY = 1.15;
const FLAT_P99 = 2;

/** A resting order and one that takes it, in turn, so the book changes and stays small. */
function trading(authorizations: readonly string[]): Request {
  let next = 0;
  return {
    method: 'POST',
    path: '/account/order',
    setupRequest: (request) => {
      const i = next++;
      const takes = i % 2 === 1;
      const body = JSON.stringify({
        account: takes ? TAKER : MAKER,
        subaccountIndex: 0,
        symbol: SYMBOL,
        orderType: 'Limit',
        price: '60000',
        // Both sides in turn, so that no position grows.
        quantity: takes === i % 4 < 2 ? '-0.001' : '0.001',
        nonce: i + 1,
        expiresAt: 9_007_199_254_740_991,
        originator: `0x${'0'.repeat(40)}`,
        originatorFee: 0,
        flags: { ioc: takes, postOnly: false, reduceOnly: false },
        signatures: [] as string[],
      });
      const authorization = authorizations[takes ? 1 : 0]!;
      const headers = { 'content-type': 'application/json', authorization };
      return { ...request, body, headers };
    },
  };
}

interface Sample {
  readonly second: number;
  readonly perSecond: number;
  readonly p99: number;
  readonly failed: number;
  readonly rss: number;
  readonly used: number;
}

class Crowd {
  bytes = 0;
  reconnects = 0;
  private readonly url: string;
  private readonly readers: RawSocket[] = [];
  private readonly deaf: RawSocket[] = [];
  private next = 0;

  constructor(url: string) {
    this.url = url;
  }

  async open(): Promise<void> {
    while (this.readers.length < SOCKETS) this.readers.push(await this.reader());
    while (this.deaf.length < DEAF) {
      const socket = await this.reader();
      await socket.ask('subscribe', { source: 'trade', symbols: [SYMBOL] });
      socket.socket.pause();
      this.deaf.push(socket);
    }
  }

  private async reader(): Promise<RawSocket> {
    const socket = await RawSocket.open(this.url, (count) => (this.bytes += count));
    socket.socket.on('error', () => undefined);
    await socket.ask('subscribe', { source: 'book', symbols: [SYMBOL] });
    socket.pauses = true;
    return socket;
  }

  /** Reads the sockets of a group. */
  read(group: number): void {
    for (let i = group; i < this.readers.length; i += GROUPS) this.readers[i]!.socket.resume();
  }

  /** A tenth of the clients ends without a close frame and comes back. */
  async restart(): Promise<void> {
    for (let i = 0; i < SOCKETS / 10; i++) {
      const at = this.next++ % SOCKETS;
      this.readers[at]!.socket.destroy();
      this.readers[at] = await this.reader();
      this.reconnects += 1;
    }
  }

  pong(): void {
    for (const reader of this.readers) reader.pong();
  }

  /** Readers whose connection the server ended. */
  get lost(): number {
    return this.readers.filter(({ socket }) => socket.destroyed || socket.readableEnded).length;
  }

  /** Sockets that do not read and are still open at the server. */
  async deafOpen(): Promise<number> {
    let open = 0;
    for (const client of this.deaf) {
      const { socket } = client;
      // Reads to the end: with little unread, the end of the connection is behind it.
      client.pauses = false;
      const ended = new Promise<boolean>((resolve) => {
        socket.once('close', () => {
          resolve(true);
        });
        socket.once('end', () => {
          resolve(true);
        });
        setTimeout(resolve, 5000, socket.destroyed || socket.readableEnded);
      });
      socket.resume();
      if (!(await ended)) open += 1;
    }
    return open;
  }
}

async function hashOf(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${SIM_TOKEN}` };
  const answer = await fetch(`${url}/sim/hash`, { headers });
  const { sequenceNumber, chainHash } = (await answer.json()) as Record<string, unknown>;
  return `${String(sequenceNumber)} ${String(chainHash)}`;
}

const thirds = (samples: readonly Sample[], of: (sample: Sample) => number): [number, number] => {
  const third = Math.floor(samples.length / 3);
  return [
    median(samples.slice(third, 2 * third).map(of)),
    median(samples.slice(samples.length - third).map(of)),
  ];
};

const faults: string[] = [];
const must = (holds: boolean, fault: string): void => {
  if (!holds) faults.push(fault);
};

// A virtual clock adds no command of its own between the last answer and the hash.
const flags = ['--snapshot-every', '5000'];
let server = await Server.exchange('trust', 'virtual', flags);
const { folder } = server;
if (folder === null) throw new Error('the exchange has no folder');
try {
  for (const account of [MAKER, TAKER]) {
    await server.sim('deposit', { account, amount: '1000000' });
  }
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  const tokens = await Promise.all([MAKER, TAKER].map(tokenOf));
  const request = trading(tokens.map((token) => `Bearer ${token}`));
  const flood = (duration: number): ReturnType<typeof autocannon> =>
    autocannon({ url: server.url, connections: CONNECTIONS, duration, requests: [request] });

  const crowd = new Crowd(server.url);
  const pongs = setInterval(() => {
    crowd.pong();
  }, PONG_MS);
  let group = 0;
  const reads = setInterval(() => {
    crowd.read(group++ % GROUPS);
  }, READ_MS / GROUPS);
  await crowd.open();
  await flood(5);
  const peak = await flood(10);
  const rate = Math.round(peak.requests.total / peak.duration / 2);
  console.log(
    `${String(SOCKETS)} sockets; ${String(2 * rate)} orders/s at most, so ${String(rate)}`,
  );

  const samples: Sample[] = [];
  const started = performance.now();
  let restarting = Promise.resolve();
  const restarts = setInterval(() => {
    restarting = restarting.then(() => crowd.restart());
  }, RESTART_MS);
  while ((performance.now() - started) / 1000 < SECONDS) {
    const cpu = server.cpuSeconds();
    const pace = { connections: CONNECTIONS, perSecond: rate, seconds: SAMPLE_S };
    const { perSecond, p50, p99, failed } = await paced(server.url, request, pace);
    const cores = (server.cpuSeconds() - cpu) / SAMPLE_S;
    const { rss, used } = await server.memory();
    const second = Math.round((performance.now() - started) / 1000);
    samples.push({ second, perSecond, p99, failed, rss, used });
    console.log(
      `${String(second)} s: ${perSecond.toFixed(0)}/s, p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)} ms, ${rss.toFixed(0)} MB, ${cores.toFixed(2)} cores, ${String(failed)} failed`,
    );
  }
  clearInterval(restarts);
  await restarting;

  const [memoryBefore, memoryAfter] = thirds(samples, ({ used }) => used);
  const [p99Before, p99After] = thirds(samples, ({ p99 }) => p99);
  const failed = samples.reduce((sum, sample) => sum + sample.failed, 0);
  const deafOpen = await crowd.deafOpen();
  must(SECONDS >= LEAST_S, `too short: less than ${String(LEAST_S)} s`);
  must(failed === 0, `${String(failed)} requests failed`);
  must(crowd.lost === 0, `${String(crowd.lost)} sockets that read were closed`);
  must(deafOpen === 0, `${String(deafOpen)} sockets that do not read are open`);
  must(
    memoryAfter <= FLAT_MEMORY * memoryBefore,
    `memory rose from ${memoryBefore.toFixed(0)} to ${memoryAfter.toFixed(0)} MB`,
  );
  must(
    p99After <= Math.max(FLAT_P99 * p99Before, 10),
    `p99 rose from ${p99Before.toFixed(0)} to ${p99After.toFixed(0)} ms`,
  );

  clearInterval(pongs);
  clearInterval(reads);
  const hash = await hashOf(server.url);
  must((await server.end()) === 0, 'the server did not end with exit code 0');
  const compacted = execFileSync(process.execPath, [CLI, 'journal', 'compact', folder]);
  console.log(compacted.toString().trim().split('\n').at(-1) ?? '');
  execFileSync(process.execPath, [CLI, 'journal', 'verify', folder]);
  const again = await Server.start(
    [
      ...[CLI, 'serve', '--port', '0', '--data-dir', folder, '--sim-token', SIM_TOKEN],
      ...['--metrics-port', 'off', '--clock', 'virtual', '--trust-signatures'],
    ],
    folder,
  );
  server = again;
  must((await hashOf(again.url)) === hash, 'a restart did not recover the hashes of the end');

  const table = new Table({
    head: ['second third', 'last third', ''],
    style: { head: [], border: [], compact: true },
  });
  table.push([memoryBefore.toFixed(0), memoryAfter.toFixed(0), 'MB after a collection']);
  table.push([p99Before.toFixed(0), p99After.toFixed(0), 'p99, ms']);
  console.log(table.toString());
  for (const fault of faults) console.log(`MISSED ${fault}`);
  const total = samples.reduce((sum, { perSecond }) => sum + perSecond, 0) / samples.length;
  console.log(
    `${String(SECONDS)} s at ${total.toFixed(0)} orders/s with ${String(SOCKETS)} sockets, ${String(crowd.reconnects)} reconnections, ${(crowd.bytes / 1e9).toFixed(1)} GB sent: ${faults.length === 0 ? 'holds' : 'FAILS'}`,
  );
} finally {
  server.stop();
}
process.exit(faults.length === 0 ? 0 : 1);
