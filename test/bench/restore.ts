/**
 * Snapshot and restore of an exchange with 500,000 live orders of 5,000 subaccounts. Prints JSON:
 * bytes, and milliseconds of the clock and of the processor, shortest of some.
 *
 *     node --import tsx test/bench/restore.ts [orders of a subaccount]
 */
import { Exchange } from '../../src/engine/exchange.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { restingOrder, RESTING_SUBACCOUNTS } from './resting-orders.ts';
import { openExchange } from './engine-flow.ts';

raiseInliningLimits();

const EACH = Number(process.argv[2] ?? 100);
const TIMES = 7;

const exchange = openExchange(RESTING_SUBACCOUNTS);
const orders = EACH * RESTING_SUBACCOUNTS;
for (let i = 0; i < orders; i++) {
  const outcome = exchange.apply(restingOrder(i));
  if (outcome !== 'ok') throw new Error(outcome.code);
}

/** Shortest times of a task; its last result. */
function shortest<T>(task: () => T): { readonly ms: number; readonly processorMs: number; of: T } {
  let [ms, processorMs] = [Infinity, Infinity];
  let of = task();
  for (let i = 0; i < TIMES; i++) {
    const begun = performance.now();
    const used = process.cpuUsage();
    of = task();
    const { user, system } = process.cpuUsage(used);
    ms = Math.min(ms, Math.round(performance.now() - begun));
    processorMs = Math.min(processorMs, Math.round((user + system) / 1000));
  }
  return { ms, processorMs, of };
}

const { of: bytes, ...snapshot } = shortest(() => exchange.snapshot());
const { of: restored, ...restore } = shortest(() => Exchange.restore(bytes));
if (restored.stateHash() !== exchange.stateHash()) throw new Error('another state is restored');
process.stdout.write(JSON.stringify({ orders, bytes: bytes.length, snapshot, restore }));
