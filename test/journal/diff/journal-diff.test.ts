/** Comparison of two journals: finds the first difference, and none if they are equal. */
import { expect, test } from 'vitest';
import type { Command } from '../../../src/engine/commands.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { seq as seqOf, timeUs } from '../../../src/num/units.ts';
import { changedRows, lookAround } from '../../../src/journal/diff/around.ts';
import { diffJournals, type JournalDiff } from '../../../src/journal/diff/journal-diff.ts';
import { JournalWriter } from '../../../src/journal/format/frames.ts';
import { drawLife } from '../../metamorphic/life.ts';
import { journal, record as recordAll } from './recordings.ts';

const { config, commands: life } = drawLife('differences 4', {
  name: 'money',
  commands: 320,
  config: { vaultLockupMs: 3000 },
});
const record = (commands: readonly Command[], of = config, every = 50): Uint8Array =>
  recordAll(commands, of, every);

function diff(a: Uint8Array, b: Uint8Array): Promise<JournalDiff> {
  return diffJournals(journal('a', a), journal('b', b));
}

const withExtra = (commands: readonly Command[], at: number, extra: Command): Command[] => [
  ...commands.slice(0, at),
  { ...extra, timeUs: commands[at - 1]?.timeUs ?? timeUs(0) },
  ...commands.slice(at),
];

test('equal journals have no difference, and equal hashes', async () => {
  const bytes = record(life);
  const found = await diff(bytes, bytes);
  expect(found).toMatchObject({ same: true, firstCommand: null, firstEvent: null, recorded: null });
  expect(found.commonCommands).toBe(life.length);
  expect(found.a.chainHash).toMatch(/^[0-9a-f]{32}$/);
  expect(found.a.stateHash).toBe(found.b.stateHash);
});

test('the checkpoint interval makes no difference', async () => {
  const found = await diff(record(life, config, 50), record(life, config, 35));
  expect(found.same).toBe(true);
});

test('a journal that ends early is a prefix, and the first event after it is named', async () => {
  const shorter = life.slice(0, 200);
  const found = await diff(record(shorter), record(life));
  expect(found).toMatchObject({ same: false, prefix: 'a', commonCommands: 200 });
  expect(found.firstCommand?.a).toBeNull();
  expect(found.firstCommand?.b?.seq).toBe(201);
  expect(found.firstEvent?.a).toBeNull();
  expect(found.firstEvent?.b?.seq).toBeGreaterThan(200);
  expect((await diff(record(life), record(shorter))).prefix).toBe('b');
});

test('one changed field of a command is named, with the first event that it changes', async () => {
  const at = life.findIndex((command, i) => i > 100 && command.kind === 'setIndex');
  expect(at, 'the life sets an index').toBeGreaterThan(100);
  const changed = life.map((command, i) =>
    i === at && command.kind === 'setIndex'
      ? { ...command, priceTicks: command.priceTicks, text: 'changed' }
      : command,
  );
  // The text of an oracle price is for reads only and changes no event.
  const silent = await diff(record(life), record(changed));
  expect(silent.firstCommand?.fields).toMatchObject([{ field: 'text', b: 'changed' }]);
  expect(silent.firstEvent).toBeNull();
  const moved = life.map((command, i) =>
    i === at && command.kind === 'setIndex'
      ? { ...command, priceTicks: (command.priceTicks + 1) as typeof command.priceTicks }
      : command,
  );
  const found = await diff(record(life), record(moved));
  expect(found.firstCommand).toMatchObject({
    a: { seq: at + 1 },
    fields: [{ field: 'priceTicks' }],
  });
  expect(found.firstEvent?.a).toMatchObject({ kind: 'oracleSet', seq: at + 1 });
  expect(found.firstEvent?.fields.map(({ field }) => field)).toEqual(['indexTicks']);
});

test('commands without events are skipped, and final states agree', async () => {
  const extra: Command = { kind: 'advanceTime', timeUs: timeUs(0) };
  const found = await diff(record(life), record(withExtra(life, 150, extra)));
  expect(found).toMatchObject({ same: false, prefix: null, commonCommands: 150, state: [] });
  expect(found.firstEvent).toBeNull();
});

test('a state difference without an event is named', async () => {
  const last = life.at(-1);
  const later: Command = { kind: 'advanceTime', timeUs: timeUs((last?.timeUs ?? 0) + 1) };
  const found = await diff(record(life), record([...life, later]));
  expect(found.prefix).toBe('a');
  expect(found.state).toMatchObject([{ subject: 'exchange', field: 'now (µs)' }]);
});

test('differing configurations are named by field, with their first effect', async () => {
  const other = { ...config, vaultLockupUs: 1 as typeof config.vaultLockupUs };
  const found = await diff(record(life), record(life, other));
  expect(found.config).toEqual([{ field: 'vaultLockupUs', a: '3000000', b: '1' }]);
  expect(found.same).toBe(false);
  expect(found.firstCommand).toBeNull();
  expect(found.firstEvent?.a?.kind).toBe('vaultSharesChanged');
  expect(found.firstEvent?.fields.map(({ field }) => field)).toEqual(['lockupEndsAtUs']);
});

test('reading around a command can be cancelled', async () => {
  const one = journal('a', record(life.slice(0, 40)));
  let asked = 0;
  const around = await lookAround(one, Infinity, 2, {
    cancelled: () => {
      asked += 1;
      return true;
    },
  });
  // The run is too short for a poll.
  expect(asked).toBe(0);
  expect(around?.command).toBeNull();
  const long = journal('b', record(Array.from({ length: 1500 }, (_, i) => life[Math.min(i, 2)]!)));
  expect(await lookAround(long, Infinity, 2, { cancelled: () => true })).toBeNull();
});

test('the states around a command show differences and changes', async () => {
  const at = life.findIndex((command, i) => i > 60 && command.kind === 'deposit');
  const changed = life.map((command, i) =>
    i === at && command.kind === 'deposit'
      ? { ...command, amount: (command.amount + 1_000_000n) as typeof command.amount }
      : command,
  );
  const [a, b] = [journal('a', record(life)), journal('b', record(changed))];
  const found = await diffJournals(a, b);
  const seq = found.firstEvent?.a?.seq ?? 0;
  expect(seq).toBe(at + 1);
  const around = { a: (await lookAround(a, seq, 2))!, b: (await lookAround(b, seq, 2))! };
  expect(around.a.earlier.map((entry) => entry.seq)).toEqual([at - 1, at]);
  expect(around.b.later.map((entry) => entry.seq)).toEqual([at + 2, at + 3]);
  const cash = changedRows(around.a, around.b).find(({ field }) => field === 'cash');
  expect(cash?.beforeA).toBe(cash?.beforeB);
  expect(Number(cash?.afterB) - Number(cash?.afterA)).toBeCloseTo(1, 6);
});

test('a hash recorded by another engine differs from the replayed one', async () => {
  const forged = (what: 'checkpoint' | 'end'): Uint8Array => {
    const writer = new JournalWriter(config);
    const engine = new Exchange(config);
    for (const command of life) {
      writer.append(seqOf(engine.seq + 1), command);
      engine.apply(command);
      if (engine.seq !== 50) continue;
      const hash = what === 'checkpoint' ? 'f'.repeat(64) : engine.stateHash();
      writer.checkpoint(engine.seq, engine.nowUs, hash);
    }
    writer.end(engine.seq, engine.nowUs, what === 'end' ? 'e'.repeat(32) : engine.chainHash());
    return writer.bytes();
  };
  const good = record(life);
  const checkpoint = await diff(good, forged('checkpoint'));
  expect(checkpoint.recorded).toMatchObject({ what: 'stateHash', seq: 50, b: 'f'.repeat(64) });
  expect(checkpoint.recorded?.a).toBe(checkpoint.recorded?.computed);
  const end = await diff(good, forged('end'));
  expect(end).toMatchObject({ same: false, recorded: { what: 'chainHash', b: 'e'.repeat(32) } });
  expect(end.recorded?.a).toBe(end.recorded?.computed);
});

test('a chain hash of a journal that was not closed differs from the replayed one', async () => {
  const served = (wrongAt: number | null, chainEvery = 40): Uint8Array => {
    const writer = new JournalWriter(config);
    const engine = new Exchange(config);
    for (const command of life) {
      writer.append(seqOf(engine.seq + 1), command);
      engine.apply(command);
      if (engine.seq % chainEvery !== 0) continue;
      const hash = engine.seq === wrongAt ? 'd'.repeat(32) : engine.chainHash();
      writer.chain(engine.seq, engine.nowUs, hash);
    }
    return writer.bytes();
  };
  const good = served(null);
  expect(await diff(good, served(null, 30))).toMatchObject({ same: true, recorded: null });
  const wrong = { what: 'chainHash', seq: 80 };
  const forged = await diff(good, served(80));
  expect(forged).toMatchObject({ same: false, recorded: { ...wrong, b: 'd'.repeat(32) } });
  expect(forged.recorded?.a).toBe(forged.recorded?.computed);
  const alone = await diff(served(80), record(life));
  expect(alone).toMatchObject({ same: false, recorded: { ...wrong, a: 'd'.repeat(32), b: null } });
  const last = await diff(good, served(life.length));
  expect(last).toMatchObject({ same: false, recorded: { seq: life.length } });
});
