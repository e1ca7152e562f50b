/**
 * A part of a tape, from one time to before another. What came before is not played but summed up: the part begins with
 * the book as it then was, and with the last mark and index.
 */
import type { Command, TapeLevel } from '../../engine/commands.ts';
import { timeUs, type MarketId } from '../../num/units.ts';
import type { TapeStep } from './book-sync.ts';

export interface TapeRange {
  /** From the beginning when left out. */
  readonly fromUs?: number;
  /** To the end when left out; exclusive. */
  readonly toUs?: number;
}

/** When a step happens on the tape. */
export function stepUs(step: TapeStep): number {
  return step.command?.timeUs ?? step.record.timeUs;
}

/** The steps of one market that lie in the range, after what sums up the ones before it. */
export async function* inRange(
  batches: AsyncIterable<readonly TapeStep[]>,
  market: MarketId,
  { fromUs = -Infinity, toUs = Infinity }: TapeRange,
): AsyncGenerator<readonly TapeStep[]> {
  const before = new Before(market);
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

/** What the tape has said so far. */
class Before {
  private readonly market: MarketId;
  private readonly bids = new Map<number, TapeLevel>();
  private readonly asks = new Map<number, TapeLevel>();
  private whole = false;
  private gap = false;
  private last: Partial<Record<'setMark' | 'setIndex', Command>> = {};

  constructor(market: MarketId) {
    this.market = market;
  }

  take({ command }: TapeStep): void {
    switch (command?.kind) {
      case 'tapeSnapshot':
        this.bids.clear();
        this.asks.clear();
        this.whole = true;
        for (const level of command.levels) this.set(level);
        return;
      case 'tapeDepth':
        for (const level of command.levels) this.set(level);
        return;
      case 'tapeGap':
        this.gap = true;
        this.whole = false;
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
    } else if (this.gap) commands.push({ kind: 'tapeGap', timeUs: at, market });
    return commands.map((command) => ({ record, command, inSync }));
  }

  private set(level: TapeLevel): void {
    const side = level.side === 'bid' ? this.bids : this.asks;
    if (level.lots === 0) side.delete(level.priceTicks);
    else side.set(level.priceTicks, level);
  }
}
