/** Index of a literal in its list; a loop that V8 inlines. The first literals are cheapest. */
export function codeOf<T extends string>(literals: readonly T[], literal: T): number {
  for (let i = 0; i < literals.length; i++) if (literals[i] === literal) return i;
  return -1;
}
