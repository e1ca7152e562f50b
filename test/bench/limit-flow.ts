/**
 * The limits of `limits.ts` on the whole engine.
 *
 *     npm run bench:one -- test/bench/limit-flow.ts
 *
 * Prints commands a second of processor time, without and with a sink, and bytes allocated a
 * command, as JSON. The bytes are those of V8's sampling heap profiler, with collected objects.
 * Each figure has a process of its own, since V8 compiles the engine for the sinks that it has met.
 * No collection is forced between rounds: it would drop compiled code with the shapes of objects.
 */
import { spawnSync } from 'node:child_process';
import { Session, type HeapProfiler } from 'node:inspector';
import type { PlaceOrder } from '../../src/engine/commands.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import type { Exchange } from '../../src/engine/exchange.ts';
import { raiseLongRunLimits } from './long-run-limits.ts';
import { limitsFrom, openLimits, ORDERS, playLimits, TRADED_LOTS, TRADES } from './limits.ts';

raiseLongRunLimits();

const WARMING = 3;
const ROUNDS = 3;
/** Commands created at a time. */
const BLOCK = 1000;
/** Commands before those whose allocation is measured, and their number. */
const SETTLING = 300_000;

/** Commands a second. */
const round = (sink?: (event: EngineEvent) => void): number => ORDERS / playLimits(sink);

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

/** Orders a second: the median of the rounds after the warming ones. */
function rateOf(sink?: (event: EngineEvent) => void): number {
  const rates = Array.from({ length: WARMING + ROUNDS }, () => round(sink));
  return median(rates.slice(WARMING));
}

let indexes = 0;
const PARTS: Readonly<Record<string, () => number>> = {
  alone: () => rateOf(),
  withSink: () => rateOf(({ index }) => (indexes += index)),
  bytesEach: allocatedEach,
};

/** A figure by a process of its own. */
function apart(part: string): number {
  const args = [...process.execArgv, process.argv[1] ?? '', part];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${part} failed`);
  return Number(stdout);
}

const part = PARTS[process.argv[2] ?? ''];
if (part !== undefined) {
  console.log(part());
  if (process.argv[2] === 'withSink' && indexes === 0) throw new Error('no event was delivered');
} else {
  checkWork();
  const [perSecond, withSink] = [apart('alone'), apart('withSink')];
  console.log(
    JSON.stringify({
      perSecond: Math.round(perSecond),
      withSink: Math.round(withSink),
      sinkRatio: perSecond / withSink,
      bytesEach: Math.round(apart('bytesEach')),
    }),
  );
}
