/**
 * Recorded market data as bytes, spelled out: the journal of a backtest is little else. The same
 * bytes, commands and errors as by the schema, which a property test checks; decoding into literals
 * keeps the hidden classes that the engine compiles for.
 */
import { codeOf } from '../../base/code-of.ts';
import type { Command, TapeBar, TapeLevel } from '../../engine/commands.ts';
import { COMMANDS, SIDES } from '../../engine/schema/command-schema.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../../engine/tape/hash-tape.ts';
import {
  lots,
  marketId,
  priceTicks,
  type MarketId,
  type PriceTicks,
  type TimeUs,
} from '../../num/units.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { readLength, readWord } from './record-codec.ts';

const TAG_DEPTH = COMMANDS.tapeDepth.tag;
const TAG_SNAPSHOT = COMMANDS.tapeSnapshot.tag;
const TAG_QUOTES = COMMANDS.tapeQuotes.tag;
const TAG_TRADE = COMMANDS.tapeTrade.tag;
const TAG_INDEX = COMMANDS.setIndex.tag;
const TAG_MARK = COMMANDS.setMark.tag;
const TAG_BAR = COMMANDS.tapeBar.tag;
const TAG_L3 = COMMANDS.tapeL3.tag;

/**
 * Reads the fields after the tag; null, with nothing read, for a tag of another kind. Throws
 * `BytesError`.
 */
export function readTape(reader: ByteReader, tag: number, timeUs: TimeUs): Command | null {
  switch (tag) {
    case TAG_DEPTH:
      return { kind: 'tapeDepth', timeUs, market: readMarket(reader), levels: readLevels(reader) };
    case TAG_SNAPSHOT:
      return {
        kind: 'tapeSnapshot',
        timeUs,
        market: readMarket(reader),
        levels: readLevels(reader),
      };
    case TAG_QUOTES:
      return { kind: 'tapeQuotes', timeUs, market: readMarket(reader), levels: readLevels(reader) };
    case TAG_TRADE:
      return {
        kind: 'tapeTrade',
        timeUs,
        market: readMarket(reader),
        priceTicks: readTicks(reader),
        lots: lots(reader.int()),
      };
    case TAG_INDEX:
      return {
        kind: 'setIndex',
        timeUs,
        market: readMarket(reader),
        priceTicks: readTicks(reader),
        text: reader.text(),
      };
    case TAG_MARK:
      return {
        kind: 'setMark',
        timeUs,
        market: readMarket(reader),
        priceTicks: readTicks(reader),
      };
    case TAG_BAR:
      return {
        kind: 'tapeBar',
        timeUs,
        market: readMarket(reader),
        openTicks: readTicks(reader),
        highTicks: readTicks(reader),
        lowTicks: readTicks(reader),
        closeTicks: readTicks(reader),
        volumeLots: lots(reader.uint()),
        quoteTicks: readTicks(reader),
        spreadTicks: reader.uint(),
        depthLots: lots(reader.uint()),
        path: readWord(reader, 'path', BAR_PATHS),
        fill: readWord(reader, 'fill', BAR_FILLS),
      };
    case TAG_L3:
      return {
        kind: 'tapeL3',
        timeUs,
        market: readMarket(reader),
        action: readWord(reader, 'action', TAPE_L3_ACTIONS),
        ref: reader.uint(),
        side: readWord(reader, 'side', SIDES),
        priceTicks: readTicks(reader),
        lots: lots(reader.uint()),
      };
    default:
      return null;
  }
}

const readMarket = (reader: ByteReader): MarketId => marketId(reader.uint());
const readTicks = (reader: ByteReader): PriceTicks => priceTicks(reader.uint());

function readLevels(reader: ByteReader): TapeLevel[] {
  const levels: TapeLevel[] = [];
  for (let left = readLength(reader, 'levels'); left > 0; left -= 1) {
    const packed = reader.uint();
    levels.push({
      side: packed % 2 === 1 ? 'bid' : 'ask',
      priceTicks: priceTicks(Math.floor(packed / 2)),
      lots: lots(reader.uint()),
    });
  }
  return levels;
}

/** A bar's tag, and twelve numbers of at most eight bytes. */
const LONGEST = 1 + 12 * 8;

export function writeTapeBar(writer: ByteWriter, tag: number, bar: TapeBar): void {
  writer.reserve(LONGEST);
  const { buffer } = writer;
  let at = writer.length;
  buffer[at++] = tag;
  at = putUint(buffer, at, bar.market);
  at = putUint(buffer, at, bar.openTicks);
  at = putUint(buffer, at, bar.highTicks);
  at = putUint(buffer, at, bar.lowTicks);
  at = putUint(buffer, at, bar.closeTicks);
  at = putUint(buffer, at, bar.volumeLots);
  at = putUint(buffer, at, bar.quoteTicks);
  at = putUint(buffer, at, bar.spreadTicks);
  at = putUint(buffer, at, bar.depthLots);
  at = putUint(buffer, at, codeOf(BAR_PATHS, bar.path));
  at = putUint(buffer, at, codeOf(BAR_FILLS, bar.fill));
  writer.length = at;
}

/** As `ByteWriter.uint` does; answers where it ends. */
function putUint(buffer: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 0x80000000) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at++] = rest;
  return at;
}
