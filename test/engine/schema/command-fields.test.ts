/**
 * Every field of every command reaches the chain hash, the journal and the JSON form, by
 * hand-written code and by the schema.
 */
import { expect, test } from 'vitest';
import { RollingHash } from '../../../src/base/rolling-hash.ts';
import { hashCommand, hashCommandBySchema } from '../../../src/engine/chain-hash/hash-command.ts';
import { recordHasher } from '../../../src/engine/chain-hash/hash-record.ts';
import type { Command, CommandKind } from '../../../src/engine/commands.ts';
import { COMMANDS } from '../../../src/engine/schema/command-schema.ts';
import { ID_UNITS, type RecordShape } from '../../../src/engine/schema/field-types.ts';
import { idsOf } from '../../../src/engine/schema/map-ids.ts';
import { ByteReader, ByteWriter } from '../../../src/journal/format/bytes.ts';
import {
  decodeBySchema,
  decodeCommand,
  describeCommand,
  encodeBySchema,
  encodeCommand,
} from '../../../src/journal/format/codec.ts';
import { recordReader, recordWriter } from '../../../src/journal/format/record-codec.ts';
import { timeUs } from '../../../src/num/units.ts';
import { changesOf, pathsOf, textOf, type Change } from './change-fields.ts';
import { COMMAND_EXAMPLES } from './command-examples.ts';
import { withoutOneWord } from './planted-omissions.ts';

const KINDS = Object.keys(COMMANDS) as CommandKind[];
type HashOf = (hash: RollingHash, command: Command) => void;

function hexOf(hashOf: HashOf, command: Command): string {
  const hash = new RollingHash();
  hashOf(hash, command);
  hash.commit();
  return hash.hex();
}

/** Changed fields that leave the hash as it was, or give that of another change. */
function unseenByHash(hashOf: HashOf, command: Command): string[] {
  return unseen(command, (changed) => hexOf(hashOf, changed));
}

function unseen(command: Command, imageOf: (command: Command) => string): string[] {
  const images = new Map([[imageOf(command), textOf(command)]]);
  const paths = new Set<string>();
  for (const { path, record } of changes(command)) {
    const image = imageOf(record);
    const text = textOf(record);
    if ((images.get(image) ?? text) !== text) paths.add(path);
    images.set(image, text);
  }
  return [...paths];
}

function changes(command: Command): Change<Command>[] {
  return [...changesOf(COMMANDS[command.kind].body, command)];
}

test.each(KINDS)('every field of %s has changes that are tried', (kind) => {
  const tried = new Set(
    changes(COMMAND_EXAMPLES[kind]).map(({ path }) => path.replaceAll(/\.\d+/g, '')),
  );
  expect([...tried].sort()).toEqual([...new Set(pathsOf(COMMANDS[kind].body))].sort());
});

test.each(KINDS)('every field of %s and its time reach the chain hash', (kind) => {
  const example = COMMAND_EXAMPLES[kind];
  expect(unseenByHash(hashCommand, example)).toEqual([]);
  const later = { ...example, timeUs: timeUs(example.timeUs + 1) };
  expect(hexOf(hashCommand, later)).not.toBe(hexOf(hashCommand, example));
});

test.each(KINDS)('hand-written code and the schema give %s one chain hash', (kind) => {
  const example: Command = COMMAND_EXAMPLES[kind];
  for (const { record } of [{ record: example }, ...changes(example)]) {
    expect(hexOf(hashCommand, record)).toBe(hexOf(hashCommandBySchema, record));
  }
});

test.each(KINDS)('every field of %s reaches the journal and comes back from it', (kind) => {
  const example: Command = COMMAND_EXAMPLES[kind];
  for (const { record } of [{ record: example }, ...changes(example)]) {
    const writer = new ByteWriter(1);
    encodeCommand(writer, record);
    const bytes = writer.bytes();
    const writerBySchema = new ByteWriter(1);
    encodeBySchema(writerBySchema, record);
    expect(writerBySchema.bytes()).toEqual(bytes);
    for (const decode of [decodeCommand, decodeBySchema]) {
      const decoded = decode(new ByteReader(bytes), record.timeUs);
      expect(decoded).toEqual(record);
      expect(Object.keys(decoded)).toEqual(Object.keys(record));
    }
  }
});

test.each(KINDS)('every field of %s reaches its JSON form', (kind) => {
  expect(unseen(COMMAND_EXAMPLES[kind], (command) => textOf(describeCommand(command)))).toEqual([]);
});

test('no two commands of all kinds and changes have one hash', () => {
  const all = KINDS.flatMap((kind) => [
    COMMAND_EXAMPLES[kind],
    ...changes(COMMAND_EXAMPLES[kind]).map(({ record }) => record),
  ]);
  const texts = new Set(all.map(textOf));
  expect(new Set(all.map((command) => hexOf(hashCommand, command))).size).toBe(texts.size);
  expect(texts.size).toBeGreaterThan(400);
});

test.each(KINDS)('a chain hash of %s that lacks a word is found, with its fields', (kind) => {
  const { body, tag } = COMMANDS[kind];
  for (const { shape, lost } of withoutOneWord(body)) {
    const hashBody = recordHasher(shape);
    const faulty: HashOf = (hash, command) => {
      hash.intNum(tag, command.timeUs);
      hashBody(hash, command);
    };
    const found = unseenByHash(faulty, COMMAND_EXAMPLES[kind]);
    expect(found.map((path) => path.replaceAll(/\.\d+/g, ''))).toEqual(
      expect.arrayContaining([...lost]),
    );
  }
});

test.each(KINDS)('a journal of %s that lacks a field is found', (kind) => {
  const { body } = COMMANDS[kind];
  const example: Command = COMMAND_EXAMPLES[kind];
  const returns = (faulty: RecordShape, command: Command): boolean => {
    const writer = new ByteWriter(1);
    recordWriter(faulty)(writer, command);
    const read = { kind, timeUs: command.timeUs, ...body.template };
    recordReader(faulty)(new ByteReader(writer.bytes()), read);
    return textOf(read) === textOf(command);
  };
  const commands = [example, ...changes(example).map(({ record }) => record)];
  expect(commands.every((command) => returns(body, command))).toBe(true);
  for (const [i] of body.written.entries()) {
    const faulty = { ...body, written: body.written.filter((_, j) => j !== i) };
    expect(commands.every((command) => returns(faulty, command))).toBe(false);
  }
});

test('ids of commands are those that the shrinker renumbers', () => {
  const found = KINDS.map((kind) => {
    const ids = ID_UNITS.map((unit) => {
      const { length } = idsOf(COMMANDS[kind].body, withoutNulls(COMMAND_EXAMPLES[kind]), unit);
      return length === 0 ? '' : ` ${unit}×${String(length)}`;
    });
    return `${kind}${ids.join('')}`;
  });
  expect(found).toEqual([
    'placeOrder marketId×1 subaccountId×1 accountId×1',
    'cancelOrder orderId×1',
    'advanceTime',
    'tapeDepth marketId×1',
    'tapeTrade marketId×1',
    'setIndex marketId×1',
    'setMark marketId×1',
    'cancelAll marketId×1 subaccountId×1',
    'deposit',
    'withdraw',
    'transfer marketId×1',
    'setSelfTradeMode',
    'tapeSnapshot marketId×1',
    'tapeGap marketId×1',
    'listMarket',
    // Two orders, one with a parent.
    'placeOrders marketId×2 subaccountId×1 accountId×1 orderId×1',
    'updateMargin marketId×1 subaccountId×1 accountId×1',
    'updateDelegate',
    'updateSigners',
    'settleFunding marketId×1',
    'tapeBar marketId×1',
    'tapeL3 marketId×1',
    'setMarketTerms marketId×1',
    'setMarketStatus marketId×1',
    'delistMarket marketId×1',
    'tapeQuotes marketId×1',
  ]);
});

/** The command with 1 for each null of its own fields. */
const withoutNulls = (command: Command): object =>
  Object.fromEntries(
    Object.entries(command).map(([name, value]) => [name, (value as unknown) ?? 1]),
  );
