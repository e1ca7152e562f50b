/** Marks of the price chart: none is lost, and none is drawn over another of its kind. */
import { expect, it } from 'vitest';
import { thinMarks } from '../../src/web/time-machine/thin-marks.ts';
import type { ScanMark } from '../../src/web/time-machine/account-scan.ts';

const mark = (seq: number, kind: ScanMark['kind'] = 'buy', count = 1): ScanMark => ({
  kind,
  market: 0,
  seq,
  count,
});
const flat = { indexOf: (seq: number) => seq, step: 1, yOf: () => 0 };
const thin = (...marks: ScanMark[]) =>
  thinMarks(marks, flat).map(({ kind, at, text }) => `${kind} ${String(at)} ${text}`);

it('keeps marks that are an arrow apart, and counts closer ones', () => {
  expect(thin(mark(0), mark(12), mark(24))).toEqual(['buy 0 ', 'buy 12 ', 'buy 24 ']);
  expect(thin(mark(0), mark(11))).toEqual(['buy 0 ×2']);
  expect(thin(mark(0), mark(11, 'sell'))).toEqual(['buy 0 ', 'sell 11 ']);
});

it('leaves the width of a count after it', () => {
  expect(thin(mark(0, 'buy', 5), mark(14), mark(23))).toEqual(['buy 0 ×6', 'buy 23 ']);
});

it('counts each mark once, whatever their places', () => {
  const marks = Array.from({ length: 500 }, (_, i) => mark((i * i) % 700, 'sell', 1 + (i % 3)));
  marks.sort((a, b) => a.seq - b.seq);
  const drawn = thinMarks(marks, flat);
  const total = drawn.reduce((sum, { text }) => sum + Number(text.slice(1) || 1), 0);
  expect(total).toBe(marks.reduce((sum, { count }) => sum + count, 0));
  const places = drawn.map(({ at }) => at);
  expect(places.every((at, i) => i === 0 || at - (places[i - 1] ?? 0) >= 12)).toBe(true);
});

it('keeps marks at one place of the axis that are far apart in price', () => {
  const falls = { ...flat, yOf: (at: number) => at * 10 };
  const seqs = [0, 1, 2, 3, 4, 5, 6];
  const drawn = thinMarks(
    seqs.map((seq) => mark(seq, 'liquidation')),
    falls,
  );
  expect(drawn.map(({ at, text }) => `${String(at)} ${text}`)).toEqual(['0 ×3', '3 ×3', '6 ']);
  // A price that returns meets its own mark, not the newest one.
  const turns = { ...flat, yOf: (at: number) => (at === 1 ? 100 : 0) };
  const found = thinMarks([mark(0), mark(1), mark(2)], turns);
  expect(found.map(({ at, text }) => `${String(at)} ${text}`)).toEqual(['0 ×2', '1 ']);
});
