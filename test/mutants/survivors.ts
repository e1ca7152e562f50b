/**
 * Reasons for which a mutant survives: the state that would have to be reached, or why it is not
 * observable.
 */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'isolated-loss-touches-cash':
    'observable only if an isolated position in profit sells a part far below the mark, at a loss beyond the margin of that part, and still meets its requirement: 2 of 90,000 commands try it, and both are rejected; test/engine/margin/isolated-margin.test.ts covers it',
  'clearing-debt-forgotten':
    'shows only when a frozen market thaws with a gain after its owner was cleared: random runs of 120,000 commands do not reach it; test/attacks/hostile-debt.test.ts and test/engine/liquidation/restored-debt.test.ts fail with it',
  'clearing-debt-opens':
    'equivalent: at the end of each command positive equity repays the debt, so a debtor has no free collateral to open with; the check is a second line of defence',
  'clearing-debt-leaves':
    'equivalent: at the end of each command positive equity repays the debt, so a debtor has nothing to withdraw; the check is a second line of defence',
  'shortfall-share-rounds-down':
    'shows only in a withdrawal that is charged while a shortfall lasts and does not divide: random runs of 120,000 commands do not reach it; test/engine/liquidation/shortfall-share.test.ts fails with it',
  'exempt-deposits-pay':
    'shows only when a deposit made during a shortfall is withdrawn before it is repaid: random runs of 120,000 commands do not reach it; test/engine/liquidation/shortfall-share.test.ts fails with it',
  'resting-originator-fee-forgotten':
    'shows only where the margin left is less than the fee of an originator on a resting order: random runs of 120,000 commands do not reach it; test/engine/margin/margin-fast-accept.test.ts fails with it',
  'reducing-into-debt':
    'equivalent: with equity that is not negative before the fill, the comparison of ratios refuses the same fills; a unit with negative equity is cleared at the end of the step, before its orders fill',
};
