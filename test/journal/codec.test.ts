import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Command, CommandKind } from '../../src/engine/commands.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  accountId,
  address,
  lots,
  marketId,
  orderId,
  ppb,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { ByteReader, BytesError, ByteWriter } from '../../src/journal/format/bytes.ts';
import {
  COMMAND_TAGS,
  decodeCommand,
  describeCommand,
  encodeCommand,
} from '../../src/journal/format/codec.ts';
import { crc32 } from '../../src/journal/format/crc32.ts';
import { keccak } from '../../src/wallet/ethers-ports.ts';

const spec = parseMarketSpec(DEFAULT_MARKETS[0], keccak);
if (!spec.ok) throw new Error(spec.error);
const T = timeUs(1_700_000_000_000_001);
const A = address(`0x${'ab'.repeat(20)}`);
const B = address(`0x${'cd'.repeat(20)}`);
const levels = [
  { side: 'bid' as const, priceTicks: priceTicks(599_990), lots: lots(12) },
  { side: 'ask' as const, priceTicks: priceTicks(2 ** 31 - 1), lots: lots(0) },
];

/** One command of each kind; a kind without an example does not compile. */
const EXAMPLES: { readonly [Kind in CommandKind]: Extract<Command, { kind: Kind }> } = {
  placeOrder: {
    kind: 'placeOrder',
    timeUs: T,
    subaccount: subaccountId(7),
    market: marketId(2),
    orderType: 'limit',
    lots: lots(-9_007_199_254_740_991),
    priceTicks: priceTicks(2_147_483_647),
    ioc: true,
    postOnly: false,
    reduceOnly: true,
    nonce: 9_223_372_036_854_775_807n,
    expiresAtMs: 0n,
    delegate: accountId(0),
    clientId: 'näive ☃ 🦀',
    originator: A,
    originatorFeePpm: ppm(1000),
  },
  placeOrders: {
    kind: 'placeOrders',
    timeUs: T,
    subaccount: subaccountId(7),
    delegate: accountId(3),
    orders: [
      {
        market: marketId(2),
        orderType: 'trailingStop',
        lots: lots(-5),
        priceTicks: priceTicks(7),
        ioc: true,
        postOnly: false,
        reduceOnly: true,
        nonce: 9_223_372_036_854_775_807n,
        expiresAtMs: 1n,
        clientId: 'c',
        originator: A,
        originatorFeePpm: ppm(100),
        triggerTicks: priceTicks(2_147_483_647),
        trailingPpm: 999_999,
        periodMs: 9_223_372_036_854_775_807n,
        parent: orderId(9_007_199_254_740_990),
        attached: true,
      },
      {
        market: marketId(0),
        orderType: 'limit',
        lots: lots(5),
        priceTicks: priceTicks(7),
        ioc: false,
        postOnly: true,
        reduceOnly: false,
        nonce: 0n,
        expiresAtMs: 0n,
        clientId: null,
        originator: null,
        originatorFeePpm: ppm(0),
        triggerTicks: null,
        trailingPpm: null,
        periodMs: null,
        parent: null,
        attached: false,
      },
    ],
  },
  cancelOrder: { kind: 'cancelOrder', timeUs: T, orderId: orderId(9_007_199_254_740_991) },
  advanceTime: { kind: 'advanceTime', timeUs: T },
  tapeDepth: { kind: 'tapeDepth', timeUs: T, market: marketId(0), levels },
  tapeTrade: {
    kind: 'tapeTrade',
    timeUs: T,
    market: marketId(0),
    priceTicks: priceTicks(1),
    lots: lots(-1),
  },
  setIndex: {
    kind: 'setIndex',
    timeUs: T,
    market: marketId(0),
    priceTicks: priceTicks(600_000),
    text: '60000.04',
  },
  setMark: { kind: 'setMark', timeUs: T, market: marketId(1), priceTicks: priceTicks(5) },
  cancelAll: { kind: 'cancelAll', timeUs: T, subaccount: subaccountId(5), market: null },
  deposit: {
    kind: 'deposit',
    timeUs: T,
    account: A,
    subaccountIndex: 2_147_483_647,
    amount: quanta(2n ** 62n),
  },
  withdraw: { kind: 'withdraw', timeUs: T, account: A, subaccountIndex: 0, amount: quanta(-1n) },
  transfer: {
    kind: 'transfer',
    timeUs: T,
    from: A,
    fromIndex: 0,
    to: B,
    toIndex: 1,
    amount: quanta(1n),
    market: marketId(0),
    signer: A,
    nonce: 1n,
    expiresAtMs: 9_223_372_036_854_775_807n,
  },
  setSelfTradeMode: { kind: 'setSelfTradeMode', timeUs: T, account: A, mode: 0 },
  tapeSnapshot: { kind: 'tapeSnapshot', timeUs: T, market: marketId(0), levels },
  tapeGap: { kind: 'tapeGap', timeUs: T, market: marketId(3) },
  listMarket: { kind: 'listMarket', timeUs: T, spec: spec.value },
  updateMargin: {
    kind: 'updateMargin',
    timeUs: T,
    subaccount: subaccountId(7),
    market: marketId(2),
    isolated: true,
    marginPpm: ppm(333_333),
    nonce: 9_223_372_036_854_775_807n,
    expiresAtMs: 5n,
    delegate: accountId(4),
  },
  updateDelegate: {
    kind: 'updateDelegate',
    timeUs: T,
    account: A,
    subaccountIndex: 2_147_483_647,
    delegate: B,
    delegated: true,
    nonce: 0n,
    expiresAtMs: 9_223_372_036_854_775_807n,
  },
  updateSigners: {
    kind: 'updateSigners',
    timeUs: T,
    account: A,
    signers: [B, A],
    quorum: 2,
    nonce: 7n,
    expiresAtMs: 0n,
  },
  tapeBar: {
    kind: 'tapeBar',
    timeUs: T,
    market: marketId(2),
    openTicks: priceTicks(2 ** 31 - 2),
    highTicks: priceTicks(2 ** 31 - 1),
    lowTicks: priceTicks(1),
    closeTicks: priceTicks(70_000),
    volumeLots: lots(2 ** 53 - 1),
    quoteTicks: priceTicks(70_001),
    spreadTicks: 3,
    depthLots: lots(0),
    path: 'stopFirst',
    fill: 'through',
  },
  tapeL3: {
    kind: 'tapeL3',
    timeUs: T,
    market: marketId(0),
    action: 'execute',
    ref: 2 ** 53 - 1,
    side: 'bid',
    priceTicks: priceTicks(5),
    lots: lots(7),
  },
  setMarketTerms: { kind: 'setMarketTerms', timeUs: T, market: marketId(1), spec: spec.value },
  setMarketStatus: { kind: 'setMarketStatus', timeUs: T, market: marketId(1), status: 'halted' },
  delistMarket: {
    kind: 'delistMarket',
    timeUs: T,
    market: marketId(1),
    priceTicks: priceTicks(600_000),
  },
  settleFunding: {
    kind: 'settleFunding',
    timeUs: T,
    market: marketId(1),
    ratePpb: ppb(-999_999_999),
  },
};

function bytesOf(command: Command): Uint8Array {
  const writer = new ByteWriter(1);
  encodeCommand(writer, command);
  return writer.bytes();
}

test.each(Object.values(EXAMPLES))('$kind survives encoding and decoding', (command) => {
  const reader = new ByteReader(bytesOf(command));
  const decoded = decodeCommand(reader, command.timeUs);
  expect(decoded).toEqual(command);
  expect(Object.keys(decoded)).toEqual(Object.keys(command));
  expect(reader.at).toBe(reader.source.length);
  expect(describeCommand(command)['kind']).toBe(command.kind);
  expect(() => JSON.stringify(describeCommand(command))).not.toThrow();
});

test.each(Object.values(EXAMPLES))('a truncated $kind is rejected with the offset', (command) => {
  const bytes = bytesOf(command);
  for (let length = 0; length < bytes.length; length++) {
    const reader = new ByteReader(bytes.subarray(0, length));
    expect(() => decodeCommand(reader, command.timeUs)).toThrow(/ends early|longer|entries|byte/);
  }
});

test('tags are never reused for another kind', () => {
  expect(COMMAND_TAGS).toEqual({
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
] as const)('the bytes of %s are stable', (kind, hex) => {
  expect(Buffer.from(bytesOf(EXAMPLES[kind])).toString('hex')).toBe(hex);
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
        expect(command.kind in COMMAND_TAGS).toBe(true);
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
