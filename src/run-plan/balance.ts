import { money } from '../gateway/encode.ts';
import { parseDecimal, stepsExact } from '../num/decimal.ts';
import { COLLATERAL_DECIMALS, MAX_QUANTA, quanta, type Quanta } from '../num/units.ts';
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

/** Throws `StrategyError` if the exchange cannot hold the start balances of all accounts. */
export function mustHold(deposits: readonly Quanta[]): void {
  if (deposits.reduce((sum, deposit) => sum + deposit, 0n) <= MAX_QUANTA) return;
  throw new StrategyError(
    `--balance: all start balances together are at most ${money(quanta(MAX_QUANTA))}`,
  );
}
