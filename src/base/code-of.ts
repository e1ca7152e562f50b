/**
 * Place of a word in a list that has it. A plain loop, which the compiler puts where it is called: the first words of a
 * list cost next to nothing.
 */
export function codeOf<T extends string>(words: readonly T[], word: T): number {
  for (let i = 0; i < words.length; i++) if (words[i] === word) return i;
  return -1;
}
