import { describe, expect, it } from 'vitest';
import { compilePredicate } from '../../src/time-machine/expression/compile.ts';
import { scopeOf } from '../../src/time-machine/expression/scope.ts';
import { Scan, type ScanOptions } from '../../src/time-machine/scan.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { randomJournal } from './journals.ts';

const { bytes, commands } = randomJournal('scan', 240, { profile: 'crisis' });
const timeline = Timeline.open(bytes, { spacing: 31 });
timeline.index();

const PREDICATES = [
  'accounts.some(a => !a.system && a.positions.length > 0 && a.equity < 1.5 * a.maintenance)',
  'events.some(e => e.kind == "orderFilled" && abs(e.size) > 0)',
  'outcome != "ok"',
  'market(0).mark > market(0).index',
  'markets.some(m => m.ask - m.bid > 0.02 * m.mark)',
  'seq / 100 > 1 && command.kind == "placeOrder"',
  'account(u1).orders.some(o => o.ahead > 0)',
  'false',
  'true',
];

/** Whether a predicate holds after each command, by one straight run. */
function truth(text: string): boolean[] {
  const predicate = compilePredicate(text);
  const fresh = Timeline.open(bytes);
  return Array.from({ length: commands + 1 }, (_, seq) => {
    const { engine, step } = fresh.seek(seq);
    const { command = null, outcome = 'ok', events = [] } = step ?? {};
    return predicate.test(scopeOf({ engine, command, outcome, events }));
  });
}

function scan(text: string, options: ScanOptions): number | null {
  const running = new Scan(timeline, compilePredicate(text), options);
  for (;;) {
    const { hit, done } = running.run(50);
    if (done) return hit;
  }
}

describe('runs to a breakpoint', () => {
  it.each(PREDICATES)('find each hit of %s, forwards and backwards', (text) => {
    const holds = truth(text);
    for (const edge of ['rise', 'every'] as const) {
      const hits = holds.flatMap((isTrue, seq) =>
        seq > 0 && isTrue && (edge === 'every' || holds[seq - 1] !== true) ? [seq] : [],
      );
      const starts = [0, 31, 32, 120, commands];
      for (const from of starts) {
        const next = hits.find((seq) => seq > from) ?? null;
        const previous = hits.findLast((seq) => seq < from) ?? null;
        expect(scan(text, { direction: 'forward', from, edge }), `${edge} > ${String(from)}`).toBe(
          next,
        );
        expect(scan(text, { direction: 'backward', from, edge }), `${edge} < ${String(from)}`).toBe(
          previous,
        );
      }
    }
  });
});
