/**
 * A range of a tape: [fromUs, toUs). Earlier steps are summarised, not played: the range starts
 * with the book at that time and the last mark and index.
 */
import type { Command, TapeL3, TapeLevel } from '../engine/commands.ts';
import { lots, timeUs, type MarketId } from '../num/units.ts';
import type { TapeStep } from './book-sync.ts';

export interface TapeRange {
  /** Default: the start of the tape. */
  readonly fromUs?: number;
  /** Exclusive; default: the end of the tape. */
  readonly toUs?: number;
}

/** Venue time of a step. */
export function stepUs(step: TapeStep): number {
  return step.command?.timeUs ?? step.record.timeUs;
}

/** Steps of one market within the range, after a summary of the earlier ones. */
export async function* inRange(
  batches: AsyncIterable<readonly TapeStep[]>,
  market: MarketId,
  { fromUs = -Infinity, toUs = Infinity }: TapeRange,
): AsyncGenerator<readonly TapeStep[]> {
  const before = new RangePrefix(market);
  let begun = fromUs === -Infinity;
  for await (const batch of batches) {
    const steps: TapeStep[] = [];
    for (const step of batch) {
      const atUs = stepUs(step);
      if (atUs >= toUs) {
        yield steps;
        return;
      }
      if (atUs < fromUs) {
        before.take(step);
        continue;
      }
      if (!begun) {
        begun = true;
        steps.push(...before.summary(step, fromUs));
      }
      steps.push(step);
    }
    yield steps;
  }
}

/** Summary of the steps before the range. */
class RangePrefix {
  private readonly market: MarketId;
  private readonly bids = new Map<number, TapeLevel>();
  private readonly asks = new Map<number, TapeLevel>();
  /** Resting historical orders, oldest first. */
  private readonly orders = new Map<number, TapeL3>();
  private whole = false;
  private gap = false;
  private last: Partial<Record<'setMark' | 'setIndex', Command>> = {};

  constructor(market: MarketId) {
    this.market = market;
  }

  take({ command }: TapeStep): void {
    switch (command?.kind) {
      case 'tapeSnapshot':
      case 'tapeQuotes':
        this.bids.clear();
        this.asks.clear();
        this.orders.clear();
        this.whole = true;
        for (const level of command.levels) this.set(level);
        return;
      case 'tapeDepth':
        for (const level of command.levels) this.set(level);
        return;
      case 'tapeL3':
        this.takeOrder(command);
        return;
      case 'tapeGap':
        this.orders.clear();
        this.gap = true;
        this.whole = false;
        return;
      case 'tapeBar':
        this.gap = false;
        return;
      case 'setMark':
      case 'setIndex':
        this.last = { ...this.last, [command.kind]: command };
        return;
      default:
    }
  }

  summary(next: TapeStep, fromUs: number): TapeStep[] {
    const at = timeUs(fromUs);
    const { record, inSync } = next;
    const { market } = this;
    const commands: Command[] = [];
    const { setMark, setIndex } = this.last;
    if (setIndex !== undefined) commands.push({ ...setIndex, timeUs: at });
    if (setMark !== undefined) commands.push({ ...setMark, timeUs: at });
    if (this.whole) {
      const levels = [...this.bids.values(), ...this.asks.values()];
      commands.push({ kind: 'tapeSnapshot', timeUs: at, market, levels });
      for (const order of this.orders.values()) commands.push({ ...order, timeUs: at });
    } else if (this.gap) commands.push({ kind: 'tapeGap', timeUs: at, market });
    return commands.map((command) => ({ record, command, inSync }));
  }

  private takeOrder(command: TapeL3): void {
    const { action, ref } = command;
    if (action === 'add') {
      // Reinserted at the end of the map, because the order moves to the back of the queue.
      this.orders.delete(ref);
      this.orders.set(ref, command);
      return;
    }
    const order = this.orders.get(ref);
    if (order === undefined) {
      this.takeUnnamed(command);
      return;
    }
    const left = action === 'remove' ? 0 : order.lots - command.lots;
    if (left <= 0) this.orders.delete(ref);
    else this.orders.set(ref, { ...order, lots: lots(left) });
  }

  /** Removes an order of the opening book that has no id. */
  private takeUnnamed({ side, priceTicks, lots: size }: TapeL3): void {
    const levels = side === 'bid' ? this.bids : this.asks;
    const left = Math.max(0, (levels.get(priceTicks)?.lots ?? 0) - size);
    this.set({ side, priceTicks, lots: lots(left) });
  }

  private set(level: TapeLevel): void {
    const side = level.side === 'bid' ? this.bids : this.asks;
    if (level.lots === 0) side.delete(level.priceTicks);
    else side.set(level.priceTicks, level);
  }
}
