/**
 * Replay: an exchange rebuilt from its journal, each checkpoint compared (DESIGN §3). A replayed command costs what a live one
 * does, plus its decoding.
 */
import type { EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Seq, TimeUs } from '../num/units.ts';
import { JournalError, JournalReader, type TornTail } from './journal/frames.ts';

export interface ReplayOptions {
  /** Compare every checkpoint's state hash and the end's chain hash. */
  readonly verify: boolean;
  /** Stop after this command. */
  readonly untilSeq?: number;
  /** Take an incomplete last frame as the end of what is known, instead of refusing the journal. */
  readonly recover?: boolean;
  readonly onEvent?: EventSink;
  /** Called every few thousand commands with bytes read and bytes in all. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Polled with progress: true ends the replay early. */
  readonly cancelled?: () => boolean;
}

export interface Mismatch {
  readonly what: 'stateHash' | 'chainHash';
  readonly seq: Seq;
  readonly timeUs: TimeUs;
  readonly expected: string;
  readonly actual: string;
}

export interface ReplayResult {
  readonly engine: Exchange;
  readonly commands: number;
  readonly checkpoints: number;
  /** Whether the journal says it is complete. */
  readonly ended: boolean;
  readonly torn: TornTail | null;
  /** First hash that differed; the replay stops there. */
  readonly mismatch: Mismatch | null;
  readonly cancelled: boolean;
}

const PROGRESS_EVERY = 8192;

/** Throws `JournalError` when the bytes are not a whole journal of this version. */
export function replay(bytes: Uint8Array, options: ReplayOptions): ReplayResult {
  const reader = new JournalReader(bytes);
  const engine = new Exchange(reader.header.config);
  let commands = 0;
  let checkpoints = 0;
  let mismatch: Mismatch | null = null;
  let cancelled = false;
  for (;;) {
    const frame = reader.next();
    if (frame === null) break;
    if (frame.kind === 'command') {
      if (options.untilSeq !== undefined && frame.seq > options.untilSeq) break;
      engine.apply(frame.command, options.onEvent);
      commands += 1;
      if (commands % PROGRESS_EVERY === 0) {
        options.onProgress?.(reader.offset, bytes.length);
        cancelled = options.cancelled?.() ?? false;
        if (cancelled) break;
      }
      continue;
    }
    if (!options.verify || frame.kind === 'orderIds') continue;
    mismatch =
      frame.kind === 'checkpoint'
        ? compare('stateHash', frame.stateHash, engine.stateHash(), engine)
        : compare('chainHash', frame.chainHash, engine.chainHash(), engine);
    if (mismatch !== null) break;
    if (frame.kind === 'checkpoint') checkpoints += 1;
  }
  if (reader.torn !== null && options.recover !== true) {
    const { frame, offset, reason } = reader.torn;
    throw new JournalError(
      `journal frame ${String(frame)} at byte ${String(offset)}: torn tail, ${reason}; ` +
        `the ${String(commands)} commands before it are whole (recover keeps them)`,
    );
  }
  options.onProgress?.(reader.offset, bytes.length);
  return {
    engine,
    commands,
    checkpoints,
    ended: reader.ended,
    torn: reader.torn,
    mismatch,
    cancelled,
  };
}

function compare(
  what: Mismatch['what'],
  expected: string,
  actual: string,
  engine: Exchange,
): Mismatch | null {
  if (expected === actual) return null;
  return { what, seq: engine.seq, timeUs: engine.nowUs, expected, actual };
}
