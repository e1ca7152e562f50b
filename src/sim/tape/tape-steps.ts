/**
 * A recorded market as the exchange takes it: its streams ordered by venue time and merged, the book synchronised, as
 * commands.
 */
import { durationUs, type MarketId, type PriceTicks } from '../../num/units.ts';
import { BookSync, type SyncFacts, type TapeStep } from './book-sync.ts';
import { mergeStreams } from './merge.ts';
import { inTapeOrder, ReadingOrder, type OrderingFacts } from './reading-order.ts';
import type { TapeRecord, TapeUnits } from './record.ts';
import { DEFAULT_TAPE_MODEL, type Fidelity, type TapeModel } from './tape-model.ts';

/** Two seconds of venue time: far more than streams of one venue drift apart. */
const WINDOW_US = durationUs(2_000_000);

export interface TapeOptions {
  /** What its records are played as; a book with its trades unless given. */
  readonly fidelity?: Fidelity;
  readonly model?: TapeModel;
}

export class TapeSteps {
  private readonly orders: readonly ReadingOrder[];
  private readonly sync: BookSync;
  private readonly streams: readonly AsyncIterable<readonly TapeRecord[]>[];
  private readonly model: TapeModel;

  /** `unitsOf` is asked once a record came: raw recordings name their symbol themselves. */
  constructor(
    streams: readonly AsyncIterable<readonly TapeRecord[]>[],
    market: MarketId,
    unitsOf: () => TapeUnits,
    { fidelity = 'l2', model = DEFAULT_TAPE_MODEL }: TapeOptions = {},
  ) {
    this.streams = streams;
    this.orders = streams.map(() => new ReadingOrder(WINDOW_US, fidelity === 'l3'));
    this.model = model;
    this.sync = new BookSync(market, unitsOf, fidelity, model);
  }

  /** Of all streams together. */
  get orderingFacts(): OrderingFacts {
    const all = this.orders.map(({ facts }) => facts);
    return {
      outOfOrder: all.reduce((sum, facts) => sum + facts.outOfOrder, 0),
      late: all.reduce((sum, facts) => sum + facts.late, 0),
      minFeedLatencyUs: Math.min(...all.map((facts) => facts.minFeedLatencyUs)),
      maxFeedLatencyUs: Math.max(...all.map((facts) => facts.maxFeedLatencyUs)),
    };
  }
  get syncFacts(): SyncFacts {
    return this.sync.facts;
  }

  /** Batches of steps, in order; an empty batch when nothing is due yet. */
  batches(): AsyncGenerator<TapeStep[]> {
    return this.model.quote === 'nextOpen' ? quotedAhead(this.played()) : this.played();
  }

  private async *played(): AsyncGenerator<TapeStep[]> {
    const streams = this.streams.map((stream, i) => ordered(stream, this.orders[i]));
    for await (const records of mergeStreams(streams, inTapeOrder)) {
      const steps: TapeStep[] = [];
      for (const record of records) this.sync.next(record, steps);
      yield steps;
    }
  }
}

async function* ordered(
  stream: AsyncIterable<readonly TapeRecord[]>,
  order = new ReadingOrder(WINDOW_US),
): AsyncGenerator<TapeRecord[]> {
  for await (const records of stream) {
    const due: TapeRecord[] = [];
    for (const record of records) order.push(record, due);
    yield due;
  }
  yield order.flush();
}

/** Lets the synthetic book of each bar stand around the open of the next: a bar waits until that one is read. */
async function* quotedAhead(batches: AsyncIterable<TapeStep[]>): AsyncGenerator<TapeStep[]> {
  let waiting: TapeStep[] = [];
  for await (const batch of batches) {
    const steps: TapeStep[] = [];
    for (const step of batch) {
      if (step.command?.kind === 'tapeBar') {
        steps.push(...quotedAt(waiting, step.command.openTicks));
        waiting = [step];
      } else (waiting.length > 0 ? waiting : steps).push(step);
    }
    yield steps;
  }
  yield waiting;
}

/** The steps from a bar to before the next, the bar's book around a price. */
function quotedAt(steps: readonly TapeStep[], quoteTicks: PriceTicks): TapeStep[] {
  return steps.map((step) =>
    step.command?.kind === 'tapeBar' ? { ...step, command: { ...step.command, quoteTicks } } : step,
  );
}
