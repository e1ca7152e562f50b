/**
 * A load generator as a process of its own (`generated.ts`): requests that are bytes already, over
 * raw sockets with one request in flight each. Its part of the machine is small, so that the bench
 * measures the server.
 *
 * With a rate, requests are due at even intervals, whether or not earlier ones have their replies. A
 * latency counts from that time, so a stall of server or generator is in it. Without a rate, each
 * socket sends its next request once it has a reply.
 */
import { Buffer } from 'node:buffer';
import { connect } from 'node:net';
import process from 'node:process';
import { setTimeout } from 'node:timers';

const { host, port, connections, perSecond, seconds, warmSeconds } = JSON.parse(process.argv[2]);
const requests = [];
// From a pipe: writing them to a file would load the disk to which the server syncs.
const all = Buffer.concat(await process.stdin.toArray());
for (let at = 0; at < all.length;) {
  const end = at + 4 + all.readUInt32LE(at);
  requests.push(all.subarray(at + 4, end));
  at = end;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const sockets = [];
/** Sockets without a request, and requests that are due. */
const idle = [];
const due = [];
const latencies = [];
const lateness = [];
let failed = 0;
let answered = 0;
let next = 0;
let startedMs = 0;
let countedMs = 0;
let endMs = 0;

const takeRequest = () => requests[next++ % requests.length];

function opened() {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.setNoDelay(true);
    const one = { socket, dueMs: 0, kept: null };
    socket.once('connect', () => resolve(one));
    socket.once('error', reject);
    socket.on('data', (chunk) => onData(one, chunk));
    socket.on('close', () => {
      if (performance.now() < endMs) throw new Error('the server closed a connection');
    });
  });
}

function send(one, dueMs) {
  one.dueMs = dueMs;
  one.socket.write(takeRequest());
}

function onData(one, chunk) {
  const bytes = one.kept === null ? chunk : Buffer.concat([one.kept, chunk]);
  const head = bytes.indexOf(END_OF_HEAD);
  const length =
    head < 0 ? NaN : Number(/content-length: (\d+)/i.exec(bytes.latin1Slice(0, head))?.[1]);
  if (!(bytes.length >= head + END_OF_HEAD.length + length)) {
    one.kept = bytes;
    return;
  }
  one.kept = null;
  const nowMs = performance.now();
  if (one.dueMs >= countedMs && one.dueMs < endMs) {
    answered += 1;
    latencies.push(nowMs - one.dueMs);
  }
  // Failures of the first seconds count too.
  if (bytes.latin1Slice(9, 12) !== '200') failed += 1;
  if (perSecond === null) {
    if (nowMs < endMs) send(one, nowMs);
    else idle.push(one);
  } else if (due.length > 0) send(one, due.shift());
  else idle.push(one);
}

function start() {
  startedMs = performance.now();
  countedMs = startedMs + warmSeconds * 1000;
  endMs = countedMs + seconds * 1000;
  if (perSecond === null) {
    for (const one of idle.splice(0)) send(one, performance.now());
    return;
  }
  let i = 0;
  const dueOf = (nth) => startedMs + (nth * 1000) / perSecond;
  const tick = () => {
    const nowMs = performance.now();
    for (; dueOf(i) <= nowMs && dueOf(i) < endMs; i++) {
      const at = dueOf(i);
      if (at >= countedMs) lateness.push(nowMs - at);
      const one = idle.pop();
      if (one === undefined) due.push(at);
      else send(one, at);
    }
    if (dueOf(i) < endMs) setTimeout(tick, 1);
  };
  tick();
}

for (let i = 0; i < connections; i++) sockets.push(opened());
idle.push(...(await Promise.all(sockets)));
const cpu = process.cpuUsage();
start();
/** Replies after this time are missing. */
const lastMs = endMs + 10_000;
while (performance.now() < endMs || (idle.length < connections && performance.now() < lastMs)) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
const { user, system } = process.cpuUsage(cpu);
failed += connections - idle.length + due.length;
latencies.sort((a, b) => a - b);
lateness.sort((a, b) => a - b);
const at = (of, share) => of[Math.floor(share * (of.length - 1))] ?? 0;
process.stdout.write(
  JSON.stringify({
    perSecond: answered / seconds,
    p50: at(latencies, 0.5),
    p99: at(latencies, 0.99),
    max: at(latencies, 1),
    failed,
    repeated: Math.max(0, next - requests.length),
    lateMs: at(lateness, 0.99),
    cores: (user + system) / 1e6 / (warmSeconds + seconds),
  }),
  () => process.exit(0),
);
