/**
 * Finds missing trades by the venue's ids, where those are consecutive: nearly every trade has the
 * id of the one before plus one. Ids that the import assigned are those of the lines and show
 * nothing.
 */
import type { TradeRecord } from './record.ts';

export interface MissingTrades {
  /** Time of the trade that follows. */
  readonly timeUs: number;
  readonly fromId: number;
  readonly toId: number;
}

/** Ids are consecutive if steps of one outnumber all holes but one by this factor. */
const MIN_SHARE = 20;
const MIN_STEPS = 20;
/** Holes that a late trade may still fill. */
const MAX_OPEN = 1000;

export class TradeIds {
  private steps = 0;
  private lines = 0;
  private maxId = -1;
  private holes: MissingTrades[] = [];
  private closed = 0;

  take({ tradeId, line, timeUs }: TradeRecord): void {
    if (tradeId === line) this.lines += 1;
    const { maxId } = this;
    if (tradeId <= maxId) {
      this.fill(tradeId);
      return;
    }
    this.maxId = tradeId;
    if (maxId < 0) return;
    if (tradeId === maxId + 1) {
      this.steps += 1;
      return;
    }
    if (this.holes.length - this.closed >= MAX_OPEN) this.closed += 1;
    // Ids of a venue that are not consecutive would be a list as long as the recording.
    if (this.closed > MAX_OPEN) return;
    this.holes.push({ timeUs, fromId: maxId + 1, toId: tradeId - 1 });
  }

  /** Whether a missing trade would show. */
  get areConsecutive(): boolean {
    const { steps, holes, closed, lines } = this;
    const others = holes.length + closed - 1;
    return steps >= MIN_STEPS && steps > MIN_SHARE * others && lines * 2 < steps;
  }

  /** Empty if the ids are not consecutive. */
  get missing(): readonly MissingTrades[] {
    return this.areConsecutive ? this.holes : [];
  }

  /** A trade that comes later than one with a higher id. */
  private fill(id: number): void {
    const at = this.holes.findIndex(({ fromId, toId }) => fromId <= id && id <= toId);
    const hole = this.holes[at];
    if (hole === undefined) return;
    const parts = [
      { ...hole, toId: id - 1 },
      { ...hole, fromId: id + 1 },
    ].filter(({ fromId, toId }) => fromId <= toId);
    this.holes.splice(at, 1, ...parts);
  }
}
