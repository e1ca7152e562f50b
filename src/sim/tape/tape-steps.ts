/** A recording as the exchange takes it: ordered by venue time, synchronised, as commands. */
import { durationUs, type MarketId } from '../../num/units.ts';
import { BookSync, type SyncFacts, type TapeStep } from './book-sync.ts';
import { ReadingOrder, type OrderingFacts } from './reading-order.ts';
import type { TapeRecord } from './record.ts';

/** Two seconds of venue time: far more than streams of one venue drift apart. */
const WINDOW_US = durationUs(2_000_000);

export class TapeSteps {
  private readonly order = new ReadingOrder(WINDOW_US);
  private readonly sync: BookSync;
  private readonly source: AsyncIterable<readonly TapeRecord[]>;

  constructor(source: AsyncIterable<readonly TapeRecord[]>, market: MarketId) {
    this.source = source;
    this.sync = new BookSync(market);
  }

  get orderingFacts(): OrderingFacts {
    return this.order.facts;
  }
  get syncFacts(): SyncFacts {
    return this.sync.facts;
  }

  /** Batches of steps, in order; an empty batch when nothing is due yet. */
  async *batches(): AsyncGenerator<TapeStep[]> {
    for await (const records of this.source) {
      const steps: TapeStep[] = [];
      for (const record of records) {
        for (const due of this.order.push(record)) steps.push(...this.sync.next(due));
      }
      yield steps;
    }
    yield this.order.flush().flatMap((record) => this.sync.next(record));
  }
}
