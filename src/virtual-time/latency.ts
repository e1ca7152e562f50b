/**
 * Latency in three legs and the compute time of a strategy. Every model is one small
 * object whose factory documents its assumption. Times are µs. Messages of one direction never
 * overtake each other: the sender keeps their order, as one connection does.
 */
import type { RandomStream } from './rng.ts';

export interface LatencyModel {
  /** The assumption as text, for a report's first page. */
  readonly words: string;
  /** Time between a strategy's receipt of a message and its reaction. */
  readonly computeUs: number;
  /** Min of `feedUs`, if it is known; a replay over HTTP needs fewer turns then. */
  readonly minFeedUs?: number;
  /**
   * From event to strategy. `recordedUs`: recorded receipt less venue time of its update, or null.
   */
  feedUs(atUs: number, recordedUs: number | null): number;
  /** From the strategy's request to the exchange. */
  entryUs(atUs: number): number;
  /** From the exchange's response back to the strategy. */
  responseUs(atUs: number): number;
  /** State besides its random stream, for a resumed run. */
  save?(): number;
  load?(saved: number): void;
}

export interface Legs {
  readonly feedUs: number;
  readonly entryUs: number;
  readonly responseUs: number;
  readonly computeUs: number;
}

/** Constant legs. Assumes no queueing in the network or in the strategy. */
export function constantLatency(
  feed: number,
  entry: number,
  response: number,
  compute = 0,
): LatencyModel {
  return {
    words: `constant: ${legsText({ feedUs: feed, entryUs: entry, responseUs: response, computeUs: compute })}`,
    computeUs: compute,
    minFeedUs: feed,
    feedUs: () => feed,
    entryUs: () => entry,
    responseUs: () => response,
  };
}

/** A model with every leg and the compute time multiplied by `times`. */
export function slowedLatency(model: LatencyModel, times: number): LatencyModel {
  return {
    words: `all delays × ${String(times)}: ${model.words}`,
    computeUs: Math.round(model.computeUs * times),
    feedUs: (atUs, recordedUs) => Math.round(model.feedUs(atUs, recordedUs) * times),
    entryUs: (atUs) => Math.round(model.entryUs(atUs) * times),
    responseUs: (atUs) => Math.round(model.responseUs(atUs) * times),
    ...(model.save === undefined ? {} : { save: () => model.save?.() ?? 0 }),
    ...(model.load === undefined ? {} : { load: (saved: number) => model.load?.(saved) }),
  };
}

/** Max draw, in units of the jitter. */
const JITTER_CAP = 20;

/**
 * Each leg takes its base plus a fresh draw jitter × u ÷ (1 − u) for uniform u: half of the draws
 * exceed the jitter, one in eleven exceeds ten times it, none exceeds twenty times. Assumes that
 * draws are independent of each other and of load. Messages keep their order, so a feed with
 * messages closer than its jitter is as late as its slowest recent draw.
 */
export function jitteredLatency(base: Legs, jitterUs: number, random: RandomStream): LatencyModel {
  const draw = (leg: number): number => {
    const u = random.next();
    return Math.round(leg + jitterUs * Math.min(JITTER_CAP, u / (1 - u)));
  };
  return {
    words: `jittered by ${msText(jitterUs)} (median of a draw, long tail; a message waits for those before it): ${legsText(base)}`,
    computeUs: base.computeUs,
    feedUs: () => draw(base.feedUs),
    entryUs: () => draw(base.entryUs),
    responseUs: () => draw(base.responseUs),
  };
}

/** A measured order: its send time, and the duration of its round trip. */
export interface LatencyRow {
  readonly atUs: number;
  readonly entryUs: number;
  readonly responseUs: number;
}

/**
 * Assumes linearly interpolated legs between rows: entry by the time of sending, response by that
 * of arrival. So an order sent at the time of a row is answered at that of the row. Feed and
 * compute are constant.
 */
export function measuredLatency(
  rows: readonly LatencyRow[],
  feed: number,
  compute: number,
): LatencyModel {
  const entryUs = interpolated(rows.map((row) => ({ atUs: row.atUs, legUs: row.entryUs })));
  const arrivals = rows.map((row) => ({ atUs: row.atUs + row.entryUs, legUs: row.responseUs }));
  const responseUs = interpolated(arrivals.sort((a, b) => a.atUs - b.atUs));
  return {
    words: `measured: entry and response interpolated between ${String(rows.length)} measured orders, feed ${msText(feed)}, compute ${msText(compute)}`,
    computeUs: compute,
    minFeedUs: feed,
    feedUs: () => feed,
    entryUs,
    responseUs,
  };
}

/** Linear between points in order of time, constant beyond them. */
function interpolated(
  points: readonly { readonly atUs: number; readonly legUs: number }[],
): (atUs: number) => number {
  return (atUs) => {
    let low = 0;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((points[middle]?.atUs ?? Infinity) <= atUs) low = middle + 1;
      else high = middle;
    }
    const before = points[low - 1];
    const after = points[low];
    if (before === undefined || after === undefined) return (before ?? after)?.legUs ?? 0;
    const share = (atUs - before.atUs) / (after.atUs - before.atUs);
    return Math.round(before.legUs + (after.legUs - before.legUs) * share);
  };
}

/**
 * The feed takes its time from the recording (receipt less venue time, plus `offsetUs` for a slow
 * recorder clock, at least `minUs`). Entry and response take that of the last update times a
 * factor. Assumes equal load on both directions, and a strategy at the recorder's location.
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
  return `feed ${msText(feedUs)}, order entry ${msText(entryUs)}, response ${msText(responseUs)}, compute ${msText(computeUs)}`;
}

function msText(us: number): string {
  return `${String(us / 1000)} ms`;
}
