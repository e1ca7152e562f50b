/**
 * The reference of a deposit or withdrawal: it is in the journal and in the chain hash,
 * and commands without one keep their bytes and their hash.
 */
import { expect, test } from 'vitest';
import { RollingHash } from '../../../src/base/rolling-hash.ts';
import { hashCommand } from '../../../src/engine/chain-hash/hash-command.ts';
import type { Command } from '../../../src/engine/commands.ts';
import { COMMANDS, REFERENCED } from '../../../src/engine/schema/command-schema.ts';
import { ByteReader, ByteWriter } from '../../../src/journal/format/bytes.ts';
import {
  decodeBySchema,
  decodeCommand,
  describeCommand,
  encodeCommand,
} from '../../../src/journal/format/codec.ts';
import { parseCommand } from '../../../src/journal/format/command-json.ts';
import { changesOf } from './change-fields.ts';
import { COMMAND_EXAMPLES } from './command-examples.ts';

const DEPOSIT = COMMAND_EXAMPLES.deposit;
const WITHDRAW = COMMAND_EXAMPLES.withdraw;
const CASES = [
  [DEPOSIT, { ...DEPOSIT, reference: 'wire-17' }],
  [WITHDRAW, { ...WITHDRAW, reference: 'wire-17' }],
] as const;

function bytesOf(command: Command): Uint8Array {
  const writer = new ByteWriter(1);
  encodeCommand(writer, command);
  return writer.bytes();
}

function hashOf(command: Command): string {
  const hash = new RollingHash();
  hashCommand(hash, command);
  hash.commit();
  return hash.hex();
}

test.each(CASES)('a command without a reference keeps its tag and its bytes', (plain, named) => {
  const bytes = bytesOf(plain);
  expect(bytes[0]).toBe(COMMANDS[plain.kind].tag);
  // The fields are the same; the reference follows them.
  const withReference = bytesOf(named);
  expect(withReference[0]).toBe(REFERENCED[plain.kind].tag);
  expect(withReference.subarray(1, bytes.length)).toEqual(bytes.subarray(1));
  expect(withReference.length).toBe(bytes.length + 1 + 'wire-17'.length);
});

test('tags of commands with a reference are those of no other kind', () => {
  expect([REFERENCED.deposit.tag, REFERENCED.withdraw.tag]).toEqual([26, 27]);
  const tags = [...Object.values(COMMANDS), ...Object.values(REFERENCED)].map(({ tag }) => tag);
  expect(new Set(tags).size).toBe(tags.length);
});

test.each(CASES)('every field comes back from the journal and from JSON', (plain, named) => {
  const { body } = REFERENCED[named.kind];
  const altered = [...changesOf(body as never, named as never)] as { record: Command }[];
  expect(altered.length).toBeGreaterThan(4);
  for (const command of [plain, named, ...altered.map(({ record }) => record)]) {
    const bytes = bytesOf(command);
    for (const decode of [decodeCommand, decodeBySchema]) {
      expect(decode(new ByteReader(bytes), command.timeUs)).toEqual(command);
    }
  }
  for (const command of [plain, named]) {
    const text = JSON.stringify(describeCommand(command));
    expect(parseCommand(JSON.parse(text), command.timeUs)).toEqual(command);
  }
});

test.each(CASES)('every field reaches the chain hash', (plain, named) => {
  const { body } = REFERENCED[named.kind];
  const altered = [...changesOf(body as never, named as never)] as { record: Command }[];
  const all = [plain, named, ...altered.map(({ record }) => record)];
  const texts = new Set(all.map((one) => JSON.stringify(describeCommand(one))));
  expect(new Set(all.map(hashOf)).size).toBe(texts.size);
});

test('a reference of another kind is an unknown field', () => {
  expect(() => parseCommand({ kind: 'advanceTime', reference: 'x' }, DEPOSIT.timeUs)).toThrow(
    'reference: unknown field',
  );
});
