/**
 * Index of a literal in its list; a loop that V8 inlines. The first literals of a list are
 * cheapest.
 */
export function codeOf<T extends string>(words: readonly T[], word: T): number {
  for (let i = 0; i < words.length; i++) if (words[i] === word) return i;
  return -1;
}
