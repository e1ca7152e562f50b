import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { COMMANDS } from '../../src/engine/schema/command-schema.ts';
import { timeUs } from '../../src/num/units.ts';
import { ByteReader, BytesError, ByteWriter } from '../../src/journal/format/bytes.ts';
import { decodeCommand, describeCommand, encodeCommand } from '../../src/journal/format/codec.ts';
import { crc32 } from '../../src/base/crc32.ts';
import { COMMAND_EXAMPLES } from '../engine/schema/command-examples.ts';

const T = timeUs(1_700_000_000_000_001);

function bytesOf(command: Command): Uint8Array {
  const writer = new ByteWriter(1);
  encodeCommand(writer, command);
  return writer.bytes();
}

test.each(Object.values(COMMAND_EXAMPLES))('$kind is read back as it was written', (command) => {
  const reader = new ByteReader(bytesOf(command));
  const decoded = decodeCommand(reader, command.timeUs);
  expect(decoded).toEqual(command);
  expect(Object.keys(decoded)).toEqual(Object.keys(command));
  expect(reader.at).toBe(reader.source.length);
  expect(describeCommand(command)['kind']).toBe(command.kind);
  expect(() => JSON.stringify(describeCommand(command))).not.toThrow();
});

test.each(Object.values(COMMAND_EXAMPLES))(
  '$kind cut short is refused with its place',
  (command) => {
    const bytes = bytesOf(command);
    for (let length = 0; length < bytes.length; length++) {
      const reader = new ByteReader(bytes.subarray(0, length));
      expect(() => decodeCommand(reader, command.timeUs)).toThrow(/ends early|longer|entries|byte/);
    }
  },
);

test('tags are never given to another kind', () => {
  expect(
    Object.fromEntries(Object.entries(COMMANDS).map(([kind, { tag }]) => [kind, tag])),
  ).toEqual({
    placeOrder: 1,
    cancelOrder: 2,
    advanceTime: 3,
    tapeDepth: 4,
    tapeTrade: 5,
    setIndex: 6,
    setMark: 7,
    cancelAll: 8,
    deposit: 9,
    withdraw: 10,
    transfer: 11,
    setSelfTradeMode: 12,
    tapeSnapshot: 13,
    tapeGap: 14,
    listMarket: 15,
    placeOrders: 16,
    updateMargin: 17,
    updateDelegate: 18,
    updateSigners: 19,
    settleFunding: 20,
    tapeBar: 21,
    tapeL3: 22,
    setMarketTerms: 23,
    setMarketStatus: 24,
    delistMarket: 25,
    tapeQuotes: 28,
  });
});

test.each([
  ['cancelOrder', '02ffffffffffffff0f'],
  ['advanceTime', '03'],
  ['tapeTrade', '0500010' + '1'],
  ['setMark', '070105'],
  ['cancelAll', '080500'],
  ['tapeGap', '0e03'],
  ['settleFunding', '1401fda7d6b907'],
  ['tapeL3', '160003ffffffffffffff0f010507'],
  ['tapeBar', '1502feffffff07ffffffff0701f0a204ffffffffffffff0ff1a204030002' + '01'],
  ['tapeDepth', '040002ed9e490cfeffffff0f00'],
] as const)('the bytes of %s stay what they are', (kind, hex) => {
  expect(Buffer.from(bytesOf(COMMAND_EXAMPLES[kind])).toString('hex')).toBe(hex);
});

test('integers of every size survive', () => {
  fc.assert(
    fc.property(
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      (n, b) => {
        const writer = new ByteWriter(1);
        writer.int(n);
        writer.uint(Math.abs(n));
        writer.i64(b);
        writer.u64(Math.abs(n));
        const reader = new ByteReader(writer.bytes());
        expect([reader.int(), reader.uint(), reader.i64(), reader.u64()]).toEqual([
          n,
          Math.abs(n),
          b,
          Math.abs(n),
        ]);
      },
    ),
  );
});

test('text in any script survives', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const writer = new ByteWriter(1);
      writer.text(text);
      expect(new ByteReader(writer.bytes()).text()).toBe(text);
    }),
  );
});

test('random bytes are a command or a BytesError, never anything else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        const command = decodeCommand(new ByteReader(bytes), T);
        expect(command.kind in COMMANDS).toBe(true);
      } catch (error) {
        expect(error instanceof BytesError || (error as Error).name === 'ArchiveError').toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});

test('the checksum is that of zlib', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(
        crc32(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length) >>> 0,
      ).toBe(zlibCrc32(bytes));
    }),
  );
});
