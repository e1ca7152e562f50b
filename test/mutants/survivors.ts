/**
 * Reasons for which a mutant survives: the state that would have to be reached, or why it is not
 * observable.
 */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'charge-beyond-equity':
    'a safe counterparty had positive equity before the step, so what the step won for it is within its equity: only one that opened its position in the step, or is itself below zero, is bounded by equity; test/engine/liquidation/clearing-plan.test.ts fails with it',
  'deficit-by-market-order':
    'equivalent in the exchange: a step moves the mark of one market, since marks due at one instant have a step each, so all losses of the step are in one market; test/engine/liquidation/clearing-plan.test.ts fails with it',
  'deficit-stays-in-its-market':
    'equivalent in the exchange: a step moves the mark of one market, so no other market has a loss of the step that could bear the rest; test/engine/liquidation/clearing-plan.test.ts fails with it',
  'sum-beyond-doubles':
    'shows only when the sum of two amounts below 2^53 Quanta is above it and odd: random runs of 400,000 commands do not reach it; test/num/money.test.ts fails with it',
  'margin-sum-keeps-old-terms':
    'shows only when the maker fee rises while an order rests whose owner has just enough margin: random runs of 120,000 commands do not reach it, those of 400,000 do',
  'reducing-into-debt':
    'equivalent: with equity that is not negative before the fill, the comparison of ratios refuses the same fills; a unit with negative equity is cleared at the end of the step, before its orders fill',
};
