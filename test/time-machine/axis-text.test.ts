/** Labels of the time axes: as short as possible, never twice the same. */
import { expect, it } from 'vitest';
import { axisFormat, axisLabels, evenPlaces, stepDecimals } from '../../src/web/exact-text.ts';

const DAY = 86_400_000_000;
const START = Date.UTC(2024, 0, 1) * 1000;
const places = (...offsets: number[]) =>
  offsets.map((us, i) => ({ seq: 1000 * (i + 1), timeUs: START + us }));

it.each([
  ['seconds', places(0, 1e6, 61e6), ['00:00:00', '00:00:01', '00:01:01']],
  ['milliseconds', places(0, 2000, 5000), ['00:00:00.000', '00:00:00.002', '00:00:00.005']],
  ['microseconds', places(1, 2, 3), ['00:00:00.000001', '00:00:00.000002', '00:00:00.000003']],
  ['days', places(0, DAY, 2 * DAY), ['01-01 00:00', '01-02 00:00', '01-03 00:00']],
  ['commands of one time', places(0, 0, 0), ['#1,000', '#2,000', '#3,000']],
  ['a time that repeats', places(0, 0, 1e6, 2e6), ['00:00:00', '', '00:00:01', '00:00:02']],
  ['nothing', [], []],
])('labels an axis of %s', (_, given, labels) => {
  expect(axisLabels(given)).toEqual(labels);
});

it('formats places between those of which the form was chosen', () => {
  const format = axisFormat(places(0, 5e6, 10e6));
  expect(format({ seq: 7, timeUs: START + 7_500_000 })).toBe('00:00:07');
});

it('formats few labels as the whole axis: most commands of this one have one time', () => {
  const all = [...places(...Array<number>(300).fill(0)), ...places(30e6, 60e6)];
  const format = axisFormat(evenPlaces(all));
  expect(axisLabels([{ seq: 318, timeUs: START }], format)).toEqual(['#318']);
  // By itself, one label is a time.
  expect(axisLabels([{ seq: 318, timeUs: START }])).toEqual(['00:00:00']);
  expect(evenPlaces([])).toEqual([]);
});

it('writes ticks of an axis with the decimals of their step', () => {
  const steps = [5000, 2.5, 1, 0.5, 0.25, 0.00002, 1e-12];
  expect(steps.map(stepDecimals)).toEqual([0, 1, 0, 1, 2, 5, 8]);
});
