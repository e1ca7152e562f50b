/** Runs an exchange and the oracle command by command, compared after each. */
import type { Command } from '../engine/commands.ts';
import type { EngineEvent, EventSink } from '../engine/events.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { Engine } from '../engine/read/views.ts';
import type { Divergence } from './divergence.ts';
import { Oracle } from './oracle.ts';

/** Interval of full comparisons in commands; others compare changes and a rotating part. */
const FULL_EVERY = 256;

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
    const expected = this.oracle.apply(command);
    const { seq } = this.oracle;
    if (expected !== outcome) {
      const what = `the outcome of ${command.kind}`;
      const divergence = { seq, what, oracle: expected, engine: outcome, rule: 'R-2.8' };
      return { outcome, divergence };
    }
    const full = seq % FULL_EVERY === 0;
    return { outcome, divergence: this.oracle.compare(this.exchange, emitted, full) };
  }

  /** A full comparison, for the end of a run. */
  compareAll(): Divergence | null {
    return this.oracle.compare(this.exchange);
  }
}
