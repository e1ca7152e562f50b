/**
 * Writes a state hash into a scenario's text, and leaves every other character as it was: comments, quotes and order are
 * the author's.
 */
import { LineCounter, isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';

export function withStateHash(text: string, stateHash: string): string {
  const document = parseDocument(text, { schema: 'failsafe', lineCounter: new LineCounter() });
  const expect = isMap(document.contents) ? document.contents.get('expect', true) : undefined;
  if (!isMap(expect)) return `${ending(text)}\nexpect:\n  stateHash: ${stateHash}\n`;
  const known = expect.get('stateHash', true);
  if (isScalar(known) && known.range) {
    return splice(text, known.range[0], known.range[1], stateHash);
  }
  if (expect.flow === true) return splice(text, firstByte(expect) + 1, null, ` stateHash: ${stateHash},`);
  const start = firstByte(expect);
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
  return splice(text, start, null, `stateHash: ${stateHash}\n${indent}`);
}

const firstByte = (map: YAMLMap): number => map.range?.[0] ?? 0;

/** Replaces from `start` to `end`, or inserts at `start`. */
const splice = (text: string, start: number, end: number | null, by: string): string =>
  text.slice(0, start) + by + text.slice(end ?? start);

const ending = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
