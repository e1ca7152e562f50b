/** Fields and first state of each type of order (§2 to §4), from the rules. */
import type { OrderType } from '../engine/commands.ts';

interface TypeRules {
  /** Starts pending: always, from the second slice on, or never. */
  readonly pends: 'never' | 'later slices' | 'always';
  /** Fields that the type needs; a trailing stop may also have a trigger. */
  readonly needs: 'nothing' | 'period' | 'trailing' | 'trigger';
  /** A take-profit or stop-loss: may protect a position or an order. */
  readonly protects?: true;
  /** Never `ioc`. */
  readonly rests?: true;
  /** D-21: status of an unfilled `ioc` remainder; default `cancelled`. */
  readonly leaves?: 'expired';
}

export const TYPES: Readonly<Record<OrderType, TypeRules>> = {
  limit: { pends: 'never', needs: 'nothing' },
  twap: { pends: 'later slices', needs: 'period', leaves: 'expired' },
  takeProfit: { pends: 'always', needs: 'trigger', protects: true },
  stopLoss: { pends: 'always', needs: 'trigger', protects: true },
  trailingStop: { pends: 'always', needs: 'trailing' },
  iceberg: { pends: 'later slices', needs: 'nothing', rests: true },
};

export const isProtective = ({ orderType }: { readonly orderType: OrderType }): boolean =>
  TYPES[orderType].protects === true;

/** Slices of one order come in groups of their own. */
export const isSlice = ({ orderType }: { readonly orderType: OrderType }): boolean =>
  TYPES[orderType].pends === 'later slices';
