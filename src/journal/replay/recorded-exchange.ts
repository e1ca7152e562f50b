/**
 * An exchange whose commands are journalled before they are applied. Every driver in a process (scenario, backtest,
 * in-process API) goes through one of these, so every run leaves a journal that replays without its driver.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { EngineEvent, EventSink } from '../../engine/events.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Outcome } from '../../engine/refusals.ts';
import { seq, type TimeUs } from '../../num/units.ts';
import { JournalWriter } from '../format/frames.ts';

export interface RecordingOptions {
  /** A checkpoint with the state hash after every so many commands; 0 for none. */
  readonly checkpointEvery: number;
  /** null keeps no journal; a fresh one unless given. */
  readonly journal?: JournalWriter | null;
}

export class RecordedExchange {
  readonly engine: Exchange;
  private readonly journal: JournalWriter | null;
  private readonly checkpointEvery: number;
  private readonly sinks: EventSink[] = [];
  private readonly emit: EventSink = (event: EngineEvent) => {
    for (const sink of this.sinks) sink(event);
  };

  /** Of a new exchange, or one that goes on. */
  constructor(
    from: ExchangeConfig | Exchange,
    options: RecordingOptions = { checkpointEvery: 10_000 },
  ) {
    this.engine = from instanceof Exchange ? from : new Exchange(from);
    this.journal =
      options.journal === undefined ? new JournalWriter(this.engine.config) : options.journal;
    this.checkpointEvery = options.checkpointEvery;
  }

  /** Events of later commands go to this sink too. */
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

  /** Closes the journal; answers the whole of it. */
  finish(): Uint8Array {
    this.end();
    return this.journalBytes();
  }

  /** Bytes of the journal in memory. */
  get journalSize(): number {
    return this.journal?.size ?? 0;
  }

  /** The journal so far; a copy. */
  journalBytes(): Uint8Array {
    return this.journal?.bytes() ?? new Uint8Array();
  }

  /** What was written since the last call, which is then forgotten here: for journals longer than memory. */
  drainJournal(): Uint8Array {
    return this.journal?.drain() ?? new Uint8Array();
  }
}
