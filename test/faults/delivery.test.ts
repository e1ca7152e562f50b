/**
 * Duplicate and reordered commands, and clock jumps. A request with a nonce is executed at most
 * once; invariants always hold; a rejected command changes nothing.
 */
import { expect, test } from 'vitest';
import { outcomeCode } from '../../src/engine/refusals.ts';
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

test('a request with a nonce is executed once, however often it is delivered', () => {
  for (const seed of SEEDS) {
    const life = drawLife(seed, { commands: 300 });
    const { happened, engine } = live(life);
    const twin = new Exchange(life.config);
    life.commands.forEach((command, i) => {
      expect(outcomeCode(twin.apply(command))).toBe(happened[i]?.outcome);
      if (!carriesNonce(command)) return;
      const events: unknown[] = [];
      const again = twin.apply(command, (event) => {
        events.push(event);
      });
      // A repeated command may be rejected for the same reason or for its nonce; it is never
      // executed twice.
      if (happened[i]?.outcome === 'ok') expect(again).not.toBe('ok');
      if (again !== 'ok') expect(events).toEqual([]);
    });
    expect(allRows(twin)).toEqual(allRows(engine));
  }
});

test('reordered commands change outcomes, and invariants still hold', () => {
  for (const seed of SEEDS) {
    const life = drawLife(seed, { commands: 300 });
    const dice = Dice.of(seed, 'reorder');
    const engine = new Exchange(life.config);
    const commands = [...life.commands];
    for (let i = life.opening; i < commands.length - 1; i++) {
      // Swaps with one of the next ten commands, at that position's time.
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

test('a command with an earlier time is rejected before any change', () => {
  const life = drawLife('faults-clock', { commands: 200 });
  const { engine } = live(life);
  const [hash, chain, seq] = [engine.stateHash(), engine.chainHash(), engine.seq];
  expect(() => engine.apply({ kind: 'advanceTime', timeUs: timeUs(engine.nowUs - 1) })).toThrow(
    InvariantError,
  );
  expect(() => engine.apply({ kind: 'advanceTime', timeUs: timeUs(0.5) })).toThrow(InvariantError);
  expect([engine.stateHash(), engine.chainHash(), engine.seq]).toEqual([hash, chain, seq]);
});

test('a clock jump runs every timer at its own time, as small steps do', () => {
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
