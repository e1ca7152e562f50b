/**
 * An exchange whose commands are journalled before they are applied. Every driver in a process (scenario, backtest,
 * in-process API) goes through one of these, so every run leaves a journal that replays without its driver.
 */
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/rejections.ts';
import { seq, type TimeUs } from '../num/units.ts';
import { JournalWriter } from './journal/frames.ts';

export interface RecordingOptions {
  /** A checkpoint with the state hash after every so many commands; 0 for none. */
  readonly checkpointEvery: number;
}

export class RecordedExchange {
  readonly engine: Exchange;
  readonly journal: JournalWriter;
  private readonly checkpointEvery: number;
  private readonly sinks: EventSink[] = [];
  private readonly emit: EventSink = (event: EngineEvent) => {
    for (const sink of this.sinks) sink(event);
  };

  constructor(config: ExchangeConfig, options: RecordingOptions = { checkpointEvery: 10_000 }) {
    this.engine = new Exchange(config);
    this.journal = new JournalWriter(config);
    this.checkpointEvery = options.checkpointEvery;
  }

  /** Events of later commands go to this sink too. */
  onEvent(sink: EventSink): void {
    this.sinks.push(sink);
  }

  submit(command: Command): Outcome {
    this.journal.append(seq(this.engine.seq + 1), command);
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
    this.journal.checkpoint(this.engine.seq, this.engine.nowUs, this.engine.stateHash());
  }

  /** Closes the journal with a last checkpoint and the chain hash. */
  finish(): Uint8Array {
    this.checkpoint();
    this.journal.end(this.engine.seq, this.engine.nowUs, this.engine.chainHash());
    return this.journal.bytes();
  }
}
