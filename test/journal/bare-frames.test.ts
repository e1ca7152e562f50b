/** A journal with bare frames is half as long, and becomes the same bytes again. */
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { crc32 } from '../../src/base/crc32.ts';
import type { TapeBar } from '../../src/engine/commands.ts';
import { BareFrames, wholeFrames } from '../../src/journal/format/bare-frames.ts';
import { BytesError } from '../../src/journal/format/bytes.ts';
import { JournalWriter } from '../../src/journal/format/frames.ts';
import { headerSize } from '../../src/journal/format/header.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { lots, marketId, priceTicks, seq, timeUs } from '../../src/num/units.ts';
import { drawLife } from '../metamorphic/life.ts';

const MINUTE_US = 60_000_000;
const START_US = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;

function barAt(i: number): TapeBar {
  const price = priceTicks(400_000 + ((i * 7919) % 1000));
  return {
    kind: 'tapeBar',
    timeUs: timeUs(START_US + i * MINUTE_US),
    market: marketId(0),
    openTicks: price,
    highTicks: priceTicks(price + 20),
    lowTicks: priceTicks(price - 30),
    closeTicks: priceTicks(price + 10),
    volumeLots: lots(1000 + ((i * 104_729) % 5000)),
    quoteTicks: priceTicks(price + 10),
    spreadTicks: 1,
    depthLots: lots(1000),
    path: 'nearest',
    fill: 'touch',
  };
}

/** Frames that are added in parts, of which some are taken together. */
function bareOf(parts: readonly Uint8Array[]): Uint8Array {
  const frames = new BareFrames();
  const taken: Uint8Array[] = [];
  for (const part of parts) {
    frames.add(part);
    if (taken.length % 2 === 0) taken.push(frames.take());
  }
  taken.push(frames.take());
  return Buffer.concat(taken);
}

test('bars take less than 0.7 of their bytes', () => {
  const writer = new JournalWriter(DEFAULT_EXCHANGE_CONFIG);
  for (let i = 1; i <= 1000; i++) writer.append(seq(i), barAt(i));
  const journal = writer.bytes();
  const bare = bareOf([journal]);
  expect(bare.length).toBeLessThan(0.7 * journal.length);
  expect(Buffer.compare(wholeFrames(bare), journal)).toBe(0);
});

test('commands of all kinds, checkpoints and the end, drained after any command', () => {
  const { config, commands } = drawLife('bare', { name: 'money', commands: 300 });
  for (const every of [1, 3, 1000]) {
    const writer = new JournalWriter(config);
    const parts: Uint8Array[] = [];
    commands.forEach((command, i) => {
      writer.append(seq(i + 1), command);
      if (i % 7 === 0) writer.checkpoint(seq(i + 1), command.timeUs, 'a'.repeat(64));
      if (i % 11 === 0) writer.orderIds(seq(i + 1), command.timeUs, i, ['0f'.repeat(32)]);
      if (i % every === 0) parts.push(writer.drain());
    });
    writer.end(seq(commands.length), timeUs(START_US), '0'.repeat(32));
    parts.push(writer.drain());
    const bare = bareOf(parts);
    expect(Buffer.compare(wholeFrames(bare), Buffer.concat(parts))).toBe(0);
    expect(headerSize(bare)).toBe(0);
    expect(headerSize(parts[0] ?? new Uint8Array())).toBeGreaterThan(16);
  }
});

test('a command after a missing one, before the last, or with a time below it stays whole', () => {
  const writer = new JournalWriter(null);
  const at = (i: number, seqNumber: number): void => {
    writer.append(seq(seqNumber), barAt(i));
  };
  at(5, 1);
  at(4, 2);
  at(6, 4);
  at(7, 1);
  at(8, 2);
  const journal = writer.bytes();
  expect(Buffer.compare(wholeFrames(bareOf([journal])), journal)).toBe(0);
});

test('a command with a time beyond safe integers stays whole', () => {
  const writer = new JournalWriter(null);
  writer.append(seq(1), barAt(1));
  const journal = writer.bytes();
  const view = new DataView(journal.buffer);
  view.setUint32(17, 0x12345679, true);
  view.setUint32(21, 0x300000, true);
  view.setInt32(4, crc32(view, 8, journal.length), true);
  expect(Buffer.compare(wholeFrames(bareOf([journal])), journal)).toBe(0);
});

test('a group of a segment, and text', () => {
  const writer = new JournalWriter({ seq: seq(0), timeUs: timeUs(0) });
  for (let i = 1; i <= 20; i++) writer.append(seq(i), barAt(i));
  const group = writer.takeGroup()?.bytes ?? new Uint8Array();
  expect(Buffer.compare(wholeFrames(bareOf([group])), group)).toBe(0);
  const text = readFileSync(new URL(import.meta.url));
  expect(Buffer.compare(wholeFrames(bareOf([text])), text)).toBe(0);
});

test('any bytes, in any parts', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }), (parts) => {
      expect(Buffer.compare(wholeFrames(bareOf(parts)), Buffer.concat(parts))).toBe(0);
    }),
  );
});

test('bare bytes that end early are refused', () => {
  const writer = new JournalWriter(DEFAULT_EXCHANGE_CONFIG);
  for (let i = 1; i <= 3; i++) writer.append(seq(i), barAt(i));
  const bare = bareOf([writer.bytes()]);
  for (const end of [bare.length - 1, bare.length - 30, 1]) {
    expect(() => wholeFrames(bare.subarray(0, end))).toThrow(BytesError);
  }
});
