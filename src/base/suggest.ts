/** `; did you mean "x"?` for a word close to a known one; else empty. For error messages. */
export function suggest(word: string, known: Iterable<string>): string {
  const best = nearest(word, known, Math.min(3, 1 + Math.floor(word.length / 3)));
  return best === null ? '' : `; did you mean "${best}"?`;
}

/** The known word that differs least from this one, in at most `most` letters; else null. */
export function nearest(word: string, known: Iterable<string>, most: number): string | null {
  let best: string | null = null;
  let bestDistance = most + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

/** Edit distance from a to b; returns a value ≥ `limit` if it is at least `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replace, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    above = row;
  }
  return above[b.length] ?? limit;
}
