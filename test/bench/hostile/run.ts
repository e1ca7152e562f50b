/**
 * Latency of others while 64 hostile connections attack, one kind after the other:
 * `node --import tsx test/bench/hostile/run.ts [--seconds 3] [--only <text>]`. Exits with 1 if a
 * 99th percentile reaches 50 ms, or three times that of a quiet server and 10 ms.
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import { Server, tokenOf } from '../http/processes.ts';
import { ATTACKS, batch, type Login } from './attacks.ts';
import { measure, type Latency } from './victim.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    realtime: { type: 'boolean', default: false },
    connections: { type: 'string', default: '64' },
  },
});
const MS = Number(values.seconds) * 1000;
const MAX_MS = 50;
const FACTOR = 3;
const COOL_DOWN_MS = 1500;
const ATTACKER = fileURLToPath(new URL('attacker.ts', import.meta.url));
const VICTIM = `0x${'2'.repeat(40)}`;

const worst = (all: readonly Latency[]): Latency => ({
  p50: Math.max(...all.map((one) => one.p50)),
  p99: Math.max(...all.map((one) => one.p99)),
  max: Math.max(...all.map((one) => one.max)),
  count: all.reduce((sum, one) => sum + one.count, 0),
  refused: all.reduce((sum, one) => sum + one.refused, 0),
});

const server = await Server.exchange('trust', 'wall');
const logins: Login[] = [];
for (let i = 0; i < 64; i++) {
  const account = `0x${i.toString(16).padStart(40, 'b')}`;
  logins.push({ account, token: await tokenOf(account) });
}
const victimToken = await tokenOf(VICTIM);
await server.sim('oracle', { symbol: 'BTC-USD-PERP', price: '60000' });
for (const { account } of [...logins, { account: VICTIM }]) {
  await server.sim('deposit', { account, amount: '1000000' });
}
// Orders for the filters.
for (const login of logins) {
  for (let round = 0; round < 2; round++) {
    const [head = '', body = ''] = batch(login, round).toString().split('\r\n\r\n');
    const path = /^POST (\S+)/.exec(head)?.[1] ?? '';
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${login.token}`, 'content-type': 'application/json' },
      body,
    });
    if (!answer.ok) throw new Error(await answer.text());
  }
}

const observe = async (): Promise<Latency> =>
  worst(
    await Promise.all([
      measure(server.url, '/healthz', '', MS),
      measure(server.url, `/account/balance?account=${VICTIM}`, victimToken, MS),
    ]),
  );
await observe();
const quiet = await observe();
const limit = Math.min(MAX_MS, Math.max(10, FACTOR * quiet.p99));
const table = new Table({
  head: [`${values.connections} connections`, 'p50 ms', 'p99 ms', 'max ms', 'answers', 'refused', 'cores'],
  style: { head: [], border: [], compact: true },
});
const row = (name: string, { p50, p99, max, count, refused }: Latency, cores: number) => {
  const cells = [name, ...[p50, p99, max].map((ms) => ms.toFixed(2)), count, refused, cores.toFixed(2)];
  console.error(cells.join('  '));
  table.push(cells);
};
row('quiet', quiet, 0);
let failed = 0;
for (const name of Object.keys(ATTACKS).filter((one) => one.includes(values.only))) {
  const program = [process.execPath, '--import', 'tsx', ATTACKER];
  // On a machine that others use, run this with `chrt -r 2`: attackers come second.
  const [file = '', ...args] = values.realtime ? ['chrt', '-r', '1', ...program] : program;
  const child = spawn(file, [...args, name, server.url, values.connections], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.end(JSON.stringify(logins));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const cpu = server.cpuSeconds();
  const latency = await observe();
  const cores = (server.cpuSeconds() - cpu) / (MS / 1000);
  child.kill('SIGKILL');
  row(name, latency, cores);
  if (latency.p99 >= limit || latency.refused > 0) failed += 1;
  await new Promise((resolve) => setTimeout(resolve, COOL_DOWN_MS));
}
console.log(table.toString());
console.log(`limit ${limit.toFixed(1)} ms; ${String(failed)} kinds beyond it`);
server.stop();
process.exit(failed === 0 ? 0 : 1);
