/**
 * The generator: valid profiles from any seed, deterministic runs, commands that a journal can
 * store, and good coverage.
 */
import { expect, test } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { allOf } from '../../src/fuzz/checker.ts';
import { describeProfile, PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { addCounts, ReachedCounts, type Counts } from '../../src/fuzz/reached-counts.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import { stateInvariants } from '../../src/fuzz/state-checker.ts';
import { streamInvariants } from '../../src/fuzz/stream-checker.ts';
import { ByteReader, ByteWriter } from '../../src/journal/format/bytes.ts';
import { decodeCommand, encodeCommand } from '../../src/journal/format/codec.ts';
import { EFFORT } from '../setup/effort.ts';

test('every seed draws a valid profile with a readable description', () => {
  for (let i = 0; i < 700; i++) {
    const profile = drawProfile(`sound ${i}`, { name: PROFILE_NAMES[i % PROFILE_NAMES.length]! });
    const { specs, opening } = setUp(profile);
    expect(specs.length).toBeGreaterThan(0);
    expect(opening.length).toBeLessThan(profile.commands);
    expect(describeProfile(profile)).toContain(`seed sound ${i}`);
    expect(JSON.parse(JSON.stringify(profile))).toEqual(profile);
  }
});

test('the same seed yields the same run, another seed a different one', () => {
  const hashOf = (seed: string): string =>
    runFuzz(drawProfile(seed, { commands: 1500 }), stateInvariants(500)).engine.chainHash();
  expect(hashOf('one')).toBe(hashOf('one'));
  expect(hashOf('one')).not.toBe(hashOf('two'));
});

test('a journal stores every generated command', () => {
  for (const name of PROFILE_NAMES) {
    const profile = drawProfile('journal', { name, commands: 2000 });
    runFuzz(profile, {
      after: (_engine, command) => {
        const writer = new ByteWriter(1);
        encodeCommand(writer, command);
        expect(decodeCommand(new ByteReader(writer.bytes()), command.timeUs)).toEqual(command);
        return null;
      },
    });
  }
});

test('every invariant holds after every command of every kind of run, with good coverage', () => {
  const reached = new Set<string>();
  for (let i = 0; i < 28 * EFFORT; i++) {
    const profile = drawProfile(`holds ${i}`, {
      name: PROFILE_NAMES[i % PROFILE_NAMES.length]!,
      commands: 500,
    });
    const watch = {
      onEvent: (event: EngineEvent): void => {
        const what = 'step' in event ? event.step : 'reason' in event ? event.reason : '';
        reached.add(`${event.kind} ${String(what)}`);
      },
      after: () => null,
    };
    const { failure } = runFuzz(profile, allOf(stateInvariants(), streamInvariants(25), watch));
    expect(failure?.violation, describeProfile(profile)).toBeUndefined();
  }
  for (const far of ['order', 'takeover', 'adl', 'insurance', 'safe']) {
    expect([...reached]).toContain(`liquidationStep ${far}`);
  }
});

test('crisis reaches shortfalls, their repayment, and money that moves meanwhile', () => {
  let counts: Counts = {};
  let shared = 0;
  for (let i = 0; i < 10; i++) {
    const reached = new ReachedCounts();
    const share = {
      onEvent: (event: EngineEvent): void => {
        const isShortfall = event.kind === 'balanceChanged' && event.reason === 'shortfall';
        if (isShortfall && event.deltaQuanta > 0n) shared += 1;
      },
      after: () => null,
    };
    const profile = drawProfile(`crisis ${i}`, { name: 'crisis', commands: 1500 });
    expect(runFuzz(profile, allOf(reached, share)).failure).toBeNull();
    counts = addCounts(counts, reached.counts());
  }
  for (const step of ['insurance', 'adl', 'takeover', 'shortfall', 'safe']) {
    expect(counts[`event liquidationStep ${step}`], step).toBeGreaterThan(0);
  }
  expect(counts['event balanceChanged insuranceRepaid']).toBeGreaterThan(0);
  expect(shared).toBeGreaterThan(10);
});

test('requests name accounts, markets and orders of others', () => {
  const refused = new Set<string>();
  const parents = new Set<string>();
  for (let i = 0; i < 16; i++) {
    const name = i % 2 === 0 ? 'money' : 'groups';
    const profile = drawProfile(`other ${i}`, { name, commands: 4000 });
    runFuzz(profile, {
      before: (engine, command) => {
        if (command.kind !== 'placeOrders') return;
        for (const { parent } of command.orders) {
          const order = parent === null ? undefined : engine.order(parent);
          if (order === undefined) continue;
          const [own, other] = [command.subaccount, order.subaccount].map((id) =>
            id < engine.subaccountCount ? engine.subaccount(id).account : null,
          );
          if (command.subaccount !== order.subaccount) {
            parents.add(own === other ? 'of another subaccount' : 'of another account');
          }
        }
      },
      after: (engine, command, outcome) => {
        if (outcome === 'ok' || command.kind !== 'transfer') return null;
        const isOfVault = command.from === engine.config.clsAccount;
        if (isOfVault && command.market !== null) refused.add('cash of the vault from a market');
        return null;
      },
    });
  }
  expect([...refused]).toEqual(['cash of the vault from a market']);
  expect([...parents].sort()).toEqual(['of another account', 'of another subaccount']);
});

test('numbers of recorded orders are used again while the orders live', () => {
  let reused = 0;
  for (let i = 0; i < 6; i += 1) {
    const drawn = drawProfile(`recorded ${String(i)}`, { name: 'tape', commands: 600 });
    const profile = { ...drawn, faultPermille: 0, mix: { ...drawn.mix, single: 40 } };
    const live = new Set<string>();
    runFuzz(profile, {
      after: (_engine, command, outcome) => {
        if (outcome !== 'ok') return null;
        const isOther = command.kind.startsWith('tape') && command.kind !== 'tapeL3';
        if (isOther) live.clear();
        if (command.kind !== 'tapeL3') return null;
        const { action, market, ref } = command;
        const order = `${String(market)} ${String(ref)}`;
        if (action === 'add' && live.has(order)) reused += 1;
        if (action === 'add') live.add(order);
        else live.delete(order);
        return null;
      },
    });
  }
  expect(reused).toBeGreaterThan(10);
});
