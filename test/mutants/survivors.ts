/** Why a mutant lives on, for those that do: what would have to be reached, or why nobody could tell. */
export const SURVIVORS: Readonly<Record<string, string>> = {};
