/**
 * Copies of the exchange for previews. A copy costs as much as a snapshot, so copies take at most a
 * share of the thread's time: each request waits for its turn, and a queue that is full refuses.
 * Where one copy takes too long, previews stop for a while.
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
/** Duration of a copy beyond which previews stop, and for how long. */
const LONG_MS = 500;
const STOP_MS = 600_000;

/** A preview in its turn. */
export type Copy = (changed?: Partial<ExchangeConfig>) => Exchange;

export class Copies {
  private readonly host: Host;
  private readonly nowMs: () => number;
  /** The last snapshot, and the command after which it was made. */
  private kept: {
    readonly engine: Exchange;
    readonly seq: number;
    readonly bytes: Uint8Array;
  } | null = null;
  private turn: Promise<void> = Promise.resolve();
  private waiting = 0;
  private stoppedUntilMs = -Infinity;

  constructor(host: Host, nowMs: () => number = () => performance.now()) {
    this.host = host;
    this.nowMs = nowMs;
  }

  /** Runs the work in its turn. Throws `RequestError` when too many wait, or copies take long. */
  async run<T>(work: (copy: Copy) => T): Promise<T> {
    if (this.nowMs() < this.stoppedUntilMs) throw new RequestError(MESSAGES.previewsStopped);
    if (this.waiting >= MAX_WAITING) throw tooManyRequests();
    this.waiting += 1;
    const before = this.turn;
    let end: () => void = () => undefined;
    this.turn = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    this.waiting -= 1;
    const beganMs = this.nowMs();
    try {
      return work((changed) => this.copy(changed));
    } finally {
      const tookMs = this.nowMs() - beganMs;
      if (tookMs > LONG_MS) this.stoppedUntilMs = this.nowMs() + STOP_MS;
      setTimeout(end, tookMs * PAUSE).unref();
    }
  }

  private copy(changed: Partial<ExchangeConfig> = {}): Exchange {
    const { engine } = this.host.exchange;
    if (this.kept?.engine !== engine || this.kept.seq !== engine.seq) {
      this.kept = { engine, seq: engine.seq, bytes: engine.snapshot() };
    }
    return Exchange.restore(this.kept.bytes, changed);
  }
}
