/**
 * The limits of `limits.ts` on the whole engine.
 *
 *     node --expose-gc --import tsx test/bench/limit-flow.ts
 *
 * Prints commands a second of processor time, without and with a sink, and bytes allocated a
 * command, as JSON. The bytes are those of V8's sampling heap profiler, with collected objects.
 */
import { Session, type HeapProfiler } from 'node:inspector';
import type { PlaceOrder } from '../../src/engine/commands.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import type { Exchange } from '../../src/engine/exchange.ts';
import { raiseLongRunLimits } from './long-run-limits.ts';
import { limitsFrom, openLimits, ORDERS, TRADED_LOTS, TRADES } from './limits.ts';

raiseLongRunLimits();

const WARMING = 1;
const ROUNDS = 3;
/** Commands created at a time, outside the timing. */
const BLOCK = 1000;
/** Commands before those whose allocation is measured, and their number. */
const SETTLING = 300_000;

/** Commands a second. */
function round(sink?: (event: EngineEvent) => void): number {
  const { exchange, firstUser } = openLimits();
  globalThis.gc?.();
  let us = 0;
  for (let from = 0; from < ORDERS; from += BLOCK) {
    const commands = limitsFrom(from, firstUser, BLOCK);
    const before = process.cpuUsage();
    for (const command of commands) exchange.apply(command, sink);
    const { user, system } = process.cpuUsage(before);
    us += user + system;
  }
  return ORDERS / (us / 1e6);
}

/** Named, because its callees are found by its name in the profile. */
function applyBlock(exchange: Exchange, commands: readonly PlaceOrder[]): void {
  for (const command of commands) exchange.apply(command);
}

/** Bytes that the engine allocates for a command, on a book that has seen `SETTLING` of them. */
function allocatedEach(): number {
  const { exchange, firstUser } = openLimits();
  const play = (from: number, to: number): void => {
    for (; from < to; from += BLOCK) applyBlock(exchange, limitsFrom(from, firstUser, BLOCK));
  };
  play(0, SETTLING);
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.startSampling', {
    samplingInterval: 4096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  } as HeapProfiler.StartSamplingParameterType);
  play(SETTLING, 2 * SETTLING);
  let bytes = 0;
  const sum = (node: HeapProfiler.SamplingHeapProfileNode, isInside: boolean): void => {
    const counts = isInside || node.callFrame.functionName === applyBlock.name;
    if (counts) bytes += node.selfSize;
    for (const child of node.children) sum(child, counts);
  };
  session.post('HeapProfiler.stopSampling', (error, result) => {
    if (error !== null) throw error;
    sum(result.profile.head, false);
  });
  session.disconnect();
  return bytes / SETTLING;
}

/** The work is FLOX's: its number of trades and lots. */
function checkWork(): void {
  let trades = 0;
  let traded = 0;
  round((event) => {
    if (event.kind !== 'tradePrinted') return;
    trades += 1;
    traded += Math.abs(event.lots);
  });
  if (trades === TRADES && traded === TRADED_LOTS) return;
  throw new Error(`${String(trades)} trades of ${String(traded)} lots are not the peer's work`);
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

checkWork();
const unheard: number[] = [];
const delivered: number[] = [];
let indexes = 0;
for (let i = -WARMING; i < ROUNDS; i++) {
  const alone = round();
  const withSink = round(({ index }) => (indexes += index));
  if (i < 0) continue;
  unheard.push(alone);
  delivered.push(withSink);
}
const perSecond = median(unheard);
const withSink = median(delivered);
console.log(
  JSON.stringify({
    perSecond: Math.round(perSecond),
    withSink: Math.round(withSink),
    sinkRatio: perSecond / withSink,
    bytesEach: Math.round(allocatedEach()),
    delivered: indexes > 0,
  }),
);
