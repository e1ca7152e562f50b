/**
 * A recorded market as the exchange takes it: its streams ordered by venue time and merged, the book synchronised, as
 * commands.
 */
import { durationUs, lots, type MarketId } from '../num/units.ts';
import type { TapeBar } from '../engine/commands.ts';
import { BookSync, type SyncFacts, type TapeStep } from './book-sync.ts';
import { mergeStreams } from './merge.ts';
import { inTapeOrder, ReadingOrder, type OrderingFacts } from './reading-order.ts';
import type { BarRecord, TapeRecord, TapeUnits } from './record.ts';
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
    return this.model.quote === 'nextOpen' ? opened(this.played()) : this.played();
  }

  private async *played(): AsyncGenerator<TapeStep[]> {
    const streams = this.streams.map((stream, i) => ordered(stream, this.orders[i]));
    for await (const records of mergeStreams(streams, inTapeOrder)) {
      yield this.stepsOf(records);
    }
  }

  private stepsOf(records: readonly TapeRecord[]): TapeStep[] {
    const steps: TapeStep[] = [];
    for (const record of records) this.sync.next(record, steps);
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

/** Lets each bar after the first open at its own time: the synthetic book moves there before what else the bar did is played. */
async function* opened(batches: AsyncIterable<TapeStep[]>): AsyncGenerator<TapeStep[]> {
  let last: TapeBar | null = null;
  // What came since the last bar: some of it may be later than the next one's open.
  let waiting: TapeStep[] = [];
  for await (const batch of batches) {
    const steps: TapeStep[] = [];
    for (const step of batch) {
      const { record, command } = step;
      if (record.kind !== 'bar' || command?.kind !== 'tapeBar') {
        (last === null ? steps : waiting).push(step);
        continue;
      }
      const { startUs } = record;
      steps.push(...waiting.filter((earlier) => earlier.record.timeUs <= startUs));
      if (last !== null) steps.push(openStep(step, record, command, last.depthLots));
      steps.push(...waiting.filter((later) => later.record.timeUs > startUs), step);
      waiting = [];
      last = command;
    }
    yield steps;
  }
  yield waiting;
}

/** The open of a bar by itself, at its start, in a book as deep as the last bar's: how much this one will trade is not known yet. */
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
