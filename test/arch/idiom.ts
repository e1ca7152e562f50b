/**
 * Finds non-standard terms: words without a technical meaning, and identifiers that the rename
 * table replaces.
 */

const WORDS = [
  ...['hear', 'hears', 'heard', 'tell', 'tells', 'told', 'said', 'nobody', 'anybody', 'somebody'],
  ...['everybody', 'anew', 'dear', 'dearer', 'doubt', 'doubts', 'unsure', 'untold', 'unbegun'],
  ...['held against', 'holds against', 'hold against', 'looked at', 'looks at', 'look at'],
  ...['in silence', 'without a word', 'in words', 'manners', 'shadow', 'lies about'],
];
const PROSE = new RegExp(`\\b(${WORDS.join('|')})\\b`, 'gi');
/** A clause of a comment or document with "who" or "what" as its subject. */
const SUBJECT = /(?:^|[.:]\s+)(Who|What)(?= (?!is\b|are\b|does\b|do\b|if\b)[a-z])(?![^.]*\?)/g;
const IDENTIFIER =
  /(?<![A-Za-z])(heard|told|doubt|unsure|nobody|untold|unbegun|judge|followUps?)(?=[A-Z])|(?<=[a-z])(Heard|Told|Doubt|Unsure|Nobody|Unbegun|Judge[sd]?)(?=[A-Z]|\b)/g;

export interface Idiom {
  readonly line: number;
  readonly term: string;
  readonly text: string;
}

/** Occurrences of `WORDS` and of the rename table's names in one file, with line numbers from 1. */
export function findIdiom(file: string, text: string): Idiom[] {
  const found: Idiom[] = [];
  const isCode = !file.endsWith('.md');
  text.split('\n').forEach((row, i) => {
    const comment = isCode ? /^\s*(?:\/\*\*?|\*|\/\/)\s?(.*)$/.exec(row)?.[1] : row;
    const terms = [
      ...[...row.matchAll(PROSE)].map(([term]) => term),
      ...[...(comment ?? '').matchAll(SUBJECT)].map(([, term]) => term ?? ''),
      ...(isCode ? [...row.matchAll(IDENTIFIER)].map(([term]) => term) : []),
    ];
    for (const term of terms) found.push({ line: i + 1, term, text: row.trim() });
  });
  return found;
}
