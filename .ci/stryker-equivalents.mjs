/**
 * Surviving mutants of `npm run stryker` that change no result, by the reason. An entry is the text
 * of the source and of the mutant, and how often the file has it, by default once. An entry that no
 * longer survives is reported, and must go.
 */
const EQUIVALENT = [];

/** Splits the survivors of a file; `stale`: entries of the list without a survivor. */
export function withoutEquivalents(file, survivors, list = EQUIVALENT) {
  const left = list.flatMap(({ mutants }) =>
    (mutants[file] ?? []).map(([from, to, times = 1]) => ({ from, to, times })),
  );
  const equivalent = [];
  const alive = [];
  for (const mutant of survivors) {
    const entry = left.find(
      ({ from, to, times }) => times > 0 && from === mutant.from && to === mutant.to,
    );
    if (entry === undefined) alive.push(mutant);
    else {
      entry.times -= 1;
      equivalent.push(mutant);
    }
  }
  return { equivalent, alive, stale: left.filter(({ times }) => times > 0) };
}
