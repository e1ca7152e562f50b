/** Times and durations as text, in whole microseconds. */
import { expect, it } from 'vitest';
import { durationUs, timeUs } from '../../src/num/units.ts';
import {
  formatDuration,
  formatTime,
  parseDuration,
  parseTime,
  parseTimeOrDay,
} from '../../src/num/time-text.ts';

it.each([
  ['1970-01-01T00:00:00Z', 0],
  ['1970-01-01T00:00:00.000001Z', 1],
  ['2000-02-29T12:34:56.789Z', 951_827_696_789_000],
  ['2024-01-01T00:00:00Z', 1_704_067_200_000_000],
  ['2024-12-31T23:59:59.999999Z', 1_735_689_599_999_999],
  ['2100-03-01T00:00:00Z', 4_107_542_400_000_000],
  ['2199-12-31T00:00:00Z', 7_258_032_000_000_000],
])('parses the time %s, and formats it back', (text, us) => {
  expect(parseTime(text)).toBe(us);
  // An independent calendar agrees to the millisecond.
  expect(Date.parse(text)).toBe(Math.floor(us / 1000));
  expect(parseTime(formatTime(timeUs(us)))).toBe(us);
  expect(Date.parse(formatTime(timeUs(us)))).toBe(Math.floor(us / 1000));
});

it.each([
  '2023-02-29T00:00:00Z',
  '2024-01-00T00:00:00Z',
  '2100-02-29T00:00:00Z',
  '2024-00-01T00:00:00Z',
  '2024-13-01T00:00:00Z',
  '2024-04-31T00:00:00Z',
  '2024-01-01T24:00:00Z',
  '2024-01-01T00:60:00Z',
  '2024-01-01T00:00:60Z',
  '2024-01-01T00:00:00',
  '2024-01-01T00:00:00+00:00',
  '2024-01-01T00:00:00.1234567Z',
  '2024-01-01 00:00:00Z',
  '1969-12-31T23:59:59Z',
  '2200-01-01T00:00:00Z',
  '',
])('rejects the time "%s"', (text) => {
  expect(parseTime(text)).toBeNull();
});

it('parses a day as its start where times of a run are given', () => {
  expect(parseTimeOrDay('2024-02-29')).toBe(parseTime('2024-02-29T00:00:00Z'));
  expect(parseTimeOrDay('2023-02-29')).toBeNull();
  expect(parseTimeOrDay('2024-02')).toBeNull();
  expect(parseTime('2024-02-29')).toBeNull();
});

it.each([
  ['5s', 5_000_000],
  ['250ms', 250_000],
  ['1us', 1],
  ['1h30m', 5_400_000_000],
  ['1d2h3m4s5ms6us', 93_784_005_006],
  ['0s', 0],
])('parses the duration %s, and formats it back', (text, us) => {
  expect(parseDuration(text)).toBe(us);
  expect(formatDuration(durationUs(us))).toBe(text);
});

it.each(['', '5', 's', '-5s', '+5s', '5 s', '1m1h', '1.5s', '9999999999s', '99999d'])(
  'rejects the duration "%s"',
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);

it('writes a fraction only where there is one', () => {
  expect(formatTime(timeUs(0))).toBe('1970-01-01T00:00:00Z');
  expect(formatTime(timeUs(1_500_000))).toBe('1970-01-01T00:00:01.500000Z');
});

it('a duration is at most a hundred years', () => {
  expect(parseDuration('36525d')).toBe(36_525 * 86_400_000_000);
  expect(parseDuration('36525d1us')).toBeNull();
});
