/**
 * Commands delivered twice or out of order, and clocks that jump. What carries a nonce happens once; whatever comes, invariants hold, and what is
 * refused leaves no trace.
 */
import { expect, test } from 'vitest';
import { InvariantError } from '../../src/base/assert.ts';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { Dice } from '../../src/fuzz/dice.ts';
import { timeUs } from '../../src/num/units.ts';
import { allRows } from '../../src/journal/diff/state-rows.ts';
import { drawLife, live } from '../metamorphic/life.ts';
import { EFFORT } from '../setup/effort.ts';

const SEEDS = Array.from({ length: 2 * EFFORT }, (_, i) => `faults-${String(i)}`);

const carriesNonce = ({ kind }: Command): boolean =>
  [
    'placeOrder',
    'placeOrders',
    'transfer',
    'updateMargin',
    'updateDelegate',
    'updateSigners',
  ].includes(kind);

test('a request that carries a nonce happens once, however often it is delivered', () => {
  for (const seed of SEEDS) {
    const life = drawLife(seed, { commands: 300 });
    const { happened, engine } = live(life);
    const twin = new Exchange(life.config);
    life.commands.forEach((command, i) => {
      expect(twin.apply(command)).toBe(happened[i]?.outcome);
      if (!carriesNonce(command)) return;
      const events: unknown[] = [];
      const again = twin.apply(command, (event) => {
        events.push(event);
      });
      // What was refused once may be refused again, or now for its nonce; it never happens the second time.
      if (happened[i]?.outcome === 'ok') expect(again).not.toBe('ok');
      if (again !== 'ok') expect(events).toEqual([]);
    });
    expect(allRows(twin)).toEqual(allRows(engine));
  }
});

test('out of order, nothing is silently wrong: outcomes differ, invariants hold', () => {
  for (const seed of SEEDS) {
    const life = drawLife(seed, { commands: 300 });
    const dice = Dice.of(seed, 'reorder');
    const engine = new Exchange(life.config);
    const commands = [...life.commands];
    for (let i = life.opening; i < commands.length - 1; i++) {
      // Somewhere within the next ten places, at the time at which it then comes.
      const j = Math.min(commands.length - 1, i + dice.below(10));
      const [a, b] = [commands[i], commands[j]];
      if (a !== undefined && b !== undefined) [commands[i], commands[j]] = [b, a];
    }
    for (const command of commands) {
      const now = Math.max(engine.nowUs, command.timeUs);
      engine.apply({ ...command, timeUs: timeUs(now) });
    }
    expect(engine.checkInvariants()).toEqual([]);
  }
});

test('a clock that goes back is refused before anything changes', () => {
  const life = drawLife('faults-clock', { commands: 200 });
  const { engine } = live(life);
  const [hash, chain, seq] = [engine.stateHash(), engine.chainHash(), engine.seq];
  expect(() => engine.apply({ kind: 'advanceTime', timeUs: timeUs(engine.nowUs - 1) })).toThrow(
    InvariantError,
  );
  expect(() => engine.apply({ kind: 'advanceTime', timeUs: timeUs(0.5) })).toThrow(InvariantError);
  expect([engine.stateHash(), engine.chainHash(), engine.seq]).toEqual([hash, chain, seq]);
});

test('a clock that jumps ahead runs every timer at its own time, as if it had walked', () => {
  for (const seed of SEEDS) {
    const life = drawLife(seed, { name: 'stress', commands: 200 });
    const { engine } = live(life);
    const walked = engine.fork();
    const DAY_US = 86_400_000_000;
    engine.apply({ kind: 'advanceTime', timeUs: timeUs(engine.nowUs + DAY_US) });
    const untilUs = walked.nowUs + DAY_US;
    while (walked.nowUs < untilUs) {
      const next = Math.min(untilUs, Math.max(walked.nowUs + 1, walked.nowUs + DAY_US / 24));
      walked.apply({ kind: 'advanceTime', timeUs: timeUs(Math.floor(next)) });
    }
    expect(allRows(walked)).toEqual(allRows(engine));
    expect(engine.checkInvariants()).toEqual([]);
  }
});
