/** A journal as one plain file: no groups, no room laid out ahead, nothing that was not on disk as a whole. */
import type { JournalFrame } from '../journal/format/frame.ts';
import type { JournalSource } from '../journal/format/frames.ts';
import { headerBytes } from '../journal/format/header.ts';

/** Bytes handed on at once. */
const CHUNK = 256 * 1024;

/** A journal whose frames are at hand as bytes. */
export interface ByteSource extends JournalSource {
  readonly frameBytes: Uint8Array;
}

/** The bytes of a plain journal of what a source holds up to a command, from its first on. */
export function* plainJournal(
  source: ByteSource,
  untilSeq = Infinity,
  onFrame: (frame: JournalFrame) => void = () => undefined,
): Generator<Uint8Array> {
  let parts: Uint8Array[] = [headerBytes(source.header.config, null)];
  let length = 0;
  for (let frame = source.next(); frame !== null; frame = source.next()) {
    if (frame.seq > untilSeq) break;
    onFrame(frame);
    parts.push(source.frameBytes);
    length += source.frameBytes.length;
    if (length < CHUNK) continue;
    yield Buffer.concat(parts);
    parts = [];
    length = 0;
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
