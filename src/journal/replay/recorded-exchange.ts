/**
 * An exchange that journals each command before it is applied. Every in-process driver (scenario,
 * backtest, API) uses one, so every run leaves a journal that replays without its driver.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { EngineEvent, EventSink } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Outcome } from '../../engine/refusals.ts';
import { seq, type TimeUs } from '../../num/units.ts';
import { JournalWriter } from '../format/frames.ts';

export interface RecordingOptions {
  /** Commands between checkpoints with the state hash; 0: none. */
  readonly checkpointEvery: number;
  /** null: no journal; absent: a new one. */
  readonly journal?: JournalWriter | null;
}

export class RecordedExchange {
  readonly engine: Exchange;
  private readonly journal: JournalWriter | null;
  private readonly checkpointEvery: number;
  private readonly sinks: EventSink[] = [];
  private timerUs = Infinity;
  /** Sequence number of the command after which `timerUs` was read. */
  private timerSeq = -1;
  private readonly emit: EventSink = (event: EngineEvent) => {
    for (const sink of this.sinks) sink(event);
  };

  /** Wraps a new exchange or an existing one. */
  constructor(
    from: ExchangeConfig | Exchange,
    options: RecordingOptions = { checkpointEvery: 10_000 },
  ) {
    this.engine = from instanceof Exchange ? from : new Exchange(from);
    this.journal =
      options.journal === undefined ? new JournalWriter(this.engine.config) : options.journal;
    this.checkpointEvery = options.checkpointEvery;
  }

  /** Adds a sink for events of later commands. */
  onEvent(sink: EventSink): void {
    this.sinks.push(sink);
  }

  submit(command: Command): Outcome {
    this.journal?.append(seq(this.engine.seq + 1), command);
    const outcome = this.engine.apply(command, this.sinks.length > 0 ? this.emit : undefined);
    if (this.checkpointEvery > 0 && this.engine.seq % this.checkpointEvery === 0) {
      this.checkpoint();
    }
    return outcome;
  }

  /** Time of the engine's next timer, read once per command: nothing else changes it. */
  nextTimerUs(): number {
    const { engine } = this;
    if (engine.seq !== this.timerSeq) {
      this.timerSeq = engine.seq;
      this.timerUs = engine.nextTimerUs();
    }
    return this.timerUs;
  }

  /** Runs due engine timers up to and including a time. */
  advanceTo(atUs: TimeUs): void {
    if (atUs > this.engine.nowUs) this.submit({ kind: 'advanceTime', timeUs: atUs });
  }

  checkpoint(): void {
    this.journal?.checkpoint(this.engine.seq, this.engine.nowUs, this.engine.stateHash());
  }

  /** Closes the journal with a last checkpoint and the chain hash. */
  end(): void {
    this.checkpoint();
    this.journal?.end(this.engine.seq, this.engine.nowUs, this.engine.chainHash());
  }

  /** Closes the journal and returns all of it. */
  finish(): Uint8Array {
    this.end();
    return this.journalBytes();
  }

  /** Bytes of the journal in memory. */
  get journalSize(): number {
    return this.journal?.size ?? 0;
  }

  /** A copy of the journal so far. */
  journalBytes(): Uint8Array {
    return this.journal?.bytes() ?? new Uint8Array();
  }

  /** Returns and releases the bytes since the last call, for journals larger than memory. */
  drainJournal(): Uint8Array {
    return this.journal?.drain() ?? new Uint8Array();
  }
}
