/** How a deficit is laid on positions and borne. */
import { atSettlement, maintenanceOf, valueOf } from './margin.ts';
import { abs, max, min, sum } from './numbers.ts';
import { positionOf, type Market, type Sub } from './world.ts';

/** What a lot of a side gained in this step, from the mark before to the settlement price. */
function gainOfLot(market: Market, side: bigint): bigint {
  if (market.markBefore === null) return 0n;
  return side * (atSettlement(market, side) - market.markBefore) * market.unit;
}

/** What a position lost in this step, ≥ 0. */
export function lossOf(sub: Sub, market: Market): bigint {
  const { lots } = positionOf(sub, market.id);
  return max(0n, -abs(lots) * gainOfLot(market, lots > 0n ? 1n : -1n));
}

/** What a party of some lots of a side gained in this step, ≥ 0. */
export function gainOf(market: Market, side: bigint, lots: bigint): bigint {
  return max(0n, lots * gainOfLot(market, side));
}

/**
 * A deficit on positions, by market: by what each lost in this step, up to that loss; what is beyond by maintenance requirement, or by notional
 * where there is none.
 */
export function layDeficit(sub: Sub, markets: readonly Market[], deficit: bigint): bigint[] {
  const losses = markets.map((market) => lossOf(sub, market));
  const lost = sum(losses);
  if (deficit <= lost) {
    const parts = losses.map((loss) => (lost === 0n ? 0n : (deficit * loss) / lost));
    let rest = deficit - sum(parts);
    return parts.map((part, i) => {
      const more = min(rest, (losses[i] ?? 0n) - part);
      rest -= more;
      return part + more;
    });
  }
  const maintenance = markets.map((market) => maintenanceOf(sub, market));
  const weights =
    sum(maintenance) > 0n
      ? maintenance
      : markets.map((market) => valueOf(market, abs(positionOf(sub, market.id).lots)));
  const beyond = deficit - lost;
  const total = max(1n, sum(weights));
  const parts = weights.map((weight, i) => (losses[i] ?? 0n) + (beyond * weight) / total);
  const rest = deficit - sum(parts);
  return parts.map((part, i) => (i === 0 ? part + rest : part));
}

/** One who bears a part: by `lots`, up to `room()`; `bear` notes it. */
export interface Bearer {
  readonly lots: bigint;
  readonly capacity: () => bigint;
  readonly bear: (amount: bigint) => void;
}

/** Spreads an amount by lots over those who have room, in rounds; answers what nobody could bear. */
export function spread(amount: bigint, bearers: readonly Bearer[]): bigint {
  let rest = amount;
  for (;;) {
    const able = bearers.filter(({ capacity }) => capacity() > 0n);
    if (rest === 0n || able.length === 0) return rest;
    const total = sum(able.map(({ lots }) => lots));
    const round = rest;
    for (const { lots, capacity, bear } of able) {
      const part = min(capacity(), (round * lots) / total);
      bear(part);
      rest -= part;
    }
    if (rest < round) continue;
    // Every part rounded to 0: the first ranks pay.
    for (const { capacity, bear } of able) {
      const part = min(capacity(), rest);
      bear(part);
      rest -= part;
    }
  }
}
