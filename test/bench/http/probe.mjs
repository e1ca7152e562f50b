/**
 * Loaded into a server process (`--import`): on a message it collects garbage and reports its
 * memory.
 */
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
