/**
 * WebSocket fan-out: trades of a served exchange to many listeners, against a broadcast of the same
 * bytes by `ws` alone. Both have the same load: a number of broadcasts in flight, one, or a burst.
 * Samples are interleaved; the ratio is the median over adjacent pairs. The exchange also accepts
 * each order, matches it, and writes it to disk before any listener gets it.
 */
import Table from 'cli-table3';
import { join } from 'node:path';
import { frameBytes, RawSocket } from './raw-socket.ts';
import { median, ROOT, Server, tokenOf } from './processes.ts';

const LISTENERS = Number(process.env['LISTENERS'] ?? 1000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 7);
const SAMPLE_MS = Number(process.env['SAMPLE_MS'] ?? 1500);
const UNDER_WAY = [1, 8];
const SYMBOL = 'BTC-USD-PERP';
const MAKER = `0x${'1'.repeat(40)}`;
const TAKER = `0x${'2'.repeat(40)}`;
const ZERO = `0x${'0'.repeat(40)}`;

interface Sample {
  readonly perSecond: number;
  /** The server's processor time per message and listener. */
  readonly micros: number;
  /** Used by the server. */
  readonly cores: number;
}

/** Many listeners and the driver of their messages. */
class Crowd {
  private bytes = 0;
  private sent = 0;
  private readonly server: Server;
  private readonly frame: number;
  private readonly drive: () => void;

  constructor(server: Server, text: string, drive: () => void) {
    this.server = server;
    this.frame = frameBytes(text);
    this.drive = drive;
  }

  readonly received = (count: number): void => {
    this.bytes += count;
  };

  async sample(underWay: number): Promise<Sample> {
    const started = performance.now();
    const cpu = this.server.cpuSeconds();
    const from = this.bytes;
    while (performance.now() - started < SAMPLE_MS) {
      while (this.sent - this.everywhere < underWay) {
        this.sent += 1;
        this.drive();
      }
      await new Promise(setImmediate);
    }
    const seconds = (performance.now() - started) / 1000;
    const messages = (this.bytes - from) / this.frame;
    const taken = this.server.cpuSeconds() - cpu;
    // Messages in flight must not count in the next sample.
    while (this.everywhere < this.sent) await new Promise((resolve) => setTimeout(resolve, 1));
    return {
      perSecond: messages / seconds,
      micros: (taken / messages) * 1e6,
      cores: taken / seconds,
    };
  }

  /** Number of messages that every listener has received. */
  private get everywhere(): number {
    return Math.floor(this.bytes / this.frame / LISTENERS);
  }
}

const order = (account: string, price: string, quantity: string, nonce: number, ioc: boolean) => ({
  account,
  subaccountIndex: 0,
  symbol: SYMBOL,
  orderType: 'limit',
  price,
  quantity,
  nonce,
  expiresAt: 9_007_199_254_740_991,
  originator: ZERO,
  originatorFee: 0,
  flags: { ioc, postOnly: false, reduceOnly: false },
  signatures: [],
});

async function openCrowd(
  crowd: Crowd,
  url: string,
  begin: (socket: RawSocket) => Promise<unknown>,
): Promise<void> {
  for (let i = 0; i < LISTENERS; i++) await begin(await RawSocket.open(url, crowd.received));
}

/** Pairs of samples with alternating order. */
async function interleaved(
  ours: Crowd,
  bare: Crowd,
  underWay: number,
): Promise<{ readonly ours: Sample; readonly bare: Sample }[]> {
  for (const crowd of [ours, bare]) await crowd.sample(underWay);
  const samples: { readonly ours: Sample; readonly bare: Sample }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? await ours.sample(underWay) : null;
    const other = await bare.sample(underWay);
    samples.push({ ours: first ?? (await ours.sample(underWay)), bare: other });
  }
  return samples;
}

const servers: Server[] = [];
try {
  const exchange = await Server.exchange();
  servers.push(exchange);
  for (const account of [MAKER, TAKER]) {
    await exchange.sim('deposit', { account, amount: '1000000000' });
  }
  await exchange.sim('oracle', { symbol: SYMBOL, price: '60000' });
  const ignore = (): void => undefined;
  const maker = await RawSocket.open(exchange.url, ignore);
  await maker.ask('auth', { bearer: await tokenOf(MAKER) });
  for (let i = 0; i < 50; i++) await maker.ask('create', order(MAKER, '60000', '-10', i, false));
  const taker = await RawSocket.open(exchange.url, ignore);
  await taker.ask('auth', { bearer: await tokenOf(TAKER) });
  let nonce = 0;
  const trade = (): void => {
    const params = order(TAKER, '60000', '0.0001', nonce++, true);
    taker.send(JSON.stringify({ jsonrpc: '2.0', id: nonce, method: 'create', params }));
  };
  const watch = { source: 'trade', symbols: [SYMBOL] };
  const listener = await RawSocket.open(exchange.url, ignore);
  await listener.ask('subscribe', watch);
  const received = listener.nextText();
  trade();
  const text = await received;
  listener.close();

  const bare = await Server.start([
    '--import',
    'tsx',
    join(ROOT, 'test/bench/http/bare-broadcast.ts'),
  ]);
  servers.push(bare);
  const driver = await RawSocket.open(bare.url, ignore);
  const exchangeCrowd = new Crowd(exchange, text, trade);
  const broadcast = new Crowd(bare, text, () => {
    driver.send(text);
  });
  await openCrowd(exchangeCrowd, exchange.url, (socket) => socket.ask('subscribe', watch));
  await openCrowd(broadcast, bare.url, () => Promise.resolve());
  const table = new Table({
    head: [
      `${String(LISTENERS)} sockets, ${String(text.length)} bytes`,
      'messages/s',
      'of broadcast',
      'by own time',
      'cores',
      'µs each',
    ],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const underWay of UNDER_WAY) {
    const samples = await interleaved(exchangeCrowd, broadcast, underWay);
    const of = (who: 'ours' | 'bare', what: keyof Sample): number =>
      median(samples.map((pair) => pair[who][what]));
    const rate = median(samples.map(({ ours, bare: base }) => ours.perSecond / base.perSecond));
    const work = median(samples.map(({ ours, bare: base }) => base.micros / ours.micros));
    const row = (name: string, who: 'ours' | 'bare', ...ratios: string[]): void => {
      table.push([
        `${name}, ${String(underWay)} under way`,
        Math.round(of(who, 'perSecond')).toLocaleString('en'),
        ...ratios,
        of(who, 'cores').toFixed(2),
        of(who, 'micros').toFixed(2),
      ]);
    };
    row('ws broadcast', 'bare', '1', '1');
    row('orrery serve', 'ours', rate.toFixed(2), work.toFixed(2));
  }
  console.log(table.toString());
} finally {
  for (const server of servers) server.stop();
}
process.exit(0);
