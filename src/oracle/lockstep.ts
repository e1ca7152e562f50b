/** Runs an exchange and the oracle command by command, compared after each. */
import type { Command } from '../engine/commands.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { Engine } from '../engine/read/views.ts';
import type { Divergence } from './divergence.ts';
import { Oracle } from './oracle.ts';

export interface Step {
  /** The exchange's own. */
  readonly outcome: Outcome;
  readonly divergence: Divergence | null;
}

export class Lockstep {
  readonly exchange: Engine;
  private readonly oracle: Oracle;

  /** Needs a fresh exchange. */
  constructor(exchange: Engine) {
    this.exchange = exchange;
    this.oracle = new Oracle(exchange.config);
  }

  /** Applies a command to both. Stop after the first divergence: the sides no longer correspond. */
  apply(command: Command, emit?: EventSink): Step {
    const emitted: EngineEvent[] = [];
    const outcome = this.exchange.apply(command, (event) => {
      emitted.push(event);
      emit?.(event);
    });
    return { outcome, divergence: this.oracle.follow(this.exchange, command, outcome, emitted) };
  }

  /** A full comparison, for the end of a run. */
  compareAll(): Divergence | null {
    return this.oracle.compare(this.exchange);
  }
}
