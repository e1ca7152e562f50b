/**
 * Recorded history played into a served exchange. On a virtual clock, `advance` moves it: a client
 * receives each update before the exchange goes on. At a speed, the system clock moves it.
 *
 * At one instant, due timers precede recorded commands, and requests follow both, as in a backtest.
 * So a command of time t follows all history before t, and after a crash the last time of the
 * journal determines what was played.
 */
import { isDeepStrictEqual } from 'node:util';
import { invalidField, type ErrorReply } from '../contract/messages.ts';
import type { Command, TapeBar } from '../engine/commands.ts';
import { RequestError } from '../gateway/request-error.ts';
import { timeUs, type TimeUs } from '../num/units.ts';
import type { ServedExchange } from '../journal/served-exchange.ts';
import { isReplacement } from '../engine/tape/replaced-order.ts';
import { ReplayPace } from './replay-pace.ts';

/** The served exchange, on a virtual clock. */
export interface ReplayedExchange {
  readonly exchange: ServedExchange;
  readonly view: { readonly nowUs: TimeUs };
  nowUs(): TimeUs;
  advanceTo(atUs: TimeUs): void;
  play(command: Command): void;
}

export interface ReplayBatch {
  /** In time order. */
  readonly commands: readonly Command[];
  /** Time of receipt of each command, if recorded, µs. */
  readonly localUs?: readonly number[];
}

/** The recording, as a client needs it for an equal run. Times are µs. */
export interface ReplayFacts {
  readonly dataset: string;
  readonly firstUs: number;
  readonly lastUs: number;
  /** Default interval of samples of a backtest on the same history. */
  readonly sampleUs: number;
  /** Min time of receipt minus venue time. */
  readonly minRecordedUs: number;
  /** Delivery time of recorded bars: at their end, or when the next one opens. */
  readonly barsEmitted: 'over' | 'nextOpen';
  /** Terms of the exchange and its data by name, which a comparison of two runs names. */
  readonly terms: Readonly<Record<string, string>>;
}

export interface ReplayOptions {
  readonly host: ReplayedExchange;
  readonly facts: ReplayFacts;
  readonly batches: AsyncIterable<ReplayBatch>;
  /** Journalled commands at the time of the recovered exchange, in order; empty if it is new. */
  readonly played: readonly Command[];
  /** Seconds of history per second of the system clock; null: moved by `advance` only. */
  readonly speed: number | null;
  /** Called once when the last recorded command was played at a speed. */
  readonly onEnd?: () => void;
  readonly onProblem?: (error: Error) => void;
}

/** Publishes feeds of the replay. */
export interface ReplaySink {
  /** Recorded receipt less venue time of the command that is played, or null. */
  receivedUs: number | null;
  /** Called before a recorded bar is played. */
  onBar(bar: TapeBar): void;
  /** Publishes the changes of the last command; true if there was an update since the last call. */
  publish(): boolean;
}

export interface AdvanceRequest {
  readonly untilUs: number;
  /** Time to play on after the first instant with an update; Infinity: up to `untilUs`. */
  readonly lingerUs: number;
  /** Moves the clock past the end of the recording; otherwise the replay stops there. */
  readonly pastEnd: boolean;
  /** Waits at the limit of the pace. */
  readonly paced?: boolean;
}

export interface Advanced {
  readonly timeUs: number;
  /** True if the replay stopped at the last recorded command. */
  readonly ended: boolean;
}

const PACE_MS = 5;
/** While a client waits at the limit, the clock follows it in steps of so much of real time. */
const FOLLOW_MS = 1000;
/** Commands between event-loop turns, in which they are written and requests are answered. */
const TURN_EVERY = 500;

export class Replay {
  readonly facts: ReplayFacts;
  /** null: `advance` alone moves it. */
  speed: number | null;
  /** Of the client that drives a virtual clock. */
  readonly drive = new ReplayPace();
  /** Counts drivers: a call of one that left ends. */
  private drivers = 0;
  private driven = false;
  /** True once the driver is to stop. */
  private isReleased = false;
  sink: ReplaySink = { receivedUs: null, onBar: () => undefined, publish: () => false };
  private readonly options: ReplayOptions;
  private readonly host: ReplayedExchange;
  private readonly batches: AsyncIterator<ReplayBatch>;
  private commands: Command[] = [];
  private localUs: (number | undefined)[] = [];
  private at = 0;
  private isExhausted = false;
  private sinceTurn = 0;
  private turn: Promise<unknown> = Promise.resolve();
  private pacer: NodeJS.Timeout | undefined;
  hasEnded = false;

  private constructor(options: ReplayOptions) {
    this.options = options;
    this.host = options.host;
    this.facts = options.facts;
    this.speed = options.speed;
    this.batches = options.batches[Symbol.asyncIterator]();
  }

  /** Continues behind the history that the journal already has. Rejects with errors of the data. */
  static async open(options: ReplayOptions): Promise<Replay> {
    const replay = new Replay(options);
    await replay.skipPlayed(options.played);
    return replay;
  }

  /** At a speed: moves on from now, once clients can connect. */
  start(): void {
    if (this.speed !== null) this.pace(this.speed);
  }

  /** True if neither the system clock moves it now, nor its end is reached. */
  get isPaused(): boolean {
    if (this.speed === null) return this.drive.paused;
    return this.pacer === undefined && !this.hasEnded;
  }

  /** Whether a client drives a virtual clock. */
  get isDriven(): boolean {
    return this.driven;
  }

  set isDriven(driven: boolean) {
    if (this.driven === driven) return;
    this.driven = driven;
    this.drivers += 1;
    this.drive.restart(this.host.nowUs());
  }

  /**
   * Changes the speed; `isPaused` stops it until the next call. On a virtual clock the speed is
   * that of its driver, and null is as fast as the driver moves it.
   */
  setPace(speed: number | null, isPaused: boolean): void {
    if (this.isReleased) return;
    if (this.speed === null) {
      this.drive.set(speed, isPaused, this.host.nowUs());
      return;
    }
    if (speed === null) return;
    this.speed = speed;
    this.close();
    if (!isPaused && !this.hasEnded) this.pace(speed);
  }

  /** Pauses after a further part of history. Rejects with `StoreStopped`. */
  async step(us: number): Promise<void> {
    const nowUs = this.host.nowUs();
    if (this.isReleased) return;
    if (this.speed === null && this.driven) {
      this.drive.step(us, nowUs);
      return;
    }
    if (this.speed !== null) this.setPace(this.speed, true);
    await this.advance({ untilUs: nowUs + us, lingerUs: Infinity, pastEnd: this.speed === null });
  }

  /**
   * Ends the wait of the driver where the history is, and all limits from now on, so that a driver
   * that must stop can do so.
   */
  release(): void {
    this.setPace(null, false);
    this.isReleased = true;
  }

  /** A crash may have cut the last instant, so its commands are found one by one. */
  private async skipPlayed(played: readonly Command[]): Promise<void> {
    const { nowUs } = this.host.view;
    let rest = played;
    for (;;) {
      const next = await this.upcoming();
      if (next === undefined || next.timeUs > nowUs) return;
      if (next.timeUs === nowUs) {
        const place = rest.findIndex((command) => isDeepStrictEqual(command, next));
        if (place < 0) return;
        rest = rest.slice(place + 1);
      }
      this.at += 1;
    }
  }

  /** The next recorded command; its whole instant is in memory. */
  private async upcoming(): Promise<Command | undefined> {
    while (
      !this.isExhausted &&
      (this.at >= this.commands.length ||
        this.commands[this.at]?.timeUs === this.commands.at(-1)?.timeUs)
    ) {
      const next = await this.batches.next();
      if (next.done === true) this.isExhausted = true;
      else {
        const { commands, localUs } = next.value;
        this.commands = [...this.commands.slice(this.at), ...commands];
        this.localUs = [
          ...this.localUs.slice(this.at),
          ...commands.map((_command, i) => localUs?.[i]),
        ];
        this.at = 0;
      }
    }
    return this.commands[this.at];
  }

  /** Plays history; calls run one after the other. Rejects with `StoreStopped`. */
  advance(request: AdvanceRequest): Promise<Advanced> {
    const { drivers } = this;
    const played = this.turn.then(() => this.play(request, drivers));
    this.turn = played.catch(() => undefined);
    return played;
  }

  /** `drivers`: the number of drivers at the time of the request. */
  private async play(request: AdvanceRequest, drivers: number): Promise<Advanced> {
    const { untilUs, lingerUs, pastEnd, paced = false } = request;
    const { host, sink } = this;
    sink.publish();
    let stopUs = untilUs;
    let isFirst = true;
    for (;;) {
      const next = await this.upcoming();
      if (paced && drivers !== this.drivers) return { timeUs: host.nowUs(), ended: false };
      if (next === undefined && !pastEnd) {
        this.hasEnded ||= this.speed === null;
        return { timeUs: host.nowUs(), ended: true };
      }
      const tapeUs = next?.timeUs ?? Infinity;
      const timerUs = host.exchange.engine.nextTimerUs();
      const atUs = Math.min(tapeUs, timerUs);
      if (paced && this.drive.limitUs() < Math.min(atUs, stopUs)) {
        const isChanged = await this.wait(Math.min(atUs, stopUs));
        if (this.isReleased) return { timeUs: host.nowUs(), ended: false };
        // A request of another client is an update for the driver, at its own time.
        if (isChanged && isFirst) {
          isFirst = false;
          stopUs = Math.max(host.nowUs(), Math.min(stopUs, host.nowUs() + lingerUs));
        }
        continue;
      }
      if (atUs > stopUs) break;
      let sent = false;
      if (timerUs < tapeUs) {
        host.advanceTo(timeUs(timerUs));
        sent = sink.publish();
      } else {
        for (; this.commands[this.at]?.timeUs === tapeUs; this.at++) {
          sent = this.playOne() || sent;
        }
      }
      if (sent && isFirst) {
        isFirst = false;
        stopUs = Math.min(stopUs, atUs + lingerUs);
      }
      if (this.sinceTurn >= TURN_EVERY) await this.yield();
    }
    if (stopUs > host.nowUs()) {
      host.advanceTo(timeUs(stopUs));
      sink.publish();
    }
    return { timeUs: host.nowUs(), ended: false };
  }

  /** Until the limit allows a time; true if the exchange was changed by others before. */
  private async wait(atUs: number): Promise<boolean> {
    const { host, drive, drivers, sink } = this;
    let { seq } = host.exchange.engine;
    let followedMs = performance.now();
    let heldUs = drive.paused ? -1 : drive.limitUs();
    while (drive.limitUs() < atUs && drivers === this.drivers) {
      const limitUs = drive.limitUs();
      const isDue = drive.paused ? limitUs !== heldUs : performance.now() - followedMs >= FOLLOW_MS;
      if (isDue && limitUs > host.nowUs()) {
        host.advanceTo(timeUs(limitUs));
        sink.publish();
        ({ seq } = host.exchange.engine);
        followedMs = performance.now();
      }
      heldUs = limitUs;
      await ReplayPace.look();
      if (host.exchange.engine.seq !== seq) return true;
    }
    return false;
  }

  private playOne(): boolean {
    const command = this.commands[this.at];
    if (command === undefined) return false;
    const localUs = this.localUs[this.at];
    const { sink } = this;
    sink.receivedUs = localUs === undefined ? null : localUs - command.timeUs;
    this.sinceTurn += 1;
    try {
      if (command.kind === 'tapeBar') sink.onBar(command);
      this.host.play(command);
      return !isReplacement(command, this.commands[this.at + 1]) && sink.publish();
    } finally {
      sink.receivedUs = null;
    }
  }

  private async yield(): Promise<void> {
    this.sinceTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
    await this.host.exchange.durable();
  }

  private pace(speed: number): void {
    const startUs = this.host.nowUs();
    const startMs = performance.now();
    let isBusy = false;
    this.pacer = setInterval(() => {
      if (isBusy) return;
      isBusy = true;
      const untilUs = Math.floor(startUs + (performance.now() - startMs) * 1000 * speed);
      this.advance({ untilUs, lingerUs: Infinity, pastEnd: false }).then(
        ({ ended }) => {
          isBusy = false;
          if (!ended || this.hasEnded) return;
          this.hasEnded = true;
          this.close();
          this.options.onEnd?.();
        },
        (error: unknown) => {
          this.close();
          this.options.onProblem?.(error as Error);
        },
      );
    }, PACE_MS);
  }

  close(): void {
    clearInterval(this.pacer);
    this.pacer = undefined;
    this.isDriven = false;
  }
}

export function noReplay(): ErrorReply {
  return invalidField('replay', 'is not on; start with: orrery serve --replay <dataset>');
}

/** Largest speed, in seconds of history per second. */
export const MAX_SPEED = 1e6;

/** Throws `RequestError` if the system clock moves the replay. */
export function mustBeDriven({ speed }: Replay): void {
  if (speed === null) return;
  throw new RequestError(
    invalidField('clock', 'follows the system clock; start the replay with --clock virtual'),
  );
}
