/** Failures that depend on an amount of money: a unit is built again with that amount. */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import type { Engine } from '../../src/engine/read/views.ts';
import { subaccountId } from '../../src/num/units.ts';
import type { Checker, Violation } from '../../src/fuzz/checker.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz, type Failure } from '../../src/fuzz/fuzz-run.ts';
import { rebuildUnits } from '../../src/fuzz/shrink/rebuild.ts';
import { shrink } from '../../src/fuzz/shrink/shrink.ts';
import { toScript } from '../../src/fuzz/shrink/script.ts';
import { Tester } from '../../src/fuzz/shrink/tester.ts';

const VIOLATION: Violation = {
  invariant: 'rareEquity',
  rule: 'a test',
  says: 'no unit with a position has this residue',
  detail: '',
};

/** A judge that dislikes one equity of 401, of units in one market with a position. */
function hasRareEquity(engine: Engine): boolean {
  for (let id = 6; id < engine.subaccountCount; id += 1) {
    const held = engine.positions(subaccountId(id));
    if (held.length !== 1 || held[0]?.isolated !== false) continue;
    if (engine.margin(subaccountId(id)).crossEquityQuanta % 401n === 7n) return true;
  }
  return false;
}

const judge = (fails: (engine: Engine) => boolean): Checker => ({
  after: (engine) => (fails(engine) ? VIOLATION : null),
});

/** A run that fails late. */
function findLate(): Failure {
  for (let run = 0; run < 40; run += 1) {
    const profile = drawProfile(`rebuild ${String(run)}`, { name: 'stress', commands: 600 });
    const { failure } = runFuzz(profile, judge(hasRareEquity));
    if (failure !== null && failure.commands.length > 150) return failure;
  }
  throw new Error('no run fails late');
}

const createEngine = (config: Failure['config']): Exchange => new Exchange(config);

test('a failure that depends on an amount of money is rebuilt by the commands that give it', () => {
  const failure = findLate();
  // The planted fault: a tester that refuses every script keeps the history.
  const script = toScript(failure, createEngine);
  const never = new Tester(VIOLATION, { createEngine, createChecker: () => judge(() => false) });
  expect(rebuildUnits(script, never)).toBe(script);
  expect(never.tests).toBeGreaterThan(0);
  const tester = new Tester(VIOLATION, { createEngine, createChecker: () => judge(hasRareEquity) });
  const rebuilt = rebuildUnits(script, tester);
  expect(rebuilt.steps.length).toBeLessThan(12);
  expect(tester.run(rebuilt)?.violation.invariant).toBe('rareEquity');
  expect(rebuildUnits(rebuilt, tester).steps.length).toBeLessThanOrEqual(rebuilt.steps.length);
});

test('an exchange whose reads throw is shrunk without being rebuilt', () => {
  class Unreadable extends Exchange {
    override positions(): never {
      throw new Error('positions cannot be read');
    }
  }
  const failure = findLate();
  const options = {
    createEngine: (config: Failure['config']): Exchange => new Unreadable(config),
    createChecker: (): Checker => judge((engine) => engine.seq >= 20),
  };
  const tester = new Tester(VIOLATION, options);
  expect(() => rebuildUnits(toScript(failure, options.createEngine), tester)).toThrow('be read');
  expect(shrink(failure, options).to).toBe(20);
});
