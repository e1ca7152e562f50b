/**
 * Orders, cancels and bars have a fast path in the codec: it gives the same bytes, commands and
 * errors as the generic path by fields.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { BAR_FILLS, BAR_PATHS } from '../../src/engine/tape/hash-tape.ts';
import { ByteReader, ByteWriter } from '../../src/journal/format/bytes.ts';
import {
  decodeBySchema,
  decodeCommand,
  encodeBySchema,
  encodeCommand,
} from '../../src/journal/format/codec.ts';
import {
  accountId,
  address,
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';

const SEED = 5_150;
const AT = timeUs(1_700_000_000_000_000);
const uint = fc.oneof(fc.nat(200), fc.nat(), fc.maxSafeNat());
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const text = fc.option(fc.string({ unit: 'binary', maxLength: 150 }));

const command: fc.Arbitrary<Command> = fc.oneof(
  uint.map((id) => ({ kind: 'cancelOrder' as const, timeUs: AT, orderId: orderId(id) })),
  fc
    .record({
      ids: fc.tuple(uint, uint, uint, uint),
      size: fc.maxSafeInteger(),
      flags: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      nonce: int64,
      expiresAtMs: int64,
      delegate: fc.option(fc.nat()),
      clientId: text,
      originator: text,
    })
    .map(({ ids, size, flags, nonce, expiresAtMs, delegate, clientId, originator }) => ({
      kind: 'placeOrder' as const,
      timeUs: AT,
      subaccount: subaccountId(ids[0]),
      market: marketId(ids[1]),
      orderType: 'limit' as const,
      lots: lots(size),
      priceTicks: priceTicks(ids[2]),
      ioc: flags[0],
      postOnly: flags[1],
      reduceOnly: flags[2],
      nonce,
      expiresAtMs,
      delegate: delegate === null ? null : accountId(delegate),
      clientId,
      originator: originator === null ? null : address(originator),
      originatorFeePpm: ppm(ids[3]),
    })),
  fc
    .record({
      numbers: fc.array(uint, { minLength: 8, maxLength: 8 }),
      market: uint,
      path: fc.constantFrom(...BAR_PATHS),
      fill: fc.constantFrom(...BAR_FILLS),
    })
    .map(({ numbers, market, path, fill }) => {
      const number = (i: number): number => numbers[i] ?? 0;
      return {
        kind: 'tapeBar' as const,
        timeUs: AT,
        market: marketId(market),
        openTicks: priceTicks(number(0)),
        highTicks: priceTicks(number(1)),
        lowTicks: priceTicks(number(2)),
        closeTicks: priceTicks(number(3)),
        volumeLots: lots(number(4)),
        quoteTicks: priceTicks(number(5)),
        spreadTicks: number(6),
        depthLots: lots(number(7)),
        path,
        fill,
      };
    }),
);

function bytesOf(write: (writer: ByteWriter, command: Command) => void, command: Command) {
  const writer = new ByteWriter(1);
  write(writer, command);
  return writer.bytes();
}

/** The command and the reader's position, or the error. */
function read(decode: typeof decodeCommand, bytes: Uint8Array): unknown {
  const reader = new ByteReader(bytes);
  try {
    return [decode(reader, AT), reader.at];
  } catch (error) {
    return String(error);
  }
}

test('both paths agree on every order, cancel and bar, intact or damaged', () => {
  fc.assert(
    fc.property(command, fc.nat(), fc.nat(255), fc.nat(), (command, place, byte, cut) => {
      const bytes = bytesOf(encodeCommand, command);
      expect(bytes).toEqual(bytesOf(encodeBySchema, command));
      expect(read(decodeCommand, bytes)).toEqual(read(decodeBySchema, bytes));
      expect(read(decodeCommand, bytes)).toEqual([command, bytes.length]);
      const damaged = bytes.slice();
      damaged[1 + (place % (bytes.length - 1))] = byte;
      expect(read(decodeCommand, damaged)).toEqual(read(decodeBySchema, damaged));
      const short = bytes.slice(0, 1 + (cut % bytes.length));
      expect(read(decodeCommand, short)).toEqual(read(decodeBySchema, short));
    }),
    { seed: SEED, numRuns: 2000 },
  );
});
