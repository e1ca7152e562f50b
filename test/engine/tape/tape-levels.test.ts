/**
 * The tape's memory of levels is bounded by relevant levels, not by the length of the tape.
 */
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../../src/base/archive.ts';
import { TapeBook } from '../../../src/engine/tape/tape-book.ts';
import { timeUs, type TimeUs } from '../../../src/num/units.ts';

const SECOND_US = 1_000_000;

function credit(book: TapeBook, price: number, nowUs: TimeUs): void {
  const level = book.level(1, price, nowUs);
  level.creditBack = 5;
  level.creditUntilUs = timeUs(nowUs + SECOND_US);
}

function bytesOf(book: TapeBook, nowUs: TimeUs): Uint8Array {
  const io = new ArchiveWriter();
  book.archive(io, nowUs);
  return io.bytes();
}

test('a long drift of the price leaves no more levels in memory than a short one', () => {
  const book = new TapeBook();
  let max = 0;
  for (let price = 1; price <= 200_000; price++) {
    credit(book, price, timeUs(price * 10_000));
    max = Math.max(max, book.levelCount);
  }
  expect(max).toBeLessThanOrEqual(1 << 14);
});

test('a sweep keeps taken volume and claimable credit', () => {
  const book = new TapeBook();
  book.level(1, 7, timeUs(0)).taken = 3;
  for (let price = 100; price < 40_000; price++) credit(book, price, timeUs(price * 10_000));
  expect(book.find(1, 7)?.taken).toBe(3);
  expect(book.find(1, 39_950)?.creditBack).toBe(5);
});

test('a reused level is reset', () => {
  const book = new TapeBook();
  for (let price = 1; price < 40_000; price++) credit(book, price, timeUs(price * 10_000));
  const level = book.level(1, 50_000, timeUs(10 ** 9));
  expect(level).toEqual({
    taken: 0,
    restated: 0,
    displaced: 0,
    displacedAtUs: 0,
    creditFront: 0,
    creditBack: 0,
    creditUntilUs: 0,
  });
});

test('expired credit is not part of the state', () => {
  const [fresh, old] = [new TapeBook(), new TapeBook()];
  credit(old, 100, timeUs(0));
  expect(bytesOf(old, timeUs(SECOND_US))).not.toEqual(bytesOf(fresh, timeUs(SECOND_US)));
  expect(bytesOf(old, timeUs(SECOND_US + 1))).toEqual(bytesOf(fresh, timeUs(SECOND_US + 1)));
});

test('saved state is restored', () => {
  const book = new TapeBook();
  credit(book, 100, timeUs(5));
  Object.assign(book.takenLevel(-1, 200, timeUs(5)), { taken: 9, displaced: 9 });
  Object.assign(book.takenLevel(1, 300, timeUs(5)), { taken: 7, displaced: 3, restated: 2 });
  book.divergedLots = 2;
  const io = new ArchiveWriter();
  book.archive(io, timeUs(6));
  book.archiveHistory(io);
  const back = new TapeBook();
  const reader = new ArchiveReader(io.bytes());
  back.archive(reader, timeUs(6));
  back.archiveHistory(reader);
  reader.end();
  expect(back.find(1, 100)?.creditBack).toBe(5);
  expect(back.find(-1, 200)).toMatchObject({ taken: 9, displaced: 9 });
  expect(back.find(1, 300)).toMatchObject({ taken: 7, displaced: 3, restated: 2 });
  expect(back.divergedLots).toBe(2);
});
