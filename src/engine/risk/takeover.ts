/** The CLS vault takes positions over at the mark, with what equity is left behind them (R-6.2, steps 3 and 4). */
import { notional } from '../../num/notional.ts';
import { lots } from '../../num/units.ts';
import type { State } from '../state.ts';
import { marginFigures } from './margin.ts';
import { initialOf, mustMark } from './requirement.ts';
import { transferPosition } from './position-transfer.ts';
import type { RiskUnit } from './risk-unit.ts';

/** Whether the vault's free collateral stays ≥ 0 when it takes the unit's positions and this equity. */
export function vaultAffords(state: State, unit: RiskUnit, equity: bigint): boolean {
  const { vault } = state;
  const figures = marginFigures(state, vault);
  let free = figures.equity + equity - figures.initial;
  for (const taken of unit.positions()) {
    const market = state.market(taken.market);
    const exposure = vault.exposure(market.id);
    const before = exposure.positionLots;
    const after = before + taken.positionLots;
    free += initialOf(exposure, market, lots(Math.abs(before)));
    free -= initialOf(exposure, market, lots(Math.abs(after)));
    // What the vault holds stays countable in whole lots and Quanta.
    if (!Number.isSafeInteger(after)) return false;
    notional(lots(after), mustMark(market), market.spec.quantaPerTickLot);
  }
  return free >= 0n;
}

/** All positions of the unit, the last one with all its equity ≥ 0. */
export function takeOver(state: State, unit: RiskUnit, equity: bigint): void {
  const positions = unit.positions();
  positions.forEach((position, i) => {
    const money = i === positions.length - 1 ? equity : 0n;
    const to = state.vault.exposure(position.market);
    transferPosition(state, position, to, position.positionLots, money, 'takeover');
  });
}
