/**
 * A recorded market as commands: its streams ordered by venue time and merged, the book
 * synchronised.
 */
import { durationUs, lots, type MarketId } from '../num/units.ts';
import type { TapeBar } from '../engine/commands.ts';
import { closedInHoles } from './bar-holes.ts';
import { BookSync, type SyncFacts, type TapeStep } from './book-sync.ts';
import { mergeStreams } from './merge.ts';
import { inTapeOrder, ReadingOrder, type OrderingFacts } from './reading-order.ts';
import type { BarRecord, TapeRecord, TapeUnits } from './record.ts';
import type { RecordChecks } from './record-checks.ts';
import { DEFAULT_TAPE_MODEL, type Fidelity, type TapeModel } from './tape-model.ts';

/** Two seconds of venue time: much more than the skew between streams of one venue. */
const WINDOW_US = durationUs(2_000_000);

export interface TapeOptions {
  /** Fidelity to play; default: a book with its trades. */
  readonly fidelity?: Fidelity;
  readonly model?: TapeModel;
  /**
   * Closes the book of bars where bars are missing, also after the last one if it is before this
   * time; default: it stays open.
   */
  readonly closesUntilUs?: number;
  /** Receives each record in order. */
  readonly checks?: RecordChecks;
}

export class TapeSteps {
  private readonly orders: readonly ReadingOrder[];
  private readonly sync: BookSync;
  private readonly streams: readonly AsyncIterable<readonly TapeRecord[]>[];
  private readonly model: TapeModel;
  private readonly closesUntilUs: number | null;
  private readonly checks: RecordChecks | undefined;

  /** `unitsOf` is called after the first record: raw recordings name their symbol themselves. */
  constructor(
    streams: readonly AsyncIterable<readonly TapeRecord[]>[],
    market: MarketId,
    unitsOf: () => TapeUnits,
    { fidelity = 'l2', model = DEFAULT_TAPE_MODEL, closesUntilUs, checks }: TapeOptions = {},
  ) {
    this.streams = streams;
    this.closesUntilUs = fidelity === 'bars' ? (closesUntilUs ?? null) : null;
    this.orders = streams.map(() => new ReadingOrder(WINDOW_US, fidelity === 'l3'));
    this.model = model;
    this.checks = checks;
    this.sync = new BookSync(market, unitsOf, fidelity, model);
  }

  /** Ordering counters of all streams. */
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

  /** Batches of steps, in order; a batch is empty if nothing is due. */
  batches(): AsyncGenerator<TapeStep[]> {
    const { closesUntilUs } = this;
    const played =
      closesUntilUs === null ? this.played() : closedInHoles(this.played(), closesUntilUs);
    return this.model.quote === 'nextOpen' ? opened(played) : played;
  }

  private async *played(): AsyncGenerator<TapeStep[]> {
    const streams = this.streams.map((stream, i) => ordered(stream, this.orders[i]));
    try {
      for await (const records of mergeStreams(streams, inTapeOrder)) yield this.stepsOf(records);
    } finally {
      this.sync.finish();
    }
  }

  private stepsOf(records: readonly TapeRecord[]): TapeStep[] {
    const steps: TapeStep[] = [];
    for (const record of records) {
      this.checks?.take(record);
      this.sync.next(record, steps);
    }
    return steps;
  }
}

async function* ordered(
  stream: AsyncIterable<readonly TapeRecord[]>,
  order = new ReadingOrder(WINDOW_US),
): AsyncGenerator<TapeRecord[]> {
  for await (const records of stream) {
    yield order.take(records);
  }
  yield order.flush();
}

/**
 * Makes each bar after the first open at its own time: the synthetic book moves there before the
 * rest of the bar.
 */
async function* opened(batches: AsyncIterable<TapeStep[]>): AsyncGenerator<TapeStep[]> {
  let last: TapeBar | null = null;
  // Steps since the last bar; some may be later than the next bar's open.
  let pending: TapeStep[] = [];
  for await (const batch of batches) {
    const steps: TapeStep[] = [];
    for (const step of batch) {
      const { record, command } = step;
      if (record.kind !== 'bar' || command?.kind !== 'tapeBar') {
        (last === null ? steps : pending).push(step);
        continue;
      }
      const { startUs } = record;
      for (const earlier of pending) if (earlier.record.timeUs <= startUs) steps.push(earlier);
      if (last !== null) steps.push(openStep(step, record, command, last.depthLots));
      for (const later of pending) if (later.record.timeUs > startUs) steps.push(later);
      steps.push(step);
      pending = [];
      last = command;
    }
    yield steps;
  }
  yield pending;
}

/**
 * Open of a bar as a step of its own, at its start. The book is as deep as in the last bar, because
 * the volume of this one is not known yet.
 */
function openStep(
  step: TapeStep,
  record: BarRecord,
  bar: TapeBar,
  depthLots: TapeBar['depthLots'],
): TapeStep {
  const { open, startUs } = record;
  const price = { highTicks: open, lowTicks: open, closeTicks: open, quoteTicks: open };
  return {
    ...step,
    record: { ...record, timeUs: startUs, localUs: startUs },
    command: { ...bar, ...price, timeUs: startUs, volumeLots: lots(0), depthLots },
  };
}
