/**
 * Checks that a change of prices makes due before the command ends. Pricing hands over markets;
 * triggers and liquidation take theirs, each at its own time.
 */
import type { TriggerSource } from './config.ts';
import type { Market } from './market/market.ts';

/** A market for triggers: which of the prices they follow was recomputed. */
export interface Repriced {
  readonly market: Market;
  /** The source of triggers: pending orders may fire. */
  sourceIsNew: boolean;
  /** The mark: trailing stops follow it. */
  markIsNew: boolean;
}

export class DueChecks {
  private readonly repriced = new Map<Market, Repriced>();
  private readonly moved = new Set<Market>();
  /**
   * All marked subaccounts are tested before the command ends, not at the next mark. The reasons
   * are many (a mark, funding, the end of a pause), and the test is the same for all. It is false
   * between commands, since no snapshot has it.
   */
  riskCheck = false;

  /** Whether nothing is due: true between commands. */
  get isEmpty(): boolean {
    return !this.riskCheck && this.repriced.size === 0 && this.moved.size === 0;
  }

  /** For triggers: one of the market's prices was recomputed. `source` is what they watch. */
  noteRecomputed(market: Market, what: TriggerSource, source: TriggerSource): void {
    if (what !== 'mark' && what !== source) return;
    let entry = this.repriced.get(market);
    if (entry === undefined) {
      entry = { market, sourceIsNew: false, markIsNew: false };
      this.repriced.set(market, entry);
    }
    if (what === 'mark') entry.markIsNew = true;
    if (what === source) entry.sourceIsNew = true;
  }

  get anyRepriced(): boolean {
    return this.repriced.size > 0;
  }

  /** Hands over the markets that triggers have not seen since their prices were recomputed. */
  takeRepriced(): readonly Repriced[] {
    const taken = [...this.repriced.values()];
    this.repriced.clear();
    return taken;
  }

  /** For liquidation: the mark was recomputed, or counts differently after a freeze or thaw. */
  noteMoved(market: Market): void {
    this.moved.add(market);
    this.riskCheck = true;
  }

  /** Hands over the markets whose liquidation bounds are to be compared with their marks. */
  takeMoved(): readonly Market[] {
    const taken = [...this.moved];
    this.moved.clear();
    return taken;
  }
}
