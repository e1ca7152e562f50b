/**
 * A `RiskWorld` with history. Its oracle comparison is off, so only the invariants check the
 * engine.
 */
import type { Command } from '../../../src/engine/commands.ts';
import { RiskWorld } from '../risk-world.ts';

export class TapeWorld extends RiskWorld {
  constructor(markets: readonly Record<string, unknown>[], config: Record<string, unknown> = {}) {
    super(markets, config);
    this.checks = false;
  }

  override submit(command: Command): ReturnType<RiskWorld['submit']> {
    const outcome = super.submit(command);
    const broken = this.engine.checkInvariants();
    if (broken.length > 0) throw new Error(JSON.stringify(broken));
    return outcome;
  }
}
