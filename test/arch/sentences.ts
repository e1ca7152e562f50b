/** Finds sentences of a Markdown document that are longer than the rules of language allow. */

export const MOST_WORDS = 30;

export interface LongSentence {
  /** Of the paragraph's first line, from 1. */
  readonly line: number;
  readonly words: number;
  readonly text: string;
}

interface Paragraph {
  readonly line: number;
  text: string;
}

/** Paragraphs and list items, without headings, tables, comments, code blocks and link targets. */
function paragraphsOf(text: string): Paragraph[] {
  const found: Paragraph[] = [];
  let fenced = false;
  let isOpen = false;
  for (const [i, row] of text.split('\n').entries()) {
    const isFence = /^\s*```/.test(row);
    if (isFence) fenced = !fenced;
    const isProse = !isFence && !fenced && !/^\s*$|^\s*[|<]|^#/.test(row);
    const begins = /^\s*(?:[-*]|\d+\.)\s/.test(row);
    const more = row.replace(/^\s*(?:[-*]|\d+\.)\s/, '').trim();
    const last = found.at(-1);
    if (isProse && isOpen && !begins && last !== undefined) last.text += ` ${more}`;
    else if (isProse) found.push({ line: i + 1, text: more });
    isOpen = isProse;
  }
  return found;
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
  return paragraphsOf(text).flatMap(({ line, text: paragraph }) =>
    paragraph
      .replaceAll(/`[^`]*`/g, '`code`')
      .replaceAll(/\]\([^)]*\)/g, ']')
      .split(/(?<=(?<!\b(?:e\.g|i\.e|vs|etc))[.!?][)"”*]*)\s+/)
      .map((sentence) => ({ line, words: wordsOf(sentence), text: sentence }))
      .filter(({ words }) => words > MOST_WORDS),
  );
}
