/**
 * Memory of idle feed connections: the server's increase after garbage collection. First silent
 * connections, then as many that are logged in and watch a book and their own orders.
 */
import Table from 'cli-table3';
import { RawSocket } from './raw-socket.ts';
import { Server, tokenOf, type Memory } from './processes.ts';

const SOCKETS = Number(process.env['SOCKETS'] ?? 2000);
const SYMBOL = 'BTC-USD-PERP';

async function measure(begin: (socket: RawSocket, i: number) => Promise<unknown>): Promise<Memory> {
  const server = await Server.exchange();
  try {
    await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
    // The first connection loads and compiles code, which must not count.
    await begin(await RawSocket.open(server.url, () => undefined), 0);
    const empty = await server.memory();
    for (let i = 0; i < SOCKETS; i++) {
      await begin(await RawSocket.open(server.url, () => undefined), i);
    }
    const full = await server.memory();
    return { rss: full.rss - empty.rss, used: full.used - empty.used };
  } finally {
    server.stop();
  }
}

const silent = await measure(() => Promise.resolve());
const watching = await measure(async (socket, i) => {
  const account = `0x${(i + 1).toString(16).padStart(40, '0')}`;
  await socket.ask('auth', { bearer: await tokenOf(account) });
  await socket.ask('subscribe', { source: 'book', symbols: [SYMBOL] });
  await socket.ask('subscribe', { source: 'order', account, subaccountIndices: [] });
});
const table = new Table({
  head: [`${String(SOCKETS)} idle sockets`, 'RSS, MB', 'heap and buffers, MB', 'KB each'],
  colAligns: ['left', 'right', 'right', 'right'],
  style: { head: [], border: [], compact: true },
});
for (const [name, { rss, used }] of [
  ['silent', silent],
  ['logged in, watching a book and orders', watching],
] as const) {
  const each = (Math.max(rss, used) * 1000) / SOCKETS;
  table.push([name, rss.toFixed(1), used.toFixed(1), each.toFixed(1)]);
}
console.log(table.toString());
process.exit(0);
