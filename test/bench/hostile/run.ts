/**
 * Latency of others while 64 hostile connections attack, one kind after the other. Exits with 1 if
 * a 99th percentile reaches 50 ms, or an answer is refused.
 *
 * `node --import tsx test/bench/hostile/run.ts [--seconds 3] [--only <text>|<text>…]`. Attackers
 * run at the lowest priority: their processor time is that of other machines. Reads of an account
 * wait until the disk has what they show. So a kind that writes is compared with one client that
 * places one order after the other, and the others with an exchange without orders.
 */
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { ATTACKS, ONE_CLIENT } from './attacks.ts';
import { Siege, type Attacked } from './siege.ts';
import type { Latency } from './victim.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    connections: { type: 'string', default: '64' },
  },
});
/** Texts separated by `|`. */
const wanted = values.only.split('|');
const MS = Number(values.seconds) * 1000;
const MAX_MS = 50;
const COOL_DOWN_MS = 1500;

const siege = await Siege.start();
await siege.observe(MS);
const quiet = await siege.observe(MS);
const table = new Table({
  head: [
    `${values.connections} connections`,
    ...['p50 ms', 'p99 ms', 'max ms'],
    ...['of quiet', 'answers', 'refused', 'cores', 'turn p99', 'turn max'],
  ],
  style: { head: [], border: [], compact: true },
});
const row = (
  name: string,
  { latency, cores, turns }: Pick<Attacked, 'latency'> & Partial<Attacked>,
  base: Latency,
): void => {
  const turn = (share: number): string =>
    (turns?.[Math.floor(share * (turns.length - 1))] ?? 0).toFixed(1);
  const { p50, p99, max, count, refused } = latency;
  const cells = [name, ...[p50, p99, max, p99 / base.p99].map((ms) => ms.toFixed(2))];
  table.push([...cells, count, refused, (cores ?? 0).toFixed(2), turn(0.99), turn(1)]);
  console.error([...cells, turn(0.99), turn(1)].join('  '));
};
const attack = (name: string, connections: number): Promise<Attacked> =>
  siege.attack(name, { connections, ms: MS, warmUpMs: 1500, wrapper: ['nice', '-n', '19'] });
row('quiet', { latency: quiet }, quiet);
const trading = await attack(ONE_CLIENT, 1);
row(`quiet, with ${ONE_CLIENT}`, trading, trading.latency);
let failed = 0;
for (const name of Object.keys(ATTACKS).filter((one) =>
  wanted.some((text) => one.includes(text)),
)) {
  const attacked = await attack(name, Number(values.connections));
  const { latency } = attacked;
  row(name, attacked, ATTACKS[name]?.writes === true ? trading.latency : quiet);
  if (latency.p99 >= MAX_MS || latency.refused > 0) failed += 1;
  await new Promise((resolve) => setTimeout(resolve, COOL_DOWN_MS));
}
console.log(table.toString());
console.log(`${String(failed)} kinds at ${String(MAX_MS)} ms or more, or with a refused answer`);
siege.server.stop();
process.exit(failed === 0 ? 0 : 1);
