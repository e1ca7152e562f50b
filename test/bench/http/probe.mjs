/**
 * Loaded into a server process (`--import`): on a message it collects garbage and reports its
 * memory, or the lengths of its turns since the last such message. `ORRERY_PLANTED=leak` plants a
 * leak: the server keeps 32 KiB of each request.
 */
import { subscribe } from 'node:diagnostics_channel';
import { Buffer } from 'node:buffer';
import { openSync, readSync } from 'node:fs';
import process from 'node:process';
import { setInterval, setTimeout } from 'node:timers';

/** Processor time of the main thread between two ticks of a timer of 1 ms: ms of each. */
let turns = null;
const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const bytes = Buffer.alloc(64);
function ranMs() {
  // The kernel brings the time of a running process up to date for this call.
  process.cpuUsage();
  const length = readSync(schedule, bytes, 0, 64, 0);
  return Number.parseInt(bytes.latin1Slice(0, length)) / 1e6;
}
function watchTurns() {
  let last = ranMs();
  setInterval(() => {
    const now = ranMs();
    turns.push(now - last);
    last = now;
  }, 1).unref();
}

process.on('message', (message) => {
  if (message === 'turns') {
    if (turns === null) watchTurns();
    process.send?.(turns ?? []);
    turns = [];
    return;
  }
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
    kept.push(message, Buffer.alloc(32_768));
  });
}
