/**
 * Converts decimal text of a scenario to units of the exchange. A fault is appended to `problems`
 * and null is returned.
 */
import type { MarketSpec } from '../engine/config.ts';
import { stepOf } from '../gateway/encode.ts';
import { parseDecimal, stepsExact, stepsHalfUp } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  lots,
  MAX_QUANTA,
  ppb,
  priceTicks,
  quanta,
  type Lots,
  type Ppb,
  type PriceTicks,
  type Quanta,
} from '../num/units.ts';
import { fieldOf } from './node-fields.ts';
import { childPath, type MapNode, type Problem, type ScalarNode } from './source-node.ts';

const RATE_DECIMALS = 9;
const MAX_RATE = 1_000_000_000n;

/** A positive amount of collateral; null without a problem if the key is absent. */
export function parseMoney(
  map: MapNode | null,
  key: string,
  path: string,
  problems: Problem[],
): Quanta | null {
  const node = fieldOf(map, key);
  const value = node?.kind === 'scalar' ? parseDecimal(node.text) : null;
  if (node === null || value === null) return null;
  const amount = stepsExact(value, { digits: 1n, scale: COLLATERAL_DECIMALS });
  const refuse = (message: string): null => {
    problems.push({ place: node.place, path: childPath(path, key), message });
    return null;
  };
  if (amount === null) return refuse(`has more than ${String(COLLATERAL_DECIMALS)} decimals`);
  if (amount <= 0n) return refuse('must be more than 0');
  return amount < MAX_QUANTA ? quanta(amount) : refuse('exceeds the max amount of the exchange');
}

/** A price on the market's tick; rounded half up if `rounded`. */
export function parsePrice(
  node: ScalarNode,
  spec: MarketSpec,
  rounded: boolean,
  path: string,
  problems: Problem[],
): PriceTicks | null {
  const price = parseDecimal(node.text);
  if (price === null) return null;
  const tick = stepOf(spec.tickSize);
  const ticks = rounded ? stepsHalfUp(price, tick) : stepsExact(price, tick);
  const refuse = (message: string): null => {
    problems.push({ place: node.place, path, message });
    return null;
  };
  if (ticks === null) return refuse(`${node.text} is not on the tick of ${spec.tickSize}`);
  if (ticks <= 0n) return refuse(`${node.text} is below one tick of ${spec.tickSize}`);
  if (ticks > BigInt(spec.maxPriceTicks)) return refuse(`${node.text} is above the max price`);
  return priceTicks(Number(ticks));
}

/** A funding rate in whole 1e-9, between −1 and 1. */
export function parseRate(node: ScalarNode, path: string, problems: Problem[]): Ppb | null {
  const rate = parseDecimal(node.text);
  if (rate === null) return null;
  const whole = stepsExact(rate, { digits: 1n, scale: RATE_DECIMALS });
  if (whole === null || whole > MAX_RATE || whole < -MAX_RATE) {
    const message = `must be from -1 to 1 with at most ${String(RATE_DECIMALS)} decimals`;
    problems.push({ place: node.place, path, message });
    return null;
  }
  return ppb(Number(whole));
}

/** A signed size in whole lots. */
export function parseSize(
  node: ScalarNode,
  spec: MarketSpec,
  path: string,
  problems: Problem[],
): Lots | null {
  const size = parseDecimal(node.text);
  if (size === null) return null;
  const count = stepsExact(size, stepOf(spec.lotSize));
  if (count === null || count > MAX_LOTS || count < -MAX_LOTS) {
    const message =
      count === null
        ? `${node.text} is not a whole number of lots of ${spec.lotSize}`
        : `${node.text} exceeds the max lots of a market`;
    problems.push({ place: node.place, path, message });
    return null;
  }
  return lots(Number(count));
}

const MAX_LOTS = BigInt(Number.MAX_SAFE_INTEGER);
