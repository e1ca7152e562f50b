/** Runs that fail late, at an event with a rare number. */
import { Exchange } from '../../src/engine/exchange.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import type { Checker, Violation } from '../../src/fuzz/checker.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz, type Failure } from '../../src/fuzz/fuzz-run.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { toScript, type Script } from '../../src/fuzz/shrink/script.ts';
import { Tester } from '../../src/fuzz/shrink/tester.ts';

const VIOLATION: Violation = {
  invariant: 'rareNumber',
  rule: 'a test',
  says: 'no event has this number',
  detail: '',
};

/** Whether an event has a rare number. */
export type Rare = (event: EngineEvent) => boolean;

/** A fill of one size of 97. */
export const rareSize: Rare = (event) =>
  event.kind === 'tradePrinted' && Math.abs(event.lots) % 97 === 13;

/** A payment of funding of one amount of 97. */
export const rarePayment: Rare = (event) =>
  'reason' in event &&
  event.reason === 'funding' &&
  'deltaQuanta' in event &&
  event.deltaQuanta % 97n === 13n;

const createEngine = (config: Failure['config']): Exchange => new Exchange(config);

function checkerOf(isRare: Rare): Checker {
  let found = false;
  return {
    onEvent: (event) => {
      if (isRare(event)) found = true;
    },
    after: () => (found ? VIOLATION : null),
  };
}

export function lateFailures(isRare: Rare, name: ProfileName): Script[] {
  return Array.from({ length: 40 }, (_, run) => {
    const profile = drawProfile(`late ${String(run)}`, { name, commands: 1000 });
    const { failure } = runFuzz(profile, checkerOf(isRare));
    return failure !== null && failure.commands.length > 300
      ? [toScript(failure, createEngine)]
      : [];
  }).flat();
}

export const testerOf = (isRare: Rare): Tester =>
  new Tester(VIOLATION, { createEngine, createChecker: () => checkerOf(isRare) });

/** The planted fault: no script fails again. */
export const neverTester = (): Tester => testerOf(() => false);
