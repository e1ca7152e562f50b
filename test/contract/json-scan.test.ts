/** Which texts the parser of the language reads exactly: that parser is several times as fast. */
import { expect, test } from 'vitest';
import { parseExact } from '../../src/contract/exact-json.ts';
import { JsonScan } from '../../src/contract/json-scan.ts';

const LIMITS = { bytes: 1e6, digits: 64, items: 1000, depth: 16 };

function isExact(...parts: readonly string[]): boolean {
  const scan = new JsonScan(LIMITS);
  for (const part of parts) scan.push(part);
  return scan.isExact;
}

test.each([
  ['9007199254740991', true],
  ['-9007199254740991', true],
  ['1732712345678901', true],
  ['999999999999999', true],
  ['9007199254740992', false],
  ['9007199254740993', false],
  ['9999999999999999', false],
  ['10000000000000000', false],
  ['9223372036854775807', false],
  ['1.5', false],
  ['1e3', false],
])('%s: %j', (text, exact) => {
  expect(isExact(`{"nonce":${text},"next":1}`)).toBe(exact);
  for (let at = 1; at < text.length; at++) {
    expect(isExact(`{"nonce":${text.slice(0, at)}`, `${text.slice(at)}}`)).toBe(exact);
  }
});

test('integers at the border are read as their text', () => {
  for (let i = -20n; i <= 20n; i++) {
    const wanted = 2n ** 53n + i;
    for (const text of [String(wanted), String(-wanted)]) {
      const [read] = parseExact(`[${text}]`) as [number | bigint];
      expect(BigInt(read)).toBe(BigInt(text));
    }
  }
});
