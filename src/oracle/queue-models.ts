/**
 * Queue models: the part of a decrease ahead of an order. Probabilities are 1e-9,
 * rounded down, by steps of 1/4096. Removed lots are floored; the fraction is carried.
 */
import { Decimal } from 'decimal.js';
import type { QueueModel } from '../engine/config.ts';
import { max, min } from './numbers.ts';
import type { Market } from './world.ts';

const STEPS = 4096n;
const BILLION = 1_000_000_000n;
const Precise = Decimal.clone({ precision: 40 });

/** A cancelled lot was ahead with probability f(ahead) ÷ (f(ahead) + f(behind)). */
function probability(model: Exclude<QueueModel, 'riskAverse'>, step: bigint): bigint {
  const ahead = new Precise(step).div(STEPS.toString());
  const behind = new Precise(1).minus(ahead);
  const weight = (share: Decimal): Decimal => {
    switch (model) {
      case 'probPower1':
        return share;
      case 'probPower2':
        return share.pow(2);
      case 'probPower3':
        return share.pow(3);
      case 'probLog':
        return share.plus(1).ln();
    }
  };
  const [a, b] = [weight(ahead), weight(behind)];
  return BigInt(a.div(a.plus(b)).times(BILLION.toString()).floor().toFixed());
}

/** The part of `amount` lots that left ahead of an order, by volume ahead and behind. */
export function aheadOf(
  market: Market,
  order: number,
  ahead: bigint,
  behind: bigint,
  amount: bigint,
): bigint {
  const minAhead = max(0n, amount - behind);
  const { queueModel } = market.spec;
  if (queueModel === 'riskAverse') return minAhead;
  const chance = probability(queueModel, (ahead * STEPS) / (ahead + behind));
  const exact = amount * chance + (market.carried[order] ?? 0n);
  market.carried[order] = exact % BILLION;
  return min(ahead, max(minAhead, exact / BILLION));
}
