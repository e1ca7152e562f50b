/**
 * Latency in three legs (DESIGN §7) and the time a strategy is assumed to think. Every model is one small object; what
 * it assumes is said where it is made. Times are µs. No model lets messages of one direction overtake each other: who
 * delivers them keeps their order, as one connection does.
 */
import type { RandomStream } from './rng.ts';

export interface LatencyModel {
  /** The assumption in words, for a report's first page. */
  readonly words: string;
  /** Between what a strategy hears and what it sends. */
  readonly computeUs: number;
  /**
   * From the exchange's event to the strategy's knowledge of it. `recordedUs` is what the recording says of the
   * update that caused it (receipt less venue time), null when it says nothing.
   */
  feedUs(atUs: number, recordedUs: number | null): number;
  /** From the strategy's request to the exchange. */
  entryUs(atUs: number): number;
  /** From the exchange's answer back to the strategy. */
  responseUs(atUs: number): number;
  /** What it remembers beside its random stream, for a run that goes on later. */
  save?(): number;
  load?(saved: number): void;
}

export interface Legs {
  readonly feedUs: number;
  readonly entryUs: number;
  readonly responseUs: number;
  readonly computeUs: number;
}

/** Each leg always takes as long. Assumes no queueing in the network and none in the strategy. */
export function constantLatency(
  feed: number,
  entry: number,
  response: number,
  compute = 0,
): LatencyModel {
  return {
    words: `constant: ${legsText({ feedUs: feed, entryUs: entry, responseUs: response, computeUs: compute })}`,
    computeUs: compute,
    feedUs: () => feed,
    entryUs: () => entry,
    responseUs: () => response,
  };
}

/** Every leg and the compute time of a model take so many times as long. */
export function slowedLatency(model: LatencyModel, times: number): LatencyModel {
  return {
    words: `${String(times)} times as long as ${model.words}`,
    computeUs: Math.round(model.computeUs * times),
    feedUs: (atUs, recordedUs) => Math.round(model.feedUs(atUs, recordedUs) * times),
    entryUs: (atUs) => Math.round(model.entryUs(atUs) * times),
    responseUs: (atUs) => Math.round(model.responseUs(atUs) * times),
    ...(model.save === undefined ? {} : { save: () => model.save?.() ?? 0 }),
    ...(model.load === undefined ? {} : { load: (saved: number) => model.load?.(saved) }),
  };
}

/** The longest draw, in units of the jitter. */
const JITTER_CAP = 20;

/**
 * Each leg takes its base and, drawn anew each time, jitter × u ÷ (1 − u) for uniform u: half of the draws are above the
 * jitter, one in eleven above ten times it, none above twenty times. Assumes that draws do not depend on each other or on load.
 */
export function jitteredLatency(base: Legs, jitterUs: number, random: RandomStream): LatencyModel {
  const draw = (leg: number): number => {
    const u = random.next();
    return Math.round(leg + jitterUs * Math.min(JITTER_CAP, u / (1 - u)));
  };
  return {
    words: `jittered by ${msText(jitterUs)} (median, long tail): ${legsText(base)}`,
    computeUs: base.computeUs,
    feedUs: () => draw(base.feedUs),
    entryUs: () => draw(base.entryUs),
    responseUs: () => draw(base.responseUs),
  };
}

/** A measured order: when it was sent, and how long its way there and back took. */
export interface LatencyRow {
  readonly atUs: number;
  readonly entryUs: number;
  readonly responseUs: number;
}

/**
 * Entry and response between the measured rows by straight lines, before the first and after the last as there. Assumes that an order sent
 * between two measured ones would have taken what lies between; feed and compute are constant.
 */
export function measuredLatency(
  rows: readonly LatencyRow[],
  feed: number,
  compute: number,
): LatencyModel {
  const between = (atUs: number, leg: (row: LatencyRow) => number): number => {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((rows[middle]?.atUs ?? Infinity) <= atUs) low = middle + 1;
      else high = middle;
    }
    const before = rows[low - 1];
    const after = rows[low];
    if (before === undefined || after === undefined) {
      const only = before ?? after;
      return only === undefined ? 0 : leg(only);
    }
    const share = (atUs - before.atUs) / (after.atUs - before.atUs);
    return Math.round(leg(before) + (leg(after) - leg(before)) * share);
  };
  return {
    words: `measured: entry and response interpolated between ${String(rows.length)} measured orders, feed ${msText(feed)}, compute ${msText(compute)}`,
    computeUs: compute,
    feedUs: () => feed,
    entryUs: (atUs) => between(atUs, (row) => row.entryUs),
    responseUs: (atUs) => between(atUs, (row) => row.responseUs),
  };
}

/**
 * The feed takes what the recording says (receipt less venue time, plus `offsetUs` where the recorder's clock ran
 * behind, never less than `minUs`); entry and response take that of the last update times a factor. Assumes that the way of an order is
 * as loaded as that of the feed, and that the strategy stands where the recorder stood.
 */
export function recordedLatency(options: {
  readonly offsetUs: number;
  readonly minUs: number;
  readonly entryFactor: number;
  readonly responseFactor: number;
  readonly computeUs: number;
}): LatencyModel {
  const { offsetUs, minUs, entryFactor, responseFactor, computeUs } = options;
  let lastUs = minUs;
  return {
    words: `from the recording: receipt less venue time${offsetUs === 0 ? '' : ` plus ${msText(offsetUs)}`}, at least ${msText(minUs)}; entry ${String(entryFactor)} × and response ${String(responseFactor)} × that of the last update; compute ${msText(computeUs)}`,
    computeUs,
    feedUs: (_atUs, recordedUs) => {
      if (recordedUs !== null) lastUs = Math.max(minUs, recordedUs + offsetUs);
      return lastUs;
    },
    entryUs: () => Math.round(lastUs * entryFactor),
    responseUs: () => Math.round(lastUs * responseFactor),
    save: () => lastUs,
    load: (saved) => {
      lastUs = saved;
    },
  };
}

function legsText({ feedUs, entryUs, responseUs, computeUs }: Legs): string {
  return `feed ${msText(feedUs)}, order entry ${msText(entryUs)}, answer ${msText(responseUs)}, compute ${msText(computeUs)}`;
}

function msText(us: number): string {
  return `${String(us / 1000)} ms`;
}
