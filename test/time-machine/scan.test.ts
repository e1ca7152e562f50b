import { describe, expect, it, vi } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import type { Outcome } from '../../src/engine/refusals.ts';
import { quanta } from '../../src/num/units.ts';
import { compilePredicate } from '../../src/time-machine/expression/compile.ts';
import { scopeOf } from '../../src/time-machine/expression/scope.ts';
import { Scan, type ScanOptions } from '../../src/time-machine/scan.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { randomJournal, World } from './journals.ts';

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

describe('a broken invariant', () => {
  it('is found by its command, with the invariant and its numbers', () => {
    const world = new World();
    const account = world.user(500);
    for (let i = 0; i < 40; i++) world.price(1000 + i);
    const { seq } = world.withdraw(account, 10);
    for (let i = 0; i < 40; i++) world.price(1040 - i);
    const found = (): number | null => {
      const scanned = new Scan(world.open(), compilePredicate('violations.length > 0'), {
        direction: 'forward',
        from: 0,
      });
      return scanned.run(Infinity).hit;
    };
    expect(found()).toBeNull();
    // The planted fault: a withdrawal leaves one unit of money in the supply.
    const apply: (this: Exchange, ...words: Parameters<Exchange['apply']>) => Outcome = Reflect.get(
      Exchange.prototype,
      'apply',
    );
    const planted = vi.spyOn(Exchange.prototype, 'apply').mockImplementation(function (
      this: Exchange,
      command,
      emit,
    ) {
      const outcome = apply.call(this, command, emit);
      const { state } = this as unknown as { readonly state: { supply: bigint } };
      if (command.kind === 'withdraw') state.supply = quanta(state.supply + 1n);
      return outcome;
    });
    try {
      expect(found()).toBe(seq);
      const { engine } = world.open().cursorAt(seq);
      const scope = scopeOf({ engine, command: null, outcome: 'ok', events: [] });
      const [violation] = engine.checkInvariants();
      const says = `violations.some(v => v.invariant == "${violation!.invariant}" && v.detail != null)`;
      expect(compilePredicate(says).test(scope)).toBe(true);
    } finally {
      planted.mockRestore();
    }
  });
});

describe('an expression that takes too long', () => {
  it('stops the run in both directions, with its column and the command', () => {
    const world = new World();
    for (let i = 0; i < 40; i++) world.user(1000);
    const timeline = world.open();
    timeline.index();
    const text = ['a', 'b', 'c', 'd'].reduceRight(
      (inner, name) => `accounts.every(${name} => ${inner})`,
      'true',
    );
    const predicate = compilePredicate(text);
    for (const [direction, from] of [
      ['forward', 0],
      ['backward', world.seq],
    ] as const) {
      const run = () => new Scan(timeline, predicate, { direction, from }).run(Infinity);
      expect(run, direction).toThrow(
        /^after command \d+, column \d+: takes more than 500000 steps for one command/,
      );
    }
  });
});
