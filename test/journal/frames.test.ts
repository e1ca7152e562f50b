import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { seq, timeUs } from '../../src/num/units.ts';
import { JournalError, JournalReader, JournalWriter } from '../../src/journal/format/frames.ts';
import { RecordedExchange } from '../../src/journal/replay/recorded-exchange.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const file = new URL('../../scenarios/self-trade.yaml', import.meta.url);
const parsed = parseScenario(readFileSync(file, 'utf8'), 'self-trade.yaml', keccak);
if (!parsed.ok) throw new Error('the scenario parses');
const { journal, chainHash } = runScenario(parsed.scenario, { keccak, addressOf: addressOfName });

/** Number of complete commands, or the error. */
function read(bytes: Uint8Array): { commands: number; torn: boolean } | { error: string } {
  try {
    const reader = new JournalReader(bytes);
    let commands = 0;
    for (let frame = reader.next(); frame !== null; frame = reader.next()) {
      if (frame.kind === 'command') commands += 1;
    }
    return { commands, torn: reader.torn !== null || !reader.ended };
  } catch (error) {
    expect(error).toBeInstanceOf(JournalError);
    return { error: (error as Error).message };
  }
}

const whole = read(journal) as { commands: number };

test('a complete journal is read to its end', () => {
  expect(whole).toEqual({ commands: expect.any(Number) as number, torn: false });
  expect(whole.commands).toBeGreaterThan(10);
  expect(replay(journal, { verify: true }).engine.chainHash()).toBe(chainHash);
});

test('truncated at any byte, a journal has a torn tail or is refused', () => {
  for (let length = 0; length < journal.length; length++) {
    const result = read(journal.subarray(0, length));
    if ('error' in result) expect(result.error).toMatch(/journal/);
    else {
      expect(result.torn).toBe(true);
      expect(result.commands).toBeLessThanOrEqual(whole.commands);
    }
  }
});

test('with any byte changed, a journal is refused or has a torn last frame', () => {
  for (let at = 0; at < journal.length; at++) {
    for (const bit of [1, 0x80]) {
      const changed = journal.slice();
      changed[at] = (changed[at] ?? 0) ^ bit;
      const result = read(changed);
      if ('error' in result) continue;
      expect(result.torn, `byte ${at}`).toBe(true);
      expect(result.commands).toBe(whole.commands);
    }
  }
});

test('a torn journal is replayed only with `recover`', () => {
  const torn = journal.subarray(0, journal.length - 5);
  expect(() => replay(torn, { verify: true })).toThrow(/torn tail/);
  expect(replay(torn, { verify: true, recover: true }).commands).toBe(whole.commands);
});

test('the refusal of a torn journal counts the commands before the tail', () => {
  const counts = Array.from({ length: journal.length }, (_, length) => {
    try {
      replay(journal.subarray(0, length), { verify: false });
    } catch (error) {
      return /; (the .* complete)/.exec((error as Error).message)?.[1];
    }
    return undefined;
  });
  expect(counts).toContain('the command before it is complete');
  expect(counts).toContain('the 2 commands before it are complete');
});

test('a wrong version or magic number is refused with a message', () => {
  expect(read(Uint8Array.from([1, 2, 3]))).toEqual({
    error: 'not a journal: byte 0 differs from the magic number',
  });
  expect(read(new Uint8Array(0))).toHaveProperty('error');
});

test('a wrong checkpoint is found, with both hashes', () => {
  const writer = new JournalWriter(DEFAULT_EXCHANGE_CONFIG);
  writer.append(seq(1), { kind: 'advanceTime', timeUs: timeUs(1_704_067_200_000_001) });
  writer.checkpoint(seq(1), timeUs(1_704_067_200_000_001), 'f'.repeat(64));
  const { mismatch } = replay(writer.bytes(), { verify: true });
  expect(mismatch).toMatchObject({ what: 'stateHash', seq: 1, expected: 'f'.repeat(64) });
});

test('sequence numbers and time never go back', () => {
  const writer = new JournalWriter(DEFAULT_EXCHANGE_CONFIG);
  writer.append(seq(2), { kind: 'advanceTime', timeUs: timeUs(5) });
  expect(read(writer.bytes())).toEqual({
    error: expect.stringContaining('sequence number 2 where 1 follows') as string,
  });
});

test.each(['end', 'chain', 'checkpoint'] as const)(
  'the time of a frame that is no command is that of the last command: %s',
  (kind) => {
    const writer = new JournalWriter(DEFAULT_EXCHANGE_CONFIG);
    const atUs = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
    writer.append(seq(1), { kind: 'advanceTime', timeUs: atUs });
    writer[kind](seq(1), timeUs(atUs + 3_600_000_000), '0'.repeat(32));
    expect(read(writer.bytes())).toMatchObject({
      error: expect.stringContaining(`where ${String(atUs)} is repeated`) as string,
    });
  },
);

test('a recorded exchange leaves a journal that replays to its hashes', () => {
  const recorded = new RecordedExchange(DEFAULT_EXCHANGE_CONFIG, { checkpointEvery: 2 });
  for (let i = 1; i <= 9; i++) {
    recorded.submit({ kind: 'advanceTime', timeUs: timeUs(1_704_067_200_000_000 + i) });
  }
  const result = replay(recorded.finish(), { verify: true });
  expect(result).toMatchObject({ commands: 9, checkpoints: 5, ended: true, mismatch: null });
  expect(result.engine.stateHash()).toBe(recorded.engine.stateHash());
});
