/**
 * The time machine on a journal of a million commands: opening, 1,000 random seeks, single steps in
 * both directions, and restores, which are the cost of a fork. The chain hash of each seek is
 * compared with that of a straight replay.
 *
 *     node --expose-gc --import tsx test/bench/time-machine.ts [commands]
 *
 * Prints JSON. Times are of the clock, and of the processor with its collector where named; heap is
 * after a collection.
 */
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { instantView } from '../../src/time-machine/views/instant-view.ts';
import { journalOfMix, wordOf } from './mix-journal.ts';

raiseInliningLimits();

const COMMANDS = Number(process.argv[2] ?? 1_000_000);
const SEEKS = 1000;
const STEPS = 400;
const RESTORES = 100;
const MEGABYTE = 1 << 20;

const heapMegabytes = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return Math.round((heapUsed + arrayBuffers) / MEGABYTE);
};

const quantile = (times: readonly number[], of: number): number => {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length * of)] ?? 0) * 100) / 100;
};
const figures = (times: readonly number[]) => ({
  p50: quantile(times, 0.5),
  p95: quantile(times, 0.95),
  max: quantile(times, 0.9999),
});

const { bytes, hashes } = journalOfMix(COMMANDS);
const before = heapMegabytes();
let begun = performance.now();
const timeline = Timeline.open(bytes);
timeline.seek(1);
const firstMs = performance.now() - begun;
begun = performance.now();
const { seq: last } = timeline.index();
const indexMs = performance.now() - begun;

let wrong = 0;
let state = 12_345;
function check(at: number): void {
  if (wordOf(timeline.seek(at).chainHash) !== hashes[at]) wrong += 1;
}
const processorSeeks: number[] = [];
const seeks = Array.from({ length: SEEKS }, () => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  const at = 1 + (state % last);
  const from = performance.now();
  const used = process.cpuUsage();
  check(at);
  const { user, system } = process.cpuUsage(used);
  processorSeeks.push((user + system) / 1000);
  return performance.now() - from;
});
const heap = heapMegabytes() - before;

const middle = Math.floor(last / 2);
timeline.seek(middle);
while (timeline.prepare());
const back: number[] = [];
const forth: number[] = [];
const preparations: number[] = [];
for (let i = 1; i <= STEPS; i++) {
  let from = performance.now();
  check(middle - i);
  back.push(performance.now() - from);
  // As the worker does between two steps.
  from = performance.now();
  timeline.prepare();
  preparations.push(performance.now() - from);
}
for (let i = STEPS - 1; i >= 0; i--) {
  const from = performance.now();
  check(middle - i);
  forth.push(performance.now() - from);
}
const views = Array.from({ length: 50 }, (_, i) => {
  const instant = timeline.seek(middle + i);
  const from = performance.now();
  instantView(instant);
  return performance.now() - from;
});

const snapshot = timeline.snapshotAt(middle);
begun = performance.now();
const restored = process.cpuUsage();
for (let i = 0; i < RESTORES; i++) Exchange.restore(snapshot);
const restoreUsed = process.cpuUsage(restored);
const restoreMs = (performance.now() - begun) / RESTORES;

console.log(
  JSON.stringify(
    {
      commands: last,
      journalMegabytes: Math.round(bytes.length / MEGABYTE),
      firstInstantMs: Math.round(firstMs),
      indexMs: Math.round(indexMs),
      keyframes: timeline.keyframes.count,
      keyframeDistance: timeline.keyframes.distance,
      keyframeMegabytes: Math.round(timeline.keyframes.usedBytes / MEGABYTE),
      seekMs: figures(seeks),
      seekProcessorMs: figures(processorSeeks),
      stepBackMs: figures(back),
      prepareMs: figures(preparations),
      stepForthMs: figures(forth),
      viewMs: figures(views),
      snapshotKilobytes: Math.round(snapshot.length / 1024),
      restoreMs: Math.round(restoreMs * 100) / 100,
      restoreProcessorMs: Math.round((restoreUsed.user + restoreUsed.system) / RESTORES / 10) / 100,
      heapMegabytes: heap,
      wrongHashes: wrong,
    },
    null,
    2,
  ),
);
