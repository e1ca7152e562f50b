/** A journal as one plain file: without groups, preallocation or unsynced frames. */
import type { JournalFrame } from '../journal/format/frame.ts';
import type { JournalSource } from '../journal/format/frames.ts';
import { headerBytes } from '../journal/format/header.ts';

/** Bytes per chunk. */
const CHUNK = 256 * 1024;

/** A journal source that also yields the bytes of its frames. */
export interface ByteSource extends JournalSource {
  readonly frameBytes: Uint8Array;
}

/** Bytes of a plain journal with the source's commands, from the first up to `untilSeq`. */
export function* plainJournal(
  source: ByteSource,
  untilSeq = Infinity,
  onFrame: (frame: JournalFrame) => void = () => undefined,
): Generator<Uint8Array> {
  const { config, semanticsVersion } = source.header;
  let parts: Uint8Array[] = [headerBytes(config, null, semanticsVersion)];
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
