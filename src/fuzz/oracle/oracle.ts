/**
 * The oracle: the rules of docs/RULES.md as a slow and obvious program, in arrays and full scans. It shares nothing with
 * the engine but types, so what both say alike is what the rules say, and where they differ one of them breaks a rule.
 */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Outcome } from '../../engine/rejections.ts';
import type { ExchangeView } from '../../engine/views.ts';
import { compareState } from './compare.ts';
import { Comparison, type Divergence } from './divergence.ts';
import { ReferenceExchange } from './reference-exchange.ts';

export class Oracle {
  /** Commands applied so far. */
  seq = 0;
  /** What happened in the last command by the rules; compared with what the exchange emitted. */
  private readonly world: ReferenceExchange;

  constructor(config: ExchangeConfig) {
    this.world = new ReferenceExchange(config);
  }

  /** Runs due timers, then the command; answers its outcome by the rules. */
  apply(command: Command): Outcome {
    this.seq += 1;
    return this.world.apply(command) as Outcome;
  }

  /**
   * The first difference between what the rules say now and what the exchange shows, or null. `heard` are the events that
   * the exchange emitted for the last command. With `full` everything is compared; without, what that command could
   * touch and a part of the rest that moves on with each call.
   */
  compare(
    exchange: ExchangeView,
    heard: readonly EngineEvent[] | null = null,
    full = true,
  ): Divergence | null {
    const comparison = new Comparison(this.seq);
    compareState(comparison, this.world, exchange, heard, full);
    return comparison.found;
  }
}
