/** Bounded lists of dated entries against plain arrays: bounds, reads, and lost commands. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Moment } from '../../src/engine/read/views.ts';
import { KeptEntries, KeptTotal } from '../../src/gateway/kept-entries.ts';

const MAX = [3, 5, 9];
const MAX_OF_ALL = 8;

interface Entry extends Moment {
  readonly list: number;
}

/** All entries that are kept, oldest first, and the time of the last that each list dropped. */
class Plain {
  kept: Entry[] = [];
  readonly dropped: (number | null)[] = MAX.map(() => null);

  of(list: number): Entry[] {
    return this.kept.filter((entry) => entry.list === list);
  }

  add(entry: Entry): void {
    this.kept.push(entry);
    if (this.of(entry.list).length > MAX[entry.list]!) this.drop(this.of(entry.list)[0]!);
    if (this.kept.length > MAX_OF_ALL) this.drop(this.kept[0]!);
  }

  private drop(entry: Entry): void {
    this.kept = this.kept.filter((other) => other !== entry);
    this.dropped[entry.list] = entry.timeUs;
  }

  since(list: number): number | null {
    const at = this.dropped[list] ?? null;
    return at === null ? null : (this.of(list)[0]?.timeUs ?? at + 1);
  }

  read(list: number, from: number, to: number, limit: number, upTo?: Moment): Entry[] {
    return this.of(list)
      .filter(({ timeUs }) => timeUs >= from && timeUs < to)
      .filter(
        ({ timeUs, seq }) =>
          upTo === undefined || timeUs < upTo.timeUs || (timeUs === upTo.timeUs && seq <= upTo.seq),
      )
      .toReversed()
      .slice(0, limit);
  }
}

const stepOf = fc.record({
  kind: fc.constantFrom('add', 'add', 'add', 'cut', 'read'),
  list: fc.nat(2),
  /** The clock and the number of the command move by so much. */
  by: fc.nat(2),
  from: fc.nat(20),
  length: fc.nat(12),
  limit: fc.nat(6),
});

test('lists keep, drop and read what plain arrays do', () => {
  fc.assert(
    fc.property(fc.array(stepOf, { maxLength: 80, size: 'max' }), (steps) => {
      const total = new KeptTotal(MAX_OF_ALL);
      const lists = MAX.map((max) => new KeptEntries<Entry>(max));
      const plain = new Plain();
      let [timeUs, seq] = [0, 0];
      for (const { kind, list, by, from, length, limit } of steps) {
        const entries = lists[list]!;
        if (kind === 'add') {
          timeUs += by;
          seq += by === 0 ? 0 : 1;
          const entry = { timeUs, seq, list } as Entry;
          total.add(entries, entry);
          plain.add(entry);
        } else if (kind === 'cut') {
          seq = Math.max(0, seq - by);
          for (const [i, each] of lists.entries()) {
            const lost = plain.of(i).filter((entry) => entry.seq > seq);
            expect(total.cut(each, seq)).toEqual(lost);
          }
          plain.kept = plain.kept.filter((entry) => entry.seq <= seq);
        } else {
          const upTo = by === 0 ? undefined : ({ timeUs: from + by, seq: from } as Moment);
          const to = from + length;
          expect(entries.read(from, to, limit, upTo)).toEqual({
            items: plain.read(list, from, to, limit, upTo),
            keptSinceUs: plain.since(list),
          });
        }
        for (const [i, each] of lists.entries()) {
          expect(each.items).toEqual(plain.of(i));
          expect(each.keptSinceUs).toBe(plain.since(i));
          expect(each.isOver).toBe(false);
        }
      }
    }),
    { numRuns: 300 },
  );
});
