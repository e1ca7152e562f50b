/** Levels in the state of a market's tape: what is archived, and what is reset. */
import { expect, test } from 'vitest';
import { ArchiveReader, ArchiveWriter } from '../../../src/base/archive.ts';
import { TapeBook } from '../../../src/engine/tape/tape-book.ts';
import { timeUs, type TimeUs } from '../../../src/num/units.ts';

const SECOND_US = 1_000_000;

function credit(book: TapeBook, price: number, nowUs: TimeUs): void {
  book.credits(1).add(price, 0, 5, nowUs, timeUs(nowUs + SECOND_US));
}

function bytesOf(book: TapeBook, nowUs: TimeUs): Uint8Array {
  const io = new ArchiveWriter();
  book.archive(io, nowUs);
  return io.bytes();
}

test.each([
  ['ended', (book: TapeBook) => book.endTaken(1, 7)],
  ['forgotten', (book: TapeBook) => book.forgetLevels()],
] as const)('a level that was %s is not there, and its record is reset for another', (_, drop) => {
  const book = new TapeBook();
  Object.assign(book.takenLevel(1, 7), { taken: 3, restated: 2, displaced: 1, displacedAtUs: 9 });
  drop(book);
  expect(book.findTaken(1, 7)).toBeUndefined();
  expect(book.takenPrices(1)).toEqual([]);
  expect(book.takenLevel(1, 8)).toEqual({ taken: 0, restated: 0, displaced: 0, displacedAtUs: 0 });
});

test('levels of users and credit of one price are one level of the archive, in order', () => {
  const [one, other] = [new TapeBook(), new TapeBook()];
  const take = (book: TapeBook): unknown => Object.assign(book.takenLevel(1, 200), { taken: 9 });
  credit(one, 300, timeUs(0));
  take(one);
  for (const price of [100, 200]) credit(one, price, timeUs(0));
  for (const price of [100, 200, 300]) credit(other, price, timeUs(0));
  take(other);
  expect(bytesOf(one, timeUs(0))).toEqual(bytesOf(other, timeUs(0)));
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
  Object.assign(book.takenLevel(-1, 200), { taken: 9, displaced: 9 });
  Object.assign(book.takenLevel(1, 300), { taken: 7, displaced: 3, restated: 2 });
  book.divergedLots = 2;
  const io = new ArchiveWriter();
  book.archive(io, timeUs(6));
  book.archiveHistory(io);
  const back = new TapeBook();
  const reader = new ArchiveReader(io.bytes());
  back.archive(reader, timeUs(6));
  back.archiveHistory(reader);
  reader.end();
  expect(back.credits(1).alive(timeUs(6))).toEqual(book.credits(1).alive(timeUs(6)));
  expect(back.findTaken(-1, 200)).toMatchObject({ taken: 9, displaced: 9 });
  expect(back.findTaken(1, 300)).toMatchObject({ taken: 7, displaced: 3, restated: 2 });
  expect(back.divergedLots).toBe(2);
});

test.each([4, 7, -1, 2 ** 32 + 1])('unknown flags %d in a snapshot are refused', (flags) => {
  const io = new ArchiveWriter();
  io.section('tape');
  io.int(flags);
  const rest = bytesOf(new TapeBook(), timeUs(0)).subarray(io.bytes().length);
  const read = (): void => {
    new TapeBook().archive(new ArchiveReader(Buffer.concat([io.bytes(), rest])), timeUs(0));
  };
  expect(read).toThrow(`snapshot: the book of a tape has the unknown flags ${String(flags)}`);
});
