/** Decimal text as exact integers, and decimals in steps with their rounding direction. */
import { describe, expect, it } from 'vitest';
import {
  formatDecimal,
  MAX_DECIMAL_LENGTH,
  parseDecimal,
  powerOfTen,
  stepsCeil,
  stepsExact,
  stepsFloor,
  stepsHalfUp,
  type Decimal,
} from '../../src/num/decimal.ts';

const of = (text: string): Decimal => {
  const value = parseDecimal(text);
  if (value === null) throw new Error(text);
  return value;
};

describe('R-1.5 reading', () => {
  it.each([
    ['0', 0n, 0],
    ['-0', 0n, 0],
    ['7', 7n, 0],
    ['-7', -7n, 0],
    ['0.5', 5n, 1],
    ['1.50', 15n, 1],
    ['1.00', 1n, 0],
    ['-12.340', -1234n, 2],
    ['007', 7n, 0],
    ['100', 100n, 0],
    ['0.000001', 1n, 6],
  ])('%s', (text, digits, scale) => {
    expect(parseDecimal(text)).toEqual({ digits, scale });
  });

  it.each([
    '',
    '-',
    '.',
    '.5',
    '5.',
    '1.2.3',
    '+1',
    ' 1',
    '1 ',
    '1e3',
    '0x1',
    '1,0',
    '--1',
    '1.-2',
    'NaN',
    '1\n',
  ])('refuses %j', (text) => {
    expect(parseDecimal(text)).toBeNull();
  });

  it('at most 38 characters', () => {
    expect(MAX_DECIMAL_LENGTH).toBe(38);
    expect(parseDecimal('9'.repeat(38))).toEqual({ digits: 10n ** 38n - 1n, scale: 0 });
    expect(parseDecimal('9'.repeat(39))).toBeNull();
    expect(parseDecimal(`0.${'0'.repeat(37)}`)).toBeNull();
  });
});

describe('R-1.5 writing', () => {
  it.each([
    [0n, 0, '0'],
    [0n, 6, '0'],
    [-0n, 3, '0'],
    [5n, 0, '5'],
    [5n, 1, '0.5'],
    [50n, 1, '5'],
    [-5n, 3, '-0.005'],
    [1_500_000n, 6, '1.5'],
    [100n, 0, '100'],
    [1000n, 1, '100'],
    [123_456n, 6, '0.123456'],
    [1_123_456n, 6, '1.123456'],
    [-(10n ** 20n), 6, '-100000000000000'],
  ])('%d × 10^−%d', (digits, scale, text) => {
    expect(formatDecimal(digits, scale)).toBe(text);
  });
});

it('powers of ten, those beyond the table, too', () => {
  for (const exponent of [0, 1, 6, 75, 76, 77, 90]) {
    expect(powerOfTen(exponent)).toBe(10n ** BigInt(exponent));
  }
});

describe('R-1.7, R-2.2 in whole steps', () => {
  it.each([
    // value, step, exact, floor, ceil, half up
    ['1', '0.1', 10n, 10n, 10n, 10n],
    ['1.04', '0.1', null, 10n, 11n, 10n],
    ['1.05', '0.1', null, 10n, 11n, 11n],
    ['1.06', '0.1', null, 10n, 11n, 11n],
    ['-1.04', '0.1', null, -11n, -10n, -10n],
    ['-1.05', '0.1', null, -11n, -10n, -10n],
    ['-1.06', '0.1', null, -11n, -10n, -11n],
    ['-1', '0.1', -10n, -10n, -10n, -10n],
    ['0', '0.1', 0n, 0n, 0n, 0n],
    ['0.04', '0.1', null, 0n, 1n, 0n],
    ['-0.04', '0.1', null, -1n, 0n, 0n],
    ['7', '2', null, 3n, 4n, 4n],
    ['-7', '2', null, -4n, -3n, -3n],
    ['12', '2', 6n, 6n, 6n, 6n],
    ['-0.75', '0.25', -3n, -3n, -3n, -3n],
    ['0.3', '0.25', null, 1n, 2n, 1n],
    ['12', '0.000001', 12_000_000n, 12_000_000n, 12_000_000n, 12_000_000n],
  ])('%s in steps of %s', (value, step, exact, floor, ceil, halfUp) => {
    expect(stepsExact(of(value), of(step))).toBe(exact);
    expect(stepsFloor(of(value), of(step))).toBe(floor);
    expect(stepsCeil(of(value), of(step))).toBe(ceil);
    expect(stepsHalfUp(of(value), of(step))).toBe(halfUp);
  });
});
