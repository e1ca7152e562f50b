/** Allocation of a deficit to positions and parties. */
import { atSettlement, maintenanceOf, valueOf } from './margin.ts';
import { abs, max, min, sum } from './numbers.ts';
import { positionOf, type Market, type Sub } from './world.ts';

/** Gain of a lot of a side in this step, from the previous mark to the settlement price. */
function gainOfLot(market: Market, side: bigint): bigint {
  if (market.markBefore === null) return 0n;
  return side * (atSettlement(market, side) - market.markBefore) * market.unit;
}

/** Loss of a position in this step, ≥ 0. */
export function lossOf(sub: Sub, market: Market): bigint {
  const { lots } = positionOf(sub, market.id);
  return max(0n, -abs(lots) * gainOfLot(market, lots > 0n ? 1n : -1n));
}

/** Gain of some lots of a side in this step, ≥ 0. */
export function gainOf(market: Market, side: bigint, lots: bigint): bigint {
  return max(0n, lots * gainOfLot(market, side));
}

/**
 * A deficit by market: by losses of this step, then by maintenance, or by notional if that is 0.
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

/** Bears a part in proportion to `lots`, up to `room()`; `bear` records it. */
export interface Bearer {
  readonly lots: bigint;
  readonly capacity: () => bigint;
  readonly bear: (amount: bigint) => void;
}

/** Spreads an amount by lots over bearers with capacity, in rounds; returns the uncovered rest. */
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
    // All parts rounded to 0: the first ranks pay.
    for (const { capacity, bear } of able) {
      const part = min(capacity(), rest);
      bear(part);
      rest -= part;
    }
  }
}
