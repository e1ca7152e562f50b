/** Shrinking of failures that last for weeks, and of those that show earlier when repeated. */
import { expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { address, quanta, timeUs } from '../../src/num/units.ts';
import type { Checker, Violation } from '../../src/fuzz/checker.ts';
import type { Failure } from '../../src/fuzz/fuzz-run.ts';
import { shrink } from '../../src/fuzz/shrink/shrink.ts';

const VIOLATION: Violation = {
  invariant: 'oddDeposit',
  rule: 'a test',
  says: 'no deposit ends with 7',
  detail: '',
};
const config = DEFAULT_EXCHANGE_CONFIG;
const HOUR_US = 3_600_000_000;
/** Commands of shrinking until its limit. */
const LIMIT = 150;

/** Deposits an hour apart, the last of which is odd. */
function failureOf400(): Failure {
  const commands = Array.from({ length: 400 }, (_, i): Command => ({
    kind: 'deposit',
    timeUs: timeUs(config.genesisTimeUs + i * HOUR_US),
    account: address(`0x${String(i % 9).repeat(40)}`),
    subaccountIndex: 0,
    amount: quanta(BigInt(i < 399 ? 10 * i + 1 : 17)),
  }));
  return { violation: VIOLATION, config, commands };
}

/** `needsUs`: the least time it needs. */
function failureOf(needsUs: number) {
  const spans: number[] = [];
  const checker: Checker = {
    after: (engine, command) => {
      if (command.kind !== 'deposit' || command.amount % 10n !== 7n) return null;
      return engine.nowUs - config.genesisTimeUs < needsUs ? null : VIOLATION;
    },
  };
  const shrunk = shrink(failureOf400(), {
    createEngine: (settings) => new Exchange(settings),
    createChecker: () => ({
      ...checker,
      after: (engine, command, outcome) => {
        if (spans.length === 0 || engine.seq === 1) spans.push(0);
        spans[spans.length - 1] = engine.nowUs - config.genesisTimeUs;
        return checker.after(engine, command, outcome);
      },
    }),
  });
  return { shrunk, long: spans.filter((us) => us > 10 * HOUR_US).length };
}

test('only the first execution of a failure without need of time lasts for weeks', () => {
  const { shrunk, long } = failureOf(0);
  expect(shrunk.to).toBe(1);
  expect(long).toBe(1);
});

test('a failure that needs time keeps it', () => {
  const { shrunk } = failureOf(3 * HOUR_US);
  expect(shrunk.to).toBe(1);
  const [step] = shrunk.script.steps;
  expect(step!.command.timeUs - config.genesisTimeUs).toBeGreaterThanOrEqual(3 * HOUR_US);
});

test('a failure that shows earlier by another difference shrinks to that one', () => {
  const commands = Array.from({ length: 20 }, (_, i): Command => ({
    kind: 'deposit',
    timeUs: timeUs(config.genesisTimeUs),
    account: address(`0x${'1'.repeat(40)}`),
    subaccountIndex: 0,
    amount: quanta(BigInt(i + 1)),
  }));
  // The run was checked at its end only.
  const failure: Failure = { violation: VIOLATION, config, commands };
  const earlier: Violation = { ...VIOLATION, invariant: 'sevenDeposited' };
  const shrinkWith = (found: Violation | null) =>
    shrink(failure, {
      createEngine: (settings) => new Exchange(settings),
      createChecker: () => ({
        after: (_engine, command) =>
          command.kind === 'deposit' && command.amount === 7n ? found : null,
      }),
    });
  const { violation, to } = shrinkWith(earlier);
  expect([violation.invariant, to]).toEqual(['sevenDeposited', 1]);
  expect(() => shrinkWith(null)).toThrow('the failure is not reproducible: oddDeposit');
});

test('the limit ends an execution, and the result keeps its own violation', () => {
  const limits = { first: 0, after: 0 };
  const passed = { commands: 0, isFirst: true };
  const shrunk = shrink(failureOf400(), {
    createEngine: (settings) => new Exchange(settings),
    createChecker: () => ({
      after: (engine, command) => {
        passed.commands += 1;
        if (passed.isFirst) limits.first = passed.commands;
        else limits.after += passed.commands > limits.first + LIMIT ? 1 : 0;
        if (command.kind !== 'deposit' || command.amount !== 17n) return null;
        passed.isFirst = false;
        return { ...VIOLATION, detail: `at ${String(engine.seq)}` };
      },
    }),
    cancelled: () => !passed.isFirst && passed.commands >= limits.first + LIMIT,
  });
  expect(shrunk.complete).toBe(false);
  expect(limits.after).toBe(0);
  expect(shrunk.violation.detail).toBe(`at ${String(shrunk.to)}`);
});
