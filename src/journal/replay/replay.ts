/** Rebuilds an exchange from its journal and verifies each checkpoint. */
import { ArchiveError } from '../../base/archive.ts';
import { must } from '../../base/assert.ts';
import type { EventSink } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import { configHash } from '../../engine/snapshot/config-archive.ts';
import { seq, type Seq, type TimeUs } from '../../num/units.ts';
import { earlierRelease } from '../format/header.ts';
import {
  JournalError,
  JournalReader,
  type JournalSource,
  type TornTail,
} from '../format/frames.ts';
import type { OrderIdsFrame } from '../format/frame.ts';
import { ReadAhead } from '../format/read-ahead.ts';

export interface ReplayOptions {
  /**
   * Verifies every checkpoint's state hash and every chain hash. A journal of earlier rules is
   * always verified.
   */
  readonly verify: boolean;
  /** Stops after this command. */
  readonly untilSeq?: number;
  /** Accepts a torn tail as the end instead of rejecting the journal. */
  readonly recover?: boolean;
  readonly onEvent?: EventSink;
  /** Receives client-visible digests of consecutive orders, from an id on. */
  readonly onOrderIds?: (frame: OrderIdsFrame, engine: Exchange) => void;
  /** Called with the exchange after each command. */
  readonly afterCommand?: (engine: Exchange) => void;
  /** Called every few thousand commands with bytes read and total bytes. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Polled with progress; true ends the replay early. */
  readonly cancelled?: () => boolean;
}

export interface Mismatch {
  readonly what: 'stateHash' | 'chainHash';
  readonly seq: Seq;
  readonly timeUs: TimeUs;
  readonly expected: string;
  readonly actual: string;
  /** Release by whose rules the journal begins; null if these are the present rules. */
  readonly release: string | null;
}

/** Commands after the last hash of a journal of earlier rules: nothing shows their state. */
export interface Unproven {
  readonly fromSeq: Seq;
  readonly toSeq: Seq;
  /** Release that wrote them. */
  readonly release: string;
}

export interface ReplayResult {
  readonly engine: Exchange;
  readonly commands: number;
  readonly checkpoints: number;
  /** Number of verified chain hashes. */
  readonly chainHashes: number;
  /** True if the journal has an end frame. */
  readonly ended: boolean;
  readonly torn: TornTail | null;
  /** First differing hash; the replay stops there. */
  readonly mismatch: Mismatch | null;
  /** null also for a replay that stops before the end of the journal. */
  readonly unproven: Unproven | null;
  readonly cancelled: boolean;
}

const PROGRESS_EVERY = 8192;

/** Throws `JournalError` if this is not a complete journal of this version. */
export function replay(journal: Uint8Array | JournalSource, options: ReplayOptions): ReplayResult {
  return finish(replaySteps(journal, options));
}

/** Work in steps; between two of them its caller may return to the event loop. */
export type Steps<T> = Generator<undefined, T>;

/** Does all steps. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** `replay` with a step every few thousand commands. */
export function* replaySteps(
  journal: Uint8Array | JournalSource,
  options: ReplayOptions,
): Steps<ReplayResult> {
  const reader: JournalSource =
    journal instanceof Uint8Array ? new JournalReader(journal) : journal;
  const { after } = reader.header;
  if (reader.base === null && after.seq > 0) {
    throw new JournalError(
      `journal: starts after command ${String(after.seq)}; read its folder instead`,
    );
  }
  const release = earlierRelease(reader.header);
  const engine =
    reader.base === null ? new Exchange(reader.header.config) : Exchange.restore(reader.base);
  mustBelong(engine, reader.header.configHash);
  let commands = 0;
  let checkpoints = 0;
  let chainHashes = 0;
  let provenSeq = engine.seq;
  let mismatch: Mismatch | null = null;
  let cancelled = false;
  const untilSeq = options.untilSeq ?? Infinity;
  const ahead = new ReadAhead(reader);
  let over = false;
  while (!over && ahead.fill(untilSeq)) {
    for (let i = 0; i < ahead.count; i++) {
      const frame = must(ahead.frames[i], 'as many frames as counted were read');
      if (frame.kind === 'command') {
        over = frame.seq > untilSeq;
        if (over) break;
        engine.apply(frame.command, options.onEvent);
        commands += 1;
        options.afterCommand?.(engine);
        if (commands % PROGRESS_EVERY === 0) {
          options.onProgress?.(reader.offset, reader.size);
          cancelled = options.cancelled?.() ?? false;
          over = cancelled;
          if (over) break;
          yield;
        }
        continue;
      }
      if (frame.kind === 'orderIds') {
        options.onOrderIds?.(frame, engine);
        continue;
      }
      if (!options.verify && release === null) continue;
      const differs =
        frame.kind === 'checkpoint'
          ? compare('stateHash', frame.stateHash, engine.stateHash(), engine)
          : compare('chainHash', frame.chainHash, engine.chainHash(), engine);
      over = differs !== null;
      if (differs !== null) {
        mismatch = { ...differs, release };
        break;
      }
      if (frame.kind === 'checkpoint') checkpoints += 1;
      else chainHashes += 1;
      provenSeq = engine.seq;
    }
  }
  // Frames read ahead of a stop are not reported.
  const torn = over ? null : reader.torn;
  if (torn !== null && options.recover !== true) {
    const { offset, afterSeq, reason } = torn;
    const file = reader.path === undefined ? '' : `${reader.path}: `;
    const before =
      commands === 1
        ? 'the command before it is'
        : `the ${String(commands)} commands before it are`;
    throw new JournalError(
      `${file}journal at byte ${String(offset)}, after command ${String(afterSeq)}: torn tail, ${reason}; ` +
        `${before} complete`,
      { hint: 'orrery replay --recover reads them, orrery journal export copies them' },
    );
  }
  options.onProgress?.(reader.offset, reader.size);
  return {
    engine,
    commands,
    checkpoints,
    chainHashes,
    ended: !over && reader.ended,
    torn,
    mismatch,
    unproven: over || untilSeq !== Infinity ? null : unprovenAfter(provenSeq, engine.seq, reader),
    cancelled,
  };
}

function unprovenAfter(proven: Seq, last: Seq, { lastRelease }: JournalSource): Unproven | null {
  if (lastRelease === null || proven === last) return null;
  return { fromSeq: seq(proven + 1), toSeq: last, release: lastRelease };
}

/** A base is a file of its own, which may have been copied from another exchange. */
function mustBelong(engine: Exchange, hash: string): void {
  if (configHash(engine.config) === hash) return;
  throw new ArchiveError('belongs to an exchange with a different configuration');
}

function compare(
  what: Mismatch['what'],
  expected: string,
  actual: string,
  engine: Exchange,
): Omit<Mismatch, 'release'> | null {
  if (expected === actual) return null;
  return { what, seq: engine.seq, timeUs: engine.nowUs, expected, actual };
}
