/**
 * Surviving mutants of `npm run stryker` that change no result, by the reason. An entry is the text
 * of the source, and of the mutant. One that no longer survives is reported, and must go.
 */
const EQUIVALENT = [];

/** Splits the survivors of a file; `stale`: entries of the list without a survivor. */
export function withoutEquivalents(file, survivors, list = EQUIVALENT) {
  const known = list
    .flatMap(({ mutants }) => mutants[file] ?? [])
    .map(([from, to]) => ({ from, to }));
  const is = (entry) => (mutant) => mutant.from === entry.from && mutant.to === entry.to;
  return {
    equivalent: survivors.filter((mutant) => known.some((entry) => is(entry)(mutant))),
    alive: survivors.filter((mutant) => !known.some((entry) => is(entry)(mutant))),
    stale: known.filter((entry) => !survivors.some(is(entry))),
  };
}
