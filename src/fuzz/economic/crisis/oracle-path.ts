/**
 * Index prices of one market of a crisis world, tick by tick. A path can stay constant, drift, jump
 * by up to 50 %, and have an outage of some minutes, after which the price may jump. A coalition
 * sees published prices only and controls none.
 */
import type { Dice } from '../../dice.ts';

/** One oracle price per tick; null during an outage. */
export type OraclePath = readonly (number | null)[];

/** Number of ticks in a play, and their duration. */
export const TICKS = 26;
export const TICK_US = 20_000_000;

export type PathShape = 'still' | 'drift' | 'gap' | 'silent' | 'silentGap';
const GAPS_PPM = [12_500, 25_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000];

export function drawPath(dice: Dice, shape: PathShape, startTicks: number): OraclePath {
  const side = dice.chance(500) ? 1 : -1;
  const gapAt = dice.between(6, 20);
  const silentFrom = dice.between(3, 9);
  const silentTo = silentFrom + dice.between(5, 11);
  const gapPpm = dice.pick(GAPS_PPM) * (dice.chance(500) ? 1 : -1);
  const stepPpm = dice.pick([1000, 2500, 5000, 9000, 13_000]);
  const driftFrom = dice.between(2, 12);
  const prices: (number | null)[] = [];
  let price = startTicks;
  for (let tick = 0; tick < TICKS; tick++) {
    const isSilent = shape.startsWith('silent') && tick >= silentFrom && tick < silentTo;
    if (isSilent) {
      prices.push(null);
      continue;
    }
    if (shape === 'drift' && tick >= driftFrom && tick < driftFrom + 12) {
      price = moved(price, side * stepPpm);
    }
    const jumps = shape === 'gap' ? tick === gapAt : shape === 'silentGap' && tick === silentTo;
    if (jumps) price = moved(price, gapPpm);
    prices.push(price);
  }
  return prices;
}

function moved(price: number, byPpm: number): number {
  return Math.max(1000, price + Math.trunc((price * byPpm) / 1_000_000));
}

/** Next tick with a price jump, a freeze or a thaw; undefined if none. All are public. */
export function nextEventTick(
  paths: readonly OraclePath[],
  from: number,
  what: 'jump' | 'freeze' | 'thaw',
): number | undefined {
  for (let tick = from; tick < TICKS; tick++) {
    if (paths.some((path) => happens(path, tick, what))) return tick;
  }
  return undefined;
}

function happens(path: OraclePath, tick: number, what: 'jump' | 'freeze' | 'thaw'): boolean {
  const price = path[tick];
  const before = path[tick - 1];
  switch (what) {
    case 'jump':
      return typeof price === 'number' && typeof before === 'number' && isJump(before, price);
    case 'freeze':
      // An outage of more than 60 s: the fourth tick without a price.
      return [0, 1, 2, 3].every((back) => path[tick - back] === null) && path[tick - 4] !== null;
    default:
      return typeof price === 'number' && before === null;
  }
}

function isJump(before: number, price: number): boolean {
  return Math.abs(price - before) * 50 > before;
}
