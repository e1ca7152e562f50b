/**
 * Latency of others while hostile connections attack. `npm test` runs two kinds that stalled the
 * server, with few connections and a wide bound; a long proof runs every kind with 64.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ATTACKS } from '../bench/hostile/attacks.ts';
import { Siege } from '../bench/hostile/siege.ts';
import { EFFORT } from '../setup/effort.ts';

const SAMPLE = ['a million digits to /auth', 'filters of 500 orders'];
const isLong = EFFORT > 1;
/** Tests share the machine, so their bound is that of a stall. */
const MAX_MS = isLong ? 50 : 400;
/** Kinds that still delay others for longer; docs/OPERATIONS.md lists them. */
const OPEN: ReadonlySet<string> = new Set([
  ...['/healthz', '/openapi.json, unread'],
  ...['invalid messages of feeds', 'large messages of feeds', 'pings of feeds'],
]);
const OPEN_MS = 2000;

let siege: Siege;
beforeAll(async () => {
  siege = await Siege.start();
  await siege.observe(500);
});
afterAll(() => {
  siege.server.stop();
});

test.each(isLong ? Object.keys(ATTACKS) : SAMPLE)('%s', async (name) => {
  const { latency } = await siege.attack(name, {
    connections: isLong ? 64 : 16,
    ms: isLong ? 3000 : 1000,
    warmUpMs: 1500,
  });
  expect(latency.refused).toBe(0);
  const bound = isLong && OPEN.has(name) ? OPEN_MS : MAX_MS;
  expect(isLong ? latency.p99 : latency.p50).toBeLessThan(bound);
  await new Promise((resolve) => setTimeout(resolve, isLong ? 1500 : 0));
});
