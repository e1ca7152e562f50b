/** Finds sentences of a Markdown document that are longer than the rules of language allow. */

export const MOST_WORDS = 30;

export interface LongSentence {
  /** Of the paragraph's first line, from 1. */
  readonly line: number;
  readonly words: number;
  readonly text: string;
}

/** Paragraphs and list items, without headings, tables, comments, code blocks and link targets. */
function* paragraphsOf(text: string): Generator<{ line: number; text: string }> {
  let open: { line: number; text: string } | null = null;
  let fenced = false;
  for (const [i, row] of text.split('\n').entries()) {
    const isFence = /^\s*```/.test(row);
    if (isFence) fenced = !fenced;
    const isProse = !isFence && !fenced && !/^\s*$|^\s*[|<]|^#/.test(row);
    const begins = /^\s*(?:[-*]|\d+\.)\s/.test(row);
    if (open !== null && (!isProse || begins)) {
      yield open;
      open = null;
    }
    if (!isProse) continue;
    const more = row.replace(/^\s*(?:[-*]|\d+\.)\s/, '').trim();
    open = open === null ? { line: i + 1, text: more } : { ...open, text: `${open.text} ${more}` };
  }
  if (open !== null) yield open;
}

/**
 * Words of prose: code, numbers, identifiers and symbols of a formula are none. A list of names is
 * therefore short.
 */
function wordsOf(sentence: string): number {
  return sentence
    .split(/[\s/–—]+/)
    .filter((token) => /^[("“*[]*\p{L}?\p{Ll}+(?:[-'’]\p{L}+)*[)"”*\].,;:!?]*$/u.test(token))
    .length;
}

/** A sentence ends at `.`, `!` or `?` before a space; the dot of "e.g." and of a number does not. */
export function longSentences(text: string): LongSentence[] {
  return [...paragraphsOf(text)].flatMap(({ line, text: paragraph }) =>
    paragraph
      .replaceAll(/`[^`]*`/g, '`code`')
      .replaceAll(/\]\([^)]*\)/g, ']')
      .split(/(?<=(?<!\b(?:e\.g|i\.e|vs|etc))[.!?][)"”*]*)\s+/)
      .map((sentence) => ({ line, words: wordsOf(sentence), text: sentence }))
      .filter(({ words }) => words > MOST_WORDS),
  );
}
