/** Why a mutant lives on, for those that do: what would have to be reached, or why nobody could tell. */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'isolated-loss-touches-cash':
    'shows only when an isolated position in profit sells a part far below the mark, at a loss beyond the margin of that part, and yet keeps its requirement: 2 of 90,000 commands try it, and none may; test/engine/margin/isolated-margin.test.ts tells it',
};
