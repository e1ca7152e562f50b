/** Arguments of a wrong kind, as a test in JavaScript has them: each is named, and nothing is green. */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { fuzzProfiles, twinCommands } from '../../src/fuzz/arbitraries.ts';
import { checkCommands, checkJournal, journalOf } from '../../src/fuzz/check-journal.ts';
import { checkerOf } from '../../src/fuzz/checks/checks.ts';
import { allOf } from '../../src/fuzz/checker.ts';
import { statesNeverReached } from '../../src/fuzz/coverage.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { FuzzError } from '../../src/fuzz/fuzz-error.ts';
import { runFuzz, type Failure } from '../../src/fuzz/fuzz-run.ts';
import { CommandGenerator } from '../../src/fuzz/generator.ts';
import { oracleLockstep } from '../../src/fuzz/oracle-checker.ts';
import { describeProfile } from '../../src/fuzz/profile.ts';
import { addCounts, neverReached } from '../../src/fuzz/reached-counts.ts';
import { failureFiles } from '../../src/fuzz/report/failure-files.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import { commandsOf } from '../../src/fuzz/shrink/script.ts';
import { shrink } from '../../src/fuzz/shrink/shrink.ts';
import { sometimes } from '../../src/fuzz/sometimes.ts';
import { stateInvariants } from '../../src/fuzz/state-checker.ts';
import { streamInvariants } from '../../src/fuzz/stream-checker.ts';
import { driveHost } from '../../src/fuzz/twin/drive.ts';
import { InProcessHost } from '../../src/fuzz/twin/in-process-host.ts';
import { TwinModel } from '../../src/fuzz/twin/twin-model.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { InProcessClient } from '../../src/gateway/in-process-client.ts';

const PROFILE = drawProfile('arguments', { name: 'matching', commands: 60 });
const { config } = setUp(PROFILE);
/** The types refuse these values. */
const any = (value: unknown): never => value as never;
const CHECK = { after: () => null };
const ENGINE = new Exchange(config);
const FAILURE: Failure = {
  violation: { invariant: 'i', rule: 'R-1.1', says: 's', detail: 'd' },
  config,
  commands: [],
};
const MAKERS = { createEngine: 1, createChecker: () => CHECK };
const SCRIPT = {
  config,
  names: { subaccounts: [], accounts: [], markets: [], orders: new Map() },
  steps: [],
};
const SHRUNK = any({ script: SCRIPT, violation: FAILURE.violation });
const FILES = { createEngine: () => ENGINE, keccak, origin: [] };
const SIDES = { config, markets: [], users: [], keccak };
const HOST = new InProcessHost(config, [], keccak);

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
  ['a list of options', () => drawProfile('a', any(null)), 'options: must be an object, not null'],
  ['counts', () => addCounts(any(undefined), {}), 'a: must be an object, not undefined'],
  ['a count', () => addCounts({}, any({ x: '1' })), "b: x must be a number, not '1'"],
  ['no counts', () => neverReached(any(null)), 'counts: must be an object, not null'],
  ['a text of counts', () => statesNeverReached(any('x')), "counts: must be an object, not 'x'"],
  ['no states', () => sometimes(any(undefined)), 'states: must be an object, not undefined'],
  ['a state of text', () => sometimes({ mine: any('x') }), "mine: must be an object, not 'x'"],
  ['the oracle of nothing', () => oracleLockstep(any(null)), 'config: must be an object with'],
  ['oracle options', () => oracleLockstep(config, any(1)), 'options: must be an object, not 1'],
  ['to describe nothing', () => describeProfile(any(undefined)), 'profile: must be an object with'],
  ['a part of a profile', () => describeProfile(any({ ...PROFILE, mix: 1 })), 'profile.mix: must'],
  ['a list of a profile', () => runFuzz(any({ ...PROFILE, deposits: 1 }), CHECK), 'deposits: must'],
  ['run options', () => runFuzz(PROFILE, CHECK, any(null)), 'options: must be an object, not null'],
  [
    'an engine',
    () => runFuzz(PROFILE, CHECK, { createEngine: any(1) }),
    'createEngine: must be a f',
  ],
  [
    'a callback',
    () => runFuzz(PROFILE, CHECK, { onCommand: any('x') }),
    'onCommand: must be a func',
  ],
  ['a config of a journal', () => journalOf(any({}), []), 'config: must be an object with genesis'],
  ['commands of a journal', () => journalOf(config, any('x')), "commands: must be a list, not 'x'"],
  ['a command', () => journalOf(config, [any(null)]), 'commands[0]: must be an object with kind'],
  ['commands to check', () => checkCommands(config, any({})), 'commands: must be a list, not {  }'],
  ['check options', () => checkCommands(config, [], any(null)), 'options: must be an object'],
  ['no interval', () => checkCommands(config, [], { every: any('1') }), 'every: must be a whole'],
  [
    'a checker',
    () => checkCommands(config, [], { checker: any({}) }),
    'checker: must be an object',
  ],
  ['journal options', () => checkJournal(journalOf(config, []), any(7)), 'options: must be an obj'],
  ['a script of text', () => commandsOf(any('x'), any(0)), 'script: must be an object with config'],
  ['an engine of a script', () => commandsOf(SCRIPT, any(0)), 'createEngine: must be a function'],
  ['a generator', () => new CommandGenerator(any(null), any(null)), 'profile: must be an object'],
  ['a view', () => new CommandGenerator(PROFILE, any({})), 'view: must be an object with config'],
  [
    'a setup',
    () => new CommandGenerator(PROFILE, ENGINE, any({})),
    'setup: must be an object with',
  ],
  [
    'a violation',
    () => shrink(any({ ...FAILURE, violation: 1 }), any({})),
    'violation: must be an',
  ],
  [
    'failed commands',
    () => shrink(any({ ...FAILURE, commands: 1 }), any({})),
    'commands: must be a',
  ],
  ['shrink engines', () => shrink(FAILURE, any(MAKERS)), 'createEngine: must be a function, not 1'],
  ['files', () => failureFiles(SHRUNK, any({ ...FILES, keccak: 1 })), 'keccak: must be a function'],
  [
    'an origin',
    () => failureFiles(SHRUNK, any({ ...FILES, origin: 'x' })),
    'origin: must be a list',
  ],
  ['a model', () => new TwinModel(any(undefined)), 'options: must be an object with config and'],
  [
    'markets',
    () => new TwinModel(any({ ...SIDES, markets: [5] })),
    'markets[0]: must be an object',
  ],
  ['users', () => new TwinModel(any({ ...SIDES, users: [5] })), 'users[0]: must be text, not 5'],
  ['a host', () => new InProcessHost(config, any(1), keccak), 'markets: must be a list, not 1'],
  ['a hash', () => new InProcessHost(config, [], any(1)), 'keccak: must be a function, not 1'],
  ['an endpoint', () => HOST.call(any('x'), {}, null), 'endpoint: must be one of '],
  ['a verb', () => HOST.sim(any('x'), {}), 'verb: must be one of deposit, withdraw, oracle, mark'],
  ['fields', () => HOST.sim('clock', any(null)), 'fields: must be an object, not null'],
  ['profiles', () => fuzzProfiles(any('none')), 'name: must be one of swarm, '],
  ['constraints', () => twinCommands(any(null)), 'constraints: must be an object, not null'],
];

test.each(REFUSED)('%s', (_, call, text) => {
  expect(call).toThrow(FuzzError);
  expect(call).toThrow(text);
});

test.each([
  ['a profile', any(null), any({}), 'profile: must be an object with name'],
  ['no options', PROFILE, any(undefined), 'options: must be an object with host and config'],
  ['a host', PROFILE, any({ ...SIDES, host: {} }), 'host: must be an object with call and sim'],
  ['users', PROFILE, any({ ...SIDES, host: HOST, users: 'x' }), "users: must be a list, not 'x'"],
])('a drive refuses %s', async (_, profile, options, text) => {
  const refused = driveHost(profile, options);
  await expect(refused).rejects.toThrow(FuzzError);
  await expect(refused).rejects.toThrow(text);
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
