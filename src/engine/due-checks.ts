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

const NO_MARKETS: readonly Market[] = [];

/** Lists beside flags by market: each bar or mark fills and empties both. */
export class DueChecks {
  private repriced: Repriced[] = [];
  private readonly repricedById: (Repriced | undefined)[] = [];
  private moved: Market[] = [];
  private readonly isMoved: boolean[] = [];
  /**
   * All marked subaccounts are tested before the command ends, not at the next mark. The reasons
   * are many (a mark, funding, the end of a pause), and the test is the same for all. It is false
   * between commands, since no snapshot has it.
   */
  riskCheck = false;

  /** Whether nothing is due: true between commands. */
  get isEmpty(): boolean {
    return !this.riskCheck && this.repriced.length === 0 && this.moved.length === 0;
  }

  /** For triggers: one of the market's prices was recomputed. `source` is what they watch. */
  noteRecomputed(market: Market, what: TriggerSource, source: TriggerSource): void {
    if (what !== 'mark' && what !== source) return;
    let entry = this.repricedById[market.id];
    if (entry === undefined) {
      entry = { market, sourceIsNew: false, markIsNew: false };
      this.repricedById[market.id] = entry;
      this.repriced.push(entry);
    }
    if (what === 'mark') entry.markIsNew = true;
    if (what === source) entry.sourceIsNew = true;
  }

  get anyRepriced(): boolean {
    return this.repriced.length > 0;
  }

  /** Hands over the markets that triggers have not seen since their prices were recomputed. */
  takeRepriced(): readonly Repriced[] {
    const taken = this.repriced;
    this.repriced = [];
    for (const { market } of taken) this.repricedById[market.id] = undefined;
    return taken;
  }

  /** For liquidation: the mark was recomputed, or counts differently after a freeze or thaw. */
  noteMoved(market: Market): void {
    if (this.isMoved[market.id] !== true) {
      this.isMoved[market.id] = true;
      this.moved.push(market);
    }
    this.riskCheck = true;
  }

  /** Hands over the markets whose liquidation bounds are to be compared with their marks. */
  takeMoved(): readonly Market[] {
    if (this.moved.length === 0) return NO_MARKETS;
    const taken = this.moved;
    this.moved = [];
    for (const { id } of taken) this.isMoved[id] = false;
    return taken;
  }
}
