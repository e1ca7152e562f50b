/**
 * `tapeBar` as bytes, spelled out: a journal of bars is nothing else. The same bytes as its fields make, which a test says;
 * reading is left to those.
 */
import { codeOf } from '../../base/code-of.ts';
import type { TapeBar } from '../../engine/commands.ts';
import { BAR_FILLS, BAR_PATHS } from '../../engine/tape/hash-tape.ts';
import type { ByteWriter } from './bytes.ts';

/** The tag, and twelve numbers of at most eight bytes. */
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
