/**
 * Sizes of positions, as numbers in units of the base: `market.size(…)` makes text of them. Each
 * size is at least 0, and 0 if the edge or the equity is not positive.
 */

/**
 * Size whose loss at `stop` is a fraction of equity; without a stop, the size whose value is that
 * fraction. Throws `RangeError` for a price or stop that is not positive, or a stop at the price.
 */
export function fixedFraction(input: {
  readonly equity: number;
  /** 0.01: 1 %. */
  readonly fraction: number;
  readonly price: number;
  readonly stop?: number;
  /** Largest value of the position ÷ equity; default: no limit. */
  readonly maxLeverage?: number;
}): number {
  const { equity, fraction, price, stop, maxLeverage } = input;
  mustBePositive('price', price);
  mustBeAtLeast('fraction', fraction, 0);
  if (stop !== undefined) mustBePositive('stop', stop);
  const risk = stop === undefined ? price : Math.abs(price - stop);
  if (risk === 0) throw new RangeError('fixedFraction: the stop is at the price');
  return limited((mustBeNumber('equity', equity) * fraction) / risk, input, maxLeverage);
}

/**
 * Size whose return has a target volatility: equity × target ÷ volatility ÷ price. Both
 * volatilities are of one period, such as a year.
 */
export function volatilityTarget(input: {
  readonly equity: number;
  readonly target: number;
  /** Of the market's returns. 0 has no size, unless `maxLeverage` limits it. */
  readonly volatility: number;
  readonly price: number;
  /** Largest value of the position ÷ equity; default 1. */
  readonly maxLeverage?: number;
}): number {
  const { equity, target, volatility, price, maxLeverage = 1 } = input;
  mustBePositive('price', price);
  mustBeAtLeast('target', target, 0);
  mustBeAtLeast('volatility', volatility, 0);
  mustBeNumber('equity', equity);
  // Without volatility any size has the target, so the limit decides.
  const leverage = target === 0 ? 0 : target / volatility;
  const capped = Math.min(leverage, maxLeverage);
  return limited((equity * capped) / price, input, maxLeverage);
}

/**
 * Fraction of equity to risk by Kelly (1956), from 0 to `cap`. For bets: `winRate − (1 − winRate) ÷
 * payoff`, with payoff = average win ÷ average loss. For returns: `mean ÷ variance`, of one period.
 */
export function kelly(
  input: (
    | { readonly winRate: number; readonly payoff: number }
    | { readonly mean: number; readonly variance: number }
  ) & {
    /** Largest fraction; default 0.25. */
    readonly cap?: number;
    /** Share of the full fraction; default 0.5, which is half Kelly. */
    readonly share?: number;
  },
): number {
  const { cap = 0.25, share = 0.5 } = input;
  mustBeAtLeast('cap', cap, 0);
  mustBeAtLeast('share', share, 0);
  const full = 'winRate' in input ? ofBets(input.winRate, input.payoff) : ofReturns(input);
  return Math.min(cap, Math.max(0, full * share));
}

function ofBets(winRate: number, payoff: number): number {
  mustBePositive('payoff', payoff);
  if (!(winRate >= 0 && winRate <= 1)) {
    throw new RangeError(`winRate ${String(winRate)}: must be from 0 to 1`);
  }
  return winRate - (1 - winRate) / payoff;
}

function ofReturns({ mean, variance }: { readonly mean: number; readonly variance: number }) {
  mustBePositive('variance', variance);
  return mustBeNumber('mean', mean) / variance;
}

function limited(
  size: number,
  { equity, price }: { readonly equity: number; readonly price: number },
  maxLeverage = Infinity,
): number {
  if (!(maxLeverage >= 0)) {
    throw new RangeError(`maxLeverage ${String(maxLeverage)}: must be at least 0`);
  }
  const largest = maxLeverage === Infinity ? Infinity : (equity * maxLeverage) / price;
  return Math.max(0, Math.min(size, largest));
}

function mustBeNumber(name: string, value: number): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new RangeError(`${name} ${String(value)}: must be a finite number`);
}

function mustBePositive(name: string, value: number): void {
  if (!(mustBeNumber(name, value) > 0)) {
    throw new RangeError(`${name} ${String(value)}: must be above 0`);
  }
}

function mustBeAtLeast(name: string, value: number, min: number): void {
  if (mustBeNumber(name, value) < min) {
    throw new RangeError(`${name} ${String(value)}: must be at least ${String(min)}`);
  }
}
