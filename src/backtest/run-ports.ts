/** Data and ports of a backtest while it runs. */
import type { Command } from '../engine/commands.ts';
import type { SavedEntry } from '../virtual-time/scheduler.ts';

/** Tape commands in time order; `localUs`: time of receipt of each, if recorded. */
export interface TapeBatch {
  readonly commands: readonly Command[];
  readonly localUs?: readonly number[];
}

/** Promises in virtual time. Continuations run at the virtual time of the awaited reply. */
export interface PromiseTurns {
  /** Number of promises created or settled; unchanged by a handler that queues no callback. */
  readonly count: () => number;
  /** Runs all queued callbacks, including those they queue, in a turn of the event loop. */
  readonly drain: () => Promise<void>;
  /**
   * `drain` without a turn of the event loop, for work that runs outside of callbacks. Absent: each
   * handler that queues a callback costs a turn.
   */
  readonly atOnce?: {
    readonly drain: () => void;
    /** Runs work outside of callbacks. */
    readonly run: <T>(work: () => T) => Promise<T>;
  };
  /** Unhandled rejections since the last call. */
  readonly lost?: () => readonly unknown[];
  /** Whether the event loop has been blocked for long; `drain` yields to it for interrupts. */
  readonly overdue?: () => boolean;
}

/** A request that a strategy sent, or a line that it logged. */
export interface Decision {
  readonly strategy: string;
  readonly timeUs: number;
  readonly text: string;
}

/** State of a run in a checkpoint. */
export interface SavedState {
  readonly nowUs: number;
  readonly warm: boolean;
  readonly waiting: readonly SavedEntry[];
  readonly recorder: unknown;
  readonly feeds: unknown;
  readonly runs: readonly unknown[];
}

export interface Playing {
  readonly batch: TapeBatch;
  /** Index of the next command. */
  at: number;
  /** Whether a cancelled run ends before that command. */
  stopped: boolean;
}
