/** Arguments of a wrong kind, as a test in JavaScript has them: each is named, and nothing is green. */
import { expect, test } from 'vitest';
import { checkerOf } from '../../src/fuzz/checks/checks.ts';
import { allOf } from '../../src/fuzz/checker.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { FuzzError } from '../../src/fuzz/fuzz-error.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { failureFiles } from '../../src/fuzz/report/failure-files.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import { shrink } from '../../src/fuzz/shrink/shrink.ts';
import { sometimes } from '../../src/fuzz/sometimes.ts';
import { stateInvariants } from '../../src/fuzz/state-checker.ts';
import { streamInvariants } from '../../src/fuzz/stream-checker.ts';
import { InProcessClient } from '../../src/gateway/in-process-client.ts';

const PROFILE = drawProfile('arguments', { name: 'matching', commands: 60 });
const { config } = setUp(PROFILE);
/** The types refuse these values. */
const any = (value: unknown): never => value as never;

const REFUSED: readonly (readonly [string, () => unknown, string])[] = [
  ['a profile', () => drawProfile('a', { name: any('none') }), 'name: must be one of swarm, '],
  ['a seed', () => drawProfile(any(5)), 'seed: must be text'],
  ['a number of commands', () => drawProfile('a', { commands: -1 }), 'commands: must be a whole'],
  ['a text of commands', () => drawProfile('a', { commands: any('9') }), "from 1, not '9'"],
  ['a check', () => checkerOf([any('none')], config, { every: 1 }), 'state, stream, oracle'],
  ['no check', () => checkerOf([], config, { every: 1 }), 'checks: must be a list of state, '],
  ['one check', () => checkerOf(any('state'), config, { every: 1 }), 'checks: must be a list of'],
  ['another config', () => checkerOf(['state'], any(5), { every: 1 }), 'config: must be an object'],
  ['no intervals', () => checkerOf(['state'], config, any({})), 'intervals: must be an object'],
  ['an interval', () => checkerOf(['state'], config, { every: 0 }), 'every: must be a whole'],
  ['a rare interval', () => checkerOf(['state'], config, { every: 1, rarely: 0 }), 'rarely: must'],
  ['state, never', () => stateInvariants(0.5), 'every: must be a whole number from 1, not 0.5'],
  ['stream, never', () => streamInvariants(0), 'compareEvery: must be a whole number from 1'],
  ['no checker', () => runFuzz(PROFILE, any(undefined)), 'checker: must be an object with after'],
  ['no profile', () => runFuzz(any('swarm'), { after: () => null }), 'profile: must be an object'],
  ['no part', () => allOf(any(undefined)), 'checker: must be an object with after'],
  ['a state', () => sometimes({ mine: any({ evnt: 1 }) }), 'mine: event or after: must be a func'],
  ['no failure', () => shrink(any(null), any({})), 'failure: must be an object with violation'],
  ['no script', () => failureFiles(any({}), any({})), 'shrunk: must be an object with script'],
];

test.each(REFUSED)('%s', (_, call, text) => {
  expect(call).toThrow(FuzzError);
  expect(call).toThrow(text);
});

test.each([[true], ['bad'], [Promise.resolve(null)]])('the answer %s is no violation', (answer) => {
  const { failure } = runFuzz(PROFILE, { after: () => any(answer) });
  expect(failure?.violation.detail).toContain('the answer of a checker: must be an object');
});

test('a check of assertions answers nothing, and fails by its exception', () => {
  const passing = { after: () => any(undefined) };
  expect(runFuzz(PROFILE, allOf(passing, passing)).failure).toBeNull();
  const failing = {
    after: () => {
      throw new Error('mine');
    },
  };
  expect(runFuzz(PROFILE, failing).failure?.violation.detail).toBe('mine');
});

test('an endpoint that no exchange has is refused in the process as over HTTP', async () => {
  const client = new InProcessClient(any({}), null);
  await expect(client.call(any('nope'), any({}))).rejects.toMatchObject({ status: 404 });
});
