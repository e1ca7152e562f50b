/**
 * Thread that ends its worker when the parent process is gone. The worker itself would notice only
 * between tasks, never during an endless strategy.
 */
import { workerData } from 'node:worker_threads';

const LOOK_MS = 250;

const never = new Int32Array(new SharedArrayBuffer(4));
while (process.ppid === workerData) Atomics.wait(never, 0, 0, LOOK_MS);
process.kill(process.pid, 'SIGKILL');
