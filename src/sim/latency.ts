/**
 * Latency in three legs (DESIGN §7), and the time a strategy is assumed to think. This model is constant: each leg
 * always takes as long. It assumes no queueing in the network and none in the strategy.
 */
import { durationUs, type DurationUs } from '../num/units.ts';

export interface LatencyModel {
  /** From the exchange's event to the strategy's knowledge of it. */
  readonly feedUs: DurationUs;
  /** From the strategy's request to the exchange. */
  readonly entryUs: DurationUs;
  /** From the exchange's answer back to the strategy. */
  readonly responseUs: DurationUs;
  /** From what the strategy hears to what it sends. */
  readonly computeUs: DurationUs;
}

export function constantLatency(
  feed: number,
  entry: number,
  response: number,
  compute = 0,
): LatencyModel {
  return {
    feedUs: durationUs(feed),
    entryUs: durationUs(entry),
    responseUs: durationUs(response),
    computeUs: durationUs(compute),
  };
}
