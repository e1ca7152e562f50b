/** The liquidation ladder of a command: each step with the figures before it. */
import type { EngineEvent, LiquidationStep } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { LIQUIDATION_STEP_TEXTS } from '../../backtest/explain/explain-liquidation.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import { quanta } from '../../num/units.ts';
import { subaccountName } from './account-names.ts';

export interface LiquidationStepAt {
  readonly event: number;
  readonly timeUs: number;
  readonly subaccount: number;
  readonly owner: string;
  readonly symbol: string | null;
  readonly isolated: boolean;
  readonly step: LiquidationStep['step'];
  /** A sentence on the step. */
  readonly text: string;
  readonly equity: string;
  readonly maintenance: string;
  /** Maintenance less equity; null if equity reaches it. */
  readonly missing: string | null;
  readonly orders: number;
  readonly size: string | null;
  readonly limit: string | null;
  readonly bankruptcy: string | null;
  readonly amount: string | null;
}

export function liquidationsAt(
  view: ExchangeView,
  events: readonly EngineEvent[],
): LiquidationStepAt[] {
  return events.filter((event) => event.kind === 'liquidationStep').map((e) => stepAt(view, e));
}

function stepAt(view: ExchangeView, event: LiquidationStep): LiquidationStepAt {
  const market = event.market === null ? null : view.market(event.market);
  const price = (ticks: number | null): string | null =>
    market === null || ticks === null ? null : priceText(market, ticks);
  const missing = quanta(event.maintenanceQuanta - event.equityQuanta);
  return {
    event: event.index,
    timeUs: event.timeUs,
    subaccount: event.subaccount,
    owner: subaccountName(view, event.subaccount),
    symbol: market?.spec.symbol ?? null,
    isolated: event.isolated,
    step: event.step,
    text: LIQUIDATION_STEP_TEXTS[event.step],
    equity: money(event.equityQuanta),
    maintenance: money(event.maintenanceQuanta),
    missing: missing > 0n ? money(missing) : null,
    orders: event.orders,
    size: market === null || event.lots === 0 ? null : sizeText(market, event.lots),
    limit: price(event.limitTicks),
    bankruptcy: price(event.bankruptcyTicks),
    amount: event.amountQuanta === 0n ? null : money(event.amountQuanta),
  };
}
