import { describe, expect, it } from 'vitest';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import type { Command } from '../../src/engine/commands.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { quanta } from '../../src/num/units.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { Branch, type BranchComparison } from '../../src/time-machine/what-if/branch.ts';
import type { Edit } from '../../src/time-machine/what-if/edit.ts';
import { randomJournal, World } from './journals.ts';

function compare(timeline: Timeline, edits: readonly Edit[]): BranchComparison {
  timeline.index();
  const branch = new Branch(timeline, edits);
  while (!branch.run(64));
  return branch.comparison();
}

describe('a what-if', () => {
  it.each(PROFILE_NAMES)('that changes nothing has the same hash: %s', (profile) => {
    const { bytes, commands } = randomJournal('same', 150, { profile });
    const timeline = Timeline.open(bytes);
    const seq = Math.floor(commands / 2);
    const command = timeline.commandAt(seq)!;
    const result = compare(timeline, [{ kind: 'replace', seq, command }]);
    expect(result).toMatchObject({
      firstDivergence: null,
      outcomes: [],
      skipped: [],
      accounts: [],
    });
    expect(result.branchHash).toBe(result.baseHash);
    expect(result.fills.onlyBase).toEqual([]);
    expect(result.fills.base).toBe(result.fills.branch);
  });

  it('without a command is the run of the journal without it', () => {
    const { bytes } = randomJournal('drop2', 200, { profile: 'money' });
    const timeline = Timeline.open(bytes);
    const frames: Command[] = [];
    const reader = new JournalReader(bytes);
    for (let frame = reader.next(); frame !== null; frame = reader.next()) {
      if (frame.kind === 'command') frames.push(frame.command);
    }
    // The last price: no id changes after it.
    const at = frames.findLastIndex(({ kind }) => kind === 'setIndex');
    const result = compare(timeline, [{ kind: 'drop', seq: at + 1 }]);
    const { engine } = replay(bytes, { verify: false, untilSeq: at });
    for (const command of frames.slice(at + 1)) engine.apply(command);
    expect(result.branchHash).toBe(engine.chainHash());
    expect(result.branchHash).not.toBe(result.baseHash);
    expect(result.fromSeq).toBe(at + 1);
  });

  it('maps the orders of later commands, and leaves out those that it lacks', () => {
    const world = new World();
    const [maker, taker] = [world.user(100_000), world.user(100_000)];
    world.price(1000);
    const first = world.order(maker, -1, 1001);
    const second = world.order(maker, -1, 1002);
    const third = world.order(maker, -1, 1003);
    const cancelSecond = world.cancel(second);
    const buy = world.order(taker, 1, 1003);
    const result = compare(world.open(), [{ kind: 'drop', seq: first.seq }]);
    // The cancel still hits the order at 1002, and the buyer pays 1003.
    expect(result.skipped).toEqual([]);
    expect(result.fills.onlyBase.map(({ price }) => price)).toEqual(['1001', '1001']);
    expect(result.fills.onlyBranch.map(({ price }) => price)).toEqual(['1003', '1003']);
    expect(result.firstDivergence?.seq).toBe(first.seq);
    expect(
      result.accounts.map(({ account, difference }) => [account, Number(difference) > 0]),
    ).toEqual([
      ['u1', true],
      ['u2', false],
    ]);
    expect(third.seq + 1).toBe(cancelSecond.seq);
    expect(buy.seq).toBe(cancelSecond.seq + 1);
    const without = compare(world.open(), [{ kind: 'drop', seq: second.seq }]);
    expect(without.skipped).toEqual([cancelSecond.seq]);
  });

  it('moves, inserts and scales prices: who is liquidated changes', () => {
    const world = new World();
    const [maker, taker] = [world.user(1_000_000), world.user(100)];
    world.price(1000);
    world.order(maker, -1, 1000);
    world.order(taker, 1, 1000);
    world.price(995);
    const crash = world.price(890);
    world.price(990);
    const timeline = world.open();
    const quiet = compare(timeline, [
      {
        kind: 'scalePrices',
        market: 0,
        fromSeq: crash.seq,
        toSeq: crash.seq,
        factorPpm: 1_100_000,
      },
    ]);
    const liquidatedIn = ({ liquidations: { base, branch } }: BranchComparison) => [
      base.some(({ account }) => account === 'u2'),
      branch.some(({ account }) => account === 'u2'),
    ];
    expect(liquidatedIn(quiet)).toEqual([true, false]);
    const { command: deposit } = world.commands[2]!;
    const funded = compare(timeline, [
      {
        kind: 'insert',
        before: crash.seq,
        command: { ...deposit, amount: quanta(1_000_000_000n) } as Command,
      },
    ]);
    expect(liquidatedIn(funded)).toEqual([true, false]);
    const early = compare(timeline, [{ kind: 'move', seq: crash.seq, before: crash.seq - 1 }]);
    expect(liquidatedIn(early)).toEqual([true, true]);
    expect(early.firstDivergence?.seq).toBe(crash.seq - 1);
    const fees = compare(timeline, [
      { kind: 'config', changes: { liquidationFeePpm: 0 as never } },
    ]);
    expect(fees.fromSeq).toBe(1);
    expect(fees.branchHash).not.toBe('');
    expect(quiet.curves[0]?.points.length).toBeGreaterThan(1);
    expect(structuredClone(quiet)).toEqual(quiet);
  });
});
