/**
 * Queue models: the share of a decrease without a trade that was ahead of the order.
 *
 * - `riskAverse`: none, while there is volume behind the order.
 * - `probPowerN`: a cancel is behind with probability b^N / (a^N + b^N), a and b the volume ahead
 *   and behind.
 * - `probLog`: the same with ln(1 + x) of the shares x = a/(a+b) and b/(a+b).
 *
 * (Models and formulas: hftbacktest, `models/queue.rs`.) Probabilities are whole 1e-9 from a table
 * over a/(a+b) in steps of 1/4096, so the engine computes no power and no logarithm. Removed lots
 * are floored and the fraction is carried to the order's next decrease. The model is deterministic.
 */
import { assert } from '../../base/assert.ts';
import type { QueueModel } from '../config.ts';
import { LOG_AHEAD_PPB } from './log-table.ts';

export const QUEUE_STEPS = 4096;
const PPB = 1_000_000_000;

/** Probability in 1e-9, rounded down, that a cancelled lot was ahead, by step of a/(a+b). */
function powerTable(exponent: number): Float64Array {
  const table = new Float64Array(QUEUE_STEPS + 1);
  for (let step = 0; step <= QUEUE_STEPS; step++) {
    const ahead = power(step, exponent);
    const behind = power(QUEUE_STEPS - step, exponent);
    table[step] = Number((ahead * BigInt(PPB)) / (ahead + behind));
  }
  return table;
}

function power(base: number, exponent: number): bigint {
  let result = 1n;
  for (let i = 0; i < exponent; i++) result *= BigInt(base);
  return result;
}

const EXPONENTS = { probPower1: 1, probPower2: 2, probPower3: 3 } as const;
const powerTables = new Map<keyof typeof EXPONENTS, Float64Array>();

/** Made at its first use: 4097 quotients of bigints take some milliseconds. */
function tableOf(model: Exclude<QueueModel, 'riskAverse'>): ArrayLike<number> {
  if (model === 'probLog') return LOG_AHEAD_PPB;
  let table = powerTables.get(model);
  if (table === undefined) {
    table = powerTable(EXPONENTS[model]);
    powerTables.set(model, table);
  }
  return table;
}

/** Lots taken from ahead, and the carried fraction, in 1e-9 lots. */
export interface QueueSplit {
  readonly ahead: number;
  readonly carryPpb: number;
}

/**
 * Splits a decrease of `amount` ≤ ahead + behind lots. `carryPpb` is the order's previous fraction.
 */
export function splitDecrease(
  model: QueueModel,
  ahead: number,
  behind: number,
  amount: number,
  carryPpb: number,
): QueueSplit {
  assert(amount <= ahead + behind, 'a decrease is at most the volume');
  const minAhead = Math.max(0, amount - behind);
  if (model === 'riskAverse') return { ahead: minAhead, carryPpb };
  const step = Number((BigInt(ahead) * BigInt(QUEUE_STEPS)) / BigInt(ahead + behind));
  const exact = BigInt(amount) * BigInt(tableOf(model)[step] ?? 0) + BigInt(carryPpb);
  const whole = Number(exact / BigInt(PPB));
  return {
    ahead: Math.min(ahead, Math.max(minAhead, whole)),
    carryPpb: Number(exact % BigInt(PPB)),
  };
}
