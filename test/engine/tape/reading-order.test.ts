/** Recorded lines in venue time: the buffer emits the order of a plain sorted list. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { durationUs, lots, priceTicks, timeUs } from '../../../src/num/units.ts';
import { ReadingOrder } from '../../../src/tape/reading-order.ts';
import type { TapeRecord } from '../../../src/tape/record.ts';

const WINDOW_US = 40;
const KINDS = ['mark', 'trade', 'depth', 'touch'] as const;
/** At equal times these go first. */
const FIRST = { mark: 0, trade: 1, depth: 2, touch: 3 };

function recordOf(kind: (typeof KINDS)[number], us: number, id: number, line: number): TapeRecord {
  const base = { timeUs: timeUs(us), localUs: timeUs(us), line };
  switch (kind) {
    case 'mark':
      return { kind, ...base, priceTicks: priceTicks(10) };
    case 'trade':
      return { kind, ...base, tradeId: id, priceTicks: priceTicks(10), lots: lots(1) };
    case 'depth':
      return { kind, ...base, firstId: id, lastId: id, prevId: id - 1, levels: [] };
    case 'touch':
      return {
        kind,
        ...base,
        updateId: id,
        bidTicks: priceTicks(1),
        bidLots: lots(1),
        askTicks: priceTicks(2),
        askLots: lots(1),
      };
  }
}

interface Line {
  readonly record: TapeRecord;
  readonly id: number;
}

/** Reference model: sorts the whole buffer for each release. */
function plainly(lines: readonly Line[], asRecorded: boolean): string[] {
  const out: string[] = [];
  let held: { readonly us: number; readonly line: Line }[] = [];
  let newest = 0;
  let released = 0;
  let depthUs = 0;
  const keys = ({ us, line }: (typeof held)[number]): number[] => {
    const kind = FIRST[line.record.kind as keyof typeof FIRST];
    return asRecorded
      ? [us, line.record.line]
      : [us, kind, kind === 0 ? line.record.line : line.id, line.record.line];
  };
  const compare = (a: (typeof held)[number], b: (typeof held)[number]): number => {
    const of = keys(b);
    return (
      keys(a)
        .map((key, i) => key - (of[i] ?? 0))
        .find((difference) => difference !== 0) ?? 0
    );
  };
  const release = (until: number): void => {
    held.sort(compare);
    for (const { us, line } of held.filter((one) => one.us <= until)) {
      released = us;
      out.push(`${line.record.kind} ${String(us)} ${String(line.record.line)}`);
    }
    held = held.filter((one) => one.us > until);
  };
  for (const line of lines) {
    let us: number = line.record.timeUs;
    if (line.record.kind === 'depth') {
      us = Math.max(us, depthUs);
      depthUs = us;
    }
    us = Math.max(us, released);
    held.push({ us, line });
    newest = Math.max(newest, us);
    release(newest - WINDOW_US);
  }
  release(Infinity);
  return out;
}

test('buffered records are emitted like those of a sorted list, whatever their input order', () => {
  const line = fc.record({
    kind: fc.constantFrom(...KINDS),
    step: fc.integer({ min: 0, max: 12 }),
    late: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 90 })),
    id: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 300 }), fc.boolean(), (drawn, asRecorded) => {
      let us = 100;
      const lines = drawn.map(({ kind, step, late, id }, i): Line => {
        us += step;
        return { record: recordOf(kind, us - late, id, i), id };
      });
      const order = new ReadingOrder(durationUs(WINDOW_US), asRecorded);
      const due = order.take(lines.map(({ record }) => record));
      const got = [...due, ...order.flush()].map(
        ({ kind, timeUs: at, line: of }) => `${kind} ${String(at)} ${String(of)}`,
      );
      expect(got).toEqual(plainly(lines, asRecorded));
    }),
    { seed: 20_240_808, numRuns: 500 },
  );
});
