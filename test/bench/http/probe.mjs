/**
 * Loaded into a server process (`--import`): on a message it collects garbage and reports its
 * memory. `ORRERY_PLANTED=leak` plants a leak: each request is kept.
 */
import { subscribe } from 'node:diagnostics_channel';
import process from 'node:process';
import { setTimeout } from 'node:timers';

process.on('message', () => {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  // Freed memory returns to the system with a delay.
  setTimeout(() => {
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.send?.({ rss: rss / 1e6, used: (heapUsed + external) / 1e6 });
  }, 500);
});
process.channel?.unref();

if (process.env.ORRERY_PLANTED === 'leak') {
  const kept = [];
  subscribe('http.server.request.start', (message) => {
    kept.push(message);
  });
}
