/**
 * Reasons for which a mutant survives: the state that would have to be reached, or why it is not
 * observable.
 */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'isolated-loss-touches-cash':
    'observable only if an isolated position in profit sells a part far below the mark, at a loss beyond the margin of that part, and still meets its requirement: 2 of 90,000 commands try it, and both are rejected; test/engine/margin/isolated-margin.test.ts covers it',
};
