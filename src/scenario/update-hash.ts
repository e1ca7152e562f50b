/**
 * Writes a state hash into a scenario's text and preserves all other characters, including comments
 * and quotes.
 */
import { isMap, isScalar, parseDocument, type Node, type YAMLMap } from 'yaml';

/** `text`: a valid scenario. */
export function withStateHash(text: string, stateHash: string): string {
  const { contents: root, range } = parseDocument(text, { schema: 'failsafe' });
  // A scenario is a map.
  if (!isMap(root)) return text;
  const expect = root.get('expect', true);
  if (!isMap(expect)) return withExpectation(text, root, range[1], stateHash);
  const known = expect.get('stateHash', true);
  if (isScalar(known) && known.range) {
    return text.slice(0, known.range[0]) + stateHash + text.slice(known.range[1]);
  }
  const start = startOf(expect);
  if (expect.flow === true) {
    return `${text.slice(0, start + 1)} stateHash: ${stateHash},${text.slice(start + 1)}`;
  }
  const indent = indentOf(text, start);
  const whole = withNewline(text);
  const end = whole.indexOf('\n', lastEnd(expect) - 1) + 1;
  return `${whole.slice(0, end)}${indent}stateHash: ${stateHash}\n${whole.slice(end)}`;
}

/** `end`: of the document, so that the text goes before a line `...`. */
function withExpectation(text: string, root: YAMLMap, end: number, stateHash: string): string {
  const start = startOf(root);
  if (root.flow === true) {
    const expect = ` expect: { stateHash: ${stateHash} },`;
    return text.slice(0, start + 1) + expect + text.slice(start + 1);
  }
  const indent = indentOf(text, start);
  const [head, rest] = /^\.\.\./m.test(text.slice(end))
    ? [text.slice(0, end), text.slice(end)]
    : [text, ''];
  return `${withNewline(head)}\n${indent}expect:\n${indent}  stateHash: ${stateHash}\n${rest}`;
}

/** The spaces that put a line below the character at `start`. */
const indentOf = (text: string, start: number): string =>
  ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));

const startOf = (map: YAMLMap): number => map.range?.[0] ?? 0;

/** End offset of the text of a map's last value, at any depth. */
function lastEnd(map: YAMLMap): number {
  const last = map.items.at(-1)?.value as Node | null | undefined;
  return isMap(last) && last.flow !== true ? lastEnd(last) : (last?.range?.[1] ?? startOf(map));
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
