/**
 * Writes a state hash into a scenario's text and preserves all other characters, including comments
 * and quotes.
 */
import { isMap, isScalar, parseDocument, type Node, type YAMLMap } from 'yaml';

/** `text`: a valid scenario. */
export function withStateHash(text: string, stateHash: string): string {
  const root = parseDocument(text, { schema: 'failsafe' }).contents;
  const expect = isMap(root) ? root.get('expect', true) : undefined;
  if (!isMap(expect)) return `${withNewline(text)}\nexpect:\n  stateHash: ${stateHash}\n`;
  const known = expect.get('stateHash', true);
  if (isScalar(known) && known.range) {
    return text.slice(0, known.range[0]) + stateHash + text.slice(known.range[1]);
  }
  const start = startOf(expect);
  if (expect.flow === true) {
    return `${text.slice(0, start + 1)} stateHash: ${stateHash},${text.slice(start + 1)}`;
  }
  const indent = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
  const whole = withNewline(text);
  const end = whole.indexOf('\n', lastEnd(expect) - 1) + 1;
  return `${whole.slice(0, end)}${indent}stateHash: ${stateHash}\n${whole.slice(end)}`;
}

const startOf = (map: YAMLMap): number => map.range?.[0] ?? 0;

/** End offset of the text of a map's last value, at any depth. */
function lastEnd(map: YAMLMap): number {
  const last = map.items.at(-1)?.value as Node | null | undefined;
  return isMap(last) && last.flow !== true ? lastEnd(last) : (last?.range?.[1] ?? startOf(map));
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
