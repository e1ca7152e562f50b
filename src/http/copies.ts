/**
 * Copies of the exchange for previews, without its history. A copy costs a snapshot of the live
 * state and its restore, on the thread that serves all requests. So an exchange whose copy would
 * take long is not copied, copies take at most a share of the thread's time, and each account has
 * a few in the queue.
 */
import { MESSAGES } from '../contract/messages.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import { Exchange } from '../engine/exchange.ts';
import { RequestError } from '../gateway/request-error.ts';
import { tooManyRequests } from './admission.ts';
import type { Host } from './exchange-host.ts';

/** Pause after a copy, as a multiple of its duration: previews use at most a fifth of the time. */
const PAUSE = 4;
const MAX_WAITING = 32;
/** Of one account: several tabs. */
const MAX_OF_ONE = 4;
/** Longest expected copy: it delays the requests of all others. */
const MAX_MS = 30;
/** For the operator, who has few. A leader that stalls for longer could lose its lease. */
const OPERATOR_MAX_MS = 200;
/** Of an open order or a subaccount, about, until a copy has been made. */
const ROW_MS = 0.0025;
/** Costs of a copy beside its rows are those of so many. */
const LEAST_ROWS = 1000;
/** After such a pause `ROW_MS` counts again, because the copies before may have been disturbed. */
const RETRY_MS = 10_000;
/** A copy is expected to take as long as the fastest of the last ones; others were disturbed. */
const REMEMBERED = 5;
/** `ROW_MS` counts until so many were made: the first ones run code that is not compiled yet. */
const LEAST_MADE = 3;
/** A larger snapshot is not kept for the next preview of the same state. */
const MAX_KEPT_BYTES = 8 << 20;
/** A snapshot and a restore, in durations of a restore. */
const SNAPSHOT_AND_RESTORE = 2;

/** A preview in its turn. */
export type Copy = (changed?: Partial<ExchangeConfig>) => Exchange;

interface Kept {
  readonly engine: Exchange;
  readonly seq: number;
  readonly bytes: Uint8Array;
}

export class Copies {
  private readonly host: Host;
  private readonly nowMs: () => number;
  private readonly startTimer: () => () => number;
  /** The last snapshot, and the command after which it was made. */
  private kept: Kept | null = null;
  private turn: Promise<void> = Promise.resolve();
  /** Requests in the queue by caller. */
  private readonly waiting = new Map<string, number>();
  private waitingInAll = 0;
  /** Durations of the last copies, for each row. */
  private rowsMs: readonly number[] = [];
  private copiedAtMs = -Infinity;

  constructor(
    host: Host,
    nowMs: () => number = () => performance.now(),
    startTimer: () => () => number = startUndisturbed,
  ) {
    this.host = host;
    this.nowMs = nowMs;
    this.startTimer = startTimer;
  }

  /**
   * Runs the work in its turn. Throws `RequestError` when the exchange is too large, or too
   * many wait, of this caller or in all.
   *
   * @param caller account of the caller; null for an operator, who has a place of its own
   */
  async run<T>(caller: string | null, work: (copy: Copy) => T): Promise<T> {
    const maxMs = caller === null ? OPERATOR_MAX_MS : MAX_MS;
    if (this.expectedMs() > maxMs) throw new RequestError(MESSAGES.previewsStopped);
    const name = caller ?? '';
    const own = this.waiting.get(name) ?? 0;
    const isFull = caller !== null && this.waitingInAll >= MAX_WAITING;
    if (isFull || own >= MAX_OF_ONE) throw tooManyRequests();
    this.waiting.set(name, own + 1);
    this.waitingInAll += 1;
    const before = this.turn;
    let end: () => void = () => undefined;
    this.turn = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    this.leave(name);
    const beganMs = this.nowMs();
    try {
      return work((changed) => this.copy(changed));
    } finally {
      setTimeout(end, (this.nowMs() - beganMs) * PAUSE).unref();
    }
  }

  private leave(name: string): void {
    const left = (this.waiting.get(name) ?? 0) - 1;
    if (left > 0) this.waiting.set(name, left);
    else this.waiting.delete(name);
    this.waitingInAll -= 1;
  }

  private expectedMs(): number {
    const isRecent = this.nowMs() - this.copiedAtMs <= RETRY_MS;
    const isKnown = isRecent && this.rowsMs.length >= LEAST_MADE;
    const rowMs = Math.min(...this.rowsMs, isKnown ? Infinity : ROW_MS);
    return rowMs * this.rows();
  }

  private rows(): number {
    return Math.max(LEAST_ROWS, this.host.exchange.engine.liveRows);
  }

  private copy(changed: Partial<ExchangeConfig> = {}): Exchange {
    const { engine } = this.host.exchange;
    const elapsedMs = this.startTimer();
    const isKept = this.kept?.engine === engine && this.kept.seq === engine.seq;
    const bytes = isKept && this.kept !== null ? this.kept.bytes : engine.liveSnapshot();
    this.kept = bytes.length > MAX_KEPT_BYTES ? null : { engine, seq: engine.seq, bytes };
    const copy = Exchange.restoreLive(bytes, changed);
    const ms = elapsedMs() * (isKept ? SNAPSHOT_AND_RESTORE : 1);
    this.rowsMs = [...this.rowsMs, ms / this.rows()].slice(-REMEMBERED);
    this.copiedAtMs = this.nowMs();
    return copy;
  }
}

/**
 * The lesser of the duration and the processor time of the process: other processes lengthen the
 * one, other threads of this process the other.
 */
function startUndisturbed(): () => number {
  const beganMs = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - beganMs, (user + system) / 1000);
  };
}
