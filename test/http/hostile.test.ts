/**
 * Latency of others while hostile connections attack. `npm test` runs two kinds that stalled the
 * server, with few connections and a wide bound; a long proof runs every kind with 64.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ATTACKS } from '../bench/hostile/attacks.ts';
import { Siege } from '../bench/hostile/siege.ts';
import { EFFORT } from '../setup/effort.ts';

const SAMPLE = ['large messages of feeds', 'filters of 500 orders'];
const isLong = EFFORT > 1;
/** Tests share the machine, so their bound is that of a stall. */
const MAX_MS = isLong ? 50 : 400;
/** Other tests delay all processes now and then. A server that stalls does so each time. */
const ATTEMPTS = isLong ? 1 : 3;

let siege: Siege;
beforeAll(async () => {
  siege = await Siege.start();
  await siege.observe(500);
});
afterAll(() => {
  siege.server.stop();
});

test.each(isLong ? Object.keys(ATTACKS) : SAMPLE)('%s', { timeout: 120_000 }, async (name) => {
  let delay = Infinity;
  for (let i = 0; i < ATTEMPTS && delay >= MAX_MS; i++) {
    const { latency } = await siege.attack(name, {
      connections: isLong ? 64 : 16,
      ms: isLong ? 3000 : 1000,
      warmUpMs: 1500,
    });
    expect(latency.refused).toBe(0);
    delay = isLong ? latency.p99 : latency.p50;
    await new Promise((resolve) => setTimeout(resolve, isLong ? 1500 : 0));
    // The attacker has been killed, with requests that wait for their turn.
    expect((await siege.observe(100)).refused).toBe(0);
  }
  expect(delay).toBeLessThan(MAX_MS);
});
