/** `replayJournal`: an exchange rebuilt from a journal file, a folder or bytes. */
import type { EventSink } from '../engine/events.ts';
import type { Exchange } from '../engine/exchange.ts';
import { JournalError } from '../journal/format/journal-error.ts';
import { replay, replaySteps, type ReplayResult } from '../journal/replay/replay.ts';
import { openJournal } from './folder-journal.ts';
import { finishPatiently } from './recover.ts';

export interface ReplayJournalOptions {
  /** Compares every checkpoint's state hash and every chain hash. Default true. */
  readonly verify?: boolean;
  /** Last command to apply; all unless given. */
  readonly untilSeq?: number;
  /** Accepts an incomplete last write, as a crash leaves it. Default false. */
  readonly recover?: boolean;
  /** Receives every event, in order. */
  readonly onEvent?: EventSink;
  /** Receives the exchange after each command. */
  readonly afterCommand?: (engine: Exchange) => void;
  /** Receives the fraction of the journal that was read; an error of it ends the replay. */
  readonly onProgress?: (fraction: number) => void;
  /** Read with progress: the replay throws the reason of an aborted signal. */
  readonly signal?: AbortSignal;
}

/**
 * Applies the commands of a journal to a new exchange. Synchronous; about a million commands per
 * second. A hash that differs ends the replay and is in the result (`mismatch`).
 *
 * @param journal a journal file or the folder of a served exchange, or the bytes of a plain journal
 * @throws FileError when there is no journal, JournalError when it is damaged or torn
 */
export function replayJournal(
  journal: string | Uint8Array,
  { onProgress, signal, untilSeq, ...options }: ReplayJournalOptions = {},
): ReplayResult {
  signal?.throwIfAborted();
  if (untilSeq !== undefined && !(untilSeq >= 0)) {
    throw new JournalError(`untilSeq ${String(untilSeq)}: must be a whole number from 0`);
  }
  if (typeof journal !== 'string' && !(journal instanceof Uint8Array)) {
    throw new JournalError('journal: must be a path or the bytes of a journal');
  }
  return replay(typeof journal === 'string' ? openJournal(journal, untilSeq) : journal, {
    verify: true,
    ...options,
    ...(untilSeq === undefined ? {} : { untilSeq }),
    onProgress: (done, total) => {
      signal?.throwIfAborted();
      onProgress?.(done / total);
    },
  });
}

/**
 * The same for a path, with turns of the event loop between its steps, so that signals arrive.
 * Throws what `onProgress` throws, besides the errors of `replayJournal`.
 */
export function replayPatiently(
  path: string,
  onProgress: (fraction: number) => void,
  onEvent: EventSink,
): Promise<ReplayResult> {
  const journal = openJournal(path);
  return finishPatiently(replaySteps(journal, { verify: true, onEvent }), () => {
    onProgress(journal.offset / journal.size);
  });
}
