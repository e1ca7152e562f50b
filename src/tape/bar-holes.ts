/**
 * Closes the synthetic book of bars where bars are missing. Its book stands until the next bar is
 * due: it is not known to be missing before. The market then waits (`tapeGap`), and the next
 * bar opens it again.
 *
 * A step is held until the next bar is known, at most for one bar.
 */
import { marketId, timeUs, type MarketId } from '../num/units.ts';
import type { TapeStep } from './book-sync.ts';
import type { BarRecord } from './record.ts';

/** Bars after the end of a bar in which its book stands. */
export const STANDS = 1;

/**
 * `untilUs`: last time of all markets. A market without further bars is closed only if others
 * continue.
 */
export async function* closedInHoles(
  batches: AsyncIterable<TapeStep[]>,
  untilUs: number,
): AsyncGenerator<TapeStep[]> {
  const holes = new BarHoles();
  for await (const batch of batches) {
    const steps: TapeStep[] = [];
    for (const step of batch) holes.take(step, steps);
    yield steps;
  }
  yield holes.finish(untilUs);
}

class BarHoles {
  private last: BarRecord | null = null;
  private market: MarketId = marketId(0);
  /** When the book closes unless another bar follows; Infinity while it is closed. */
  private closesUs = Infinity;
  /** From here on, every next bar begins after the book closes. */
  private isHoleFromUs = Infinity;
  /** Steps after `closesUs`. */
  private readonly pending: TapeStep[] = [];

  /** Appends the steps that are due. */
  take(step: TapeStep, steps: TapeStep[]): void {
    const { record, command } = step;
    if (record.kind !== 'bar' || command?.kind !== 'tapeBar') {
      const atUs = command?.timeUs ?? record.timeUs;
      if (atUs > this.isHoleFromUs) this.close(steps);
      (atUs > this.closesUs ? this.pending : steps).push(step);
      return;
    }
    if (record.startUs > this.closesUs) this.close(steps);
    this.release(steps);
    steps.push(step);
    const lengthUs = record.timeUs - record.startUs + 1;
    this.last = record;
    this.market = command.market;
    this.closesUs = record.timeUs + Math.floor(lengthUs * STANDS);
    this.isHoleFromUs = this.closesUs + lengthUs;
  }

  /** The remaining steps. */
  finish(untilUs: number): TapeStep[] {
    const steps: TapeStep[] = [];
    if (this.closesUs < untilUs) this.close(steps);
    this.release(steps);
    return steps;
  }

  /** Appends the steps that waited, of any number. */
  private release(steps: TapeStep[]): void {
    for (const step of this.pending) steps.push(step);
    this.pending.length = 0;
  }

  private close(steps: TapeStep[]): void {
    const { last: record, market } = this;
    if (record === null) return;
    const atUs = timeUs(this.closesUs);
    steps.push({
      record: { ...record, timeUs: atUs, localUs: timeUs(atUs + record.localUs - record.timeUs) },
      command: { kind: 'tapeGap', timeUs: atUs, market },
      inSync: false,
    });
    this.release(steps);
    this.closesUs = Infinity;
    this.isHoleFromUs = Infinity;
  }
}
