import { parseDecimal, stepsExact } from '../num/decimal.ts';
import { COLLATERAL_DECIMALS, quanta, type Quanta } from '../num/units.ts';
import { StrategyError } from '../strategy/definition.ts';

/** Start balance of an account from decimal text. Throws `StrategyError`. */
export function parseBalance(text: string): Quanta {
  const value = parseDecimal(text);
  const whole =
    value === null ? null : stepsExact(value, { digits: 1n, scale: COLLATERAL_DECIMALS });
  if (whole === null || whole <= 0n) {
    throw new StrategyError(
      `--balance '${text}': must be a positive amount with at most ${String(COLLATERAL_DECIMALS)} decimals`,
    );
  }
  return quanta(whole);
}
