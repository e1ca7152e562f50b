/** Expected cost of requests, also of invalid ones: they are estimated before they are checked. */
import { expect, test } from 'vitest';
import { expectedReplyMs, expectedRequestMs } from '../../src/http/expected-cost.ts';
import { isLarge } from '../../src/http/fair-queue.ts';

test.each([
  [{ orders: Array(100).fill({}) }, true],
  [{ orders: Array(10).fill({}) }, false],
  [{ limit: '500' }, true],
  [{ limit: 100 }, false],
  [{ limit: -1 }, false],
  [{ limit: 'many' }, false],
  [{ limit: Infinity }, true],
  [{ limit: { valueOf: 1, toString: 1 } }, false],
  [{ limit: [500] }, false],
  [{ limit: null }, false],
  [null, false],
  ['text', false],
  [undefined, false],
])('%j is large: %j', (fields, large) => {
  expect(isLarge(expectedRequestMs(fields))).toBe(large);
});

test('a long list is a large answer', () => {
  expect(isLarge(expectedReplyMs(Array(500).fill(1)))).toBe(true);
  expect(isLarge(expectedReplyMs({ list: [] }))).toBe(false);
  expect(isLarge(expectedReplyMs({ cancelled: [], failed: Array(500).fill({}) }))).toBe(true);
  expect(isLarge(expectedReplyMs({ bids: Array(100), asks: Array(100) }))).toBe(false);
});
