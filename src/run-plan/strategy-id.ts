/** Ids of the strategies of a run. */

/** The name without a file ending; a repeated name gets a number: `quotes`, `quotes-2`. */
export function uniqueId(name: string, taken: readonly { readonly id: string }[]): string {
  const base = name.replace(/\.[cm]?[jt]s$/, '');
  for (let i = 1; ; i++) {
    const id = i === 1 ? base : `${base}-${String(i)}`;
    if (!taken.some((planned) => planned.id === id)) return id;
  }
}
