/** Index of a literal in its list; a loop that V8 inlines. The first literals are cheapest. */
export function codeOf<T extends string>(literals: readonly T[], literal: T): number {
  for (let i = 0; i < literals.length; i++) if (literals[i] === literal) return i;
  return -1;
}

/** The code of each literal by name: a constant name needs no search. */
export function codesOf<T extends string>(literals: readonly T[]): Readonly<Record<T, number>> {
  const codes = literals.map((literal, code) => [literal, code] as const);
  return Object.fromEntries(codes) as Record<T, number>;
}
