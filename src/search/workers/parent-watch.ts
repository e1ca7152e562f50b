/**
 * The thread of a worker that ends it when its parent is gone, even while a strategy never comes to an end: the worker itself hears of that
 * between two pieces of work only.
 */
import { workerData } from 'node:worker_threads';

const LOOK_MS = 250;

const never = new Int32Array(new SharedArrayBuffer(4));
while (process.ppid === workerData) Atomics.wait(never, 0, 0, LOOK_MS);
process.kill(process.pid, 'SIGKILL');
