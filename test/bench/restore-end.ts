/**
 * Restores of the state at the end of a journal, as in the time machine: with little history. Prints
 * JSON: bytes of the snapshot, and milliseconds of the clock and of the processor, shortest and
 * median of some after a warm-up.
 *
 *     npm run bench:one -- test/bench/restore-end.ts reports/demo/journal.orrery
 */
import { readFileSync } from 'node:fs';
import { Exchange } from '../../src/engine/exchange.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';

raiseInliningLimits();

const [, , path = 'reports/demo/journal.orrery'] = process.argv;
const [WARM_UP, TIMES] = [100, 300];

const timeline = Timeline.open(readFileSync(path));
const { seq } = timeline.index();
const snapshot = timeline.snapshotAt(seq);
const times: { readonly ms: number; readonly processorMs: number }[] = [];
for (let i = 0; i < WARM_UP + TIMES; i++) {
  const begun = performance.now();
  const used = process.cpuUsage();
  Exchange.restore(snapshot);
  const { user, system } = process.cpuUsage(used);
  const took = { ms: performance.now() - begun, processorMs: (user + system) / 1000 };
  if (i >= WARM_UP) times.push(took);
}
if (Exchange.restore(snapshot).chainHash() !== timeline.hashAt(seq)) {
  throw new Error('another state is restored');
}

function figures(of: 'ms' | 'processorMs') {
  const sorted = times.map((time) => time[of]).sort((a, b) => a - b);
  const round = (ms: number | undefined): number => Math.round((ms ?? 0) * 100) / 100;
  return { shortest: round(sorted[0]), median: round(sorted[TIMES >> 1]) };
}

console.log(
  JSON.stringify({
    commands: seq,
    bytes: snapshot.length,
    ms: figures('ms'),
    processorMs: figures('processorMs'),
  }),
);
