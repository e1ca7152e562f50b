import { expect, test } from 'vitest';
import { largeText } from '../../src/web/exact-text.ts';

test.each([
  [0, '0.00'],
  [0.004, '0.00'],
  [9.994, '9.99'],
  [99.96, '100'],
  [999.4, '999'],
  [999.6, '1.00 K'],
  [12_345, '12.3 K'],
  [999_999, '1.00 M'],
  [-999_999_999, '−1.00 B'],
  [2.5e12, '2,500 B'],
  [Number.NaN, '–'],
])('a volume of %d is %s', (value, text) => {
  expect(largeText(value).replace('\u202f', ' ')).toBe(text);
});
