/** Records a run: dispatches events to recorders as they occur, and schedules samples. */
import type { EngineEvent, TapeApplied } from '../../engine/events.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { OrderIds } from '../../gateway/order-ids.ts';
import { marketId, type SubaccountId } from '../../num/units.ts';
import type { MarketOutput, StrategyOutput } from '../output.ts';
import type { StrategyEntry } from '../strategy-run.ts';
import type { Touches } from '../touches.ts';
import { Benchmark } from './benchmark.ts';
import { MarketRecorder } from './market-recorder.ts';
import { Markouts } from './markouts.ts';
import { nextSample } from './sample-times.ts';
import { StrategyRecorder, type RequestTimes } from './strategy-recorder.ts';

interface SavedRecorder {
  readonly nextSampleUs: number;
  readonly markouts: unknown;
  readonly markets: readonly unknown[];
  readonly strategies: readonly unknown[];
  readonly benchmarks: readonly unknown[];
}

export class Recorder {
  /** The request that the exchange is processing. */
  request: RequestTimes | null = null;
  private readonly sampleUs: number;
  /** Samples are taken this long before whole multiples of the interval. */
  private readonly earlyUs: number;
  private readonly touches: Touches;
  private readonly markouts = new Markouts();
  private readonly markets: readonly MarketRecorder[];
  private readonly strategies: StrategyRecorder[] = [];
  /** Recorders by dense subaccount id. */
  private readonly bySubaccount = new Map<SubaccountId, StrategyRecorder>();
  private readonly benchmarks: Benchmark[] = [];
  private readonly entries: StrategyEntry[] = [];
  private readonly engine: Exchange;
  private readonly ids: OrderIds;
  private nextSampleUs = Infinity;
  private waiting = false;

  constructor(
    engine: Exchange,
    ids: OrderIds,
    touches: Touches,
    { sampleUs, earlyUs }: { readonly sampleUs: number; readonly earlyUs: number },
  ) {
    this.engine = engine;
    this.ids = ids;
    this.touches = touches;
    this.sampleUs = sampleUs;
    this.earlyUs = earlyUs;
    this.markets = engine.markets().map(({ id }) => new MarketRecorder(engine, id));
  }

  add(entry: StrategyEntry, subaccount: SubaccountId): StrategyRecorder {
    const { engine, ids, markouts } = this;
    const recorder = new StrategyRecorder(subaccount, {
      engine,
      ids,
      markouts,
      mid: (market) => this.mid(market),
      request: () => this.request,
    });
    if (entry.reports) {
      this.entries.push(entry);
      this.strategies.push(recorder);
      this.bySubaccount.set(subaccount, recorder);
      this.benchmarks.push(new Benchmark(engine, entry));
    }
    return recorder;
  }

  /**
   * Takes the first sample, which has what the strategies begin with. The others are at whole
   * multiples of the interval, or `earlyUs` before them.
   */
  begin(atUs: number): void {
    this.nextSampleUs = nextSample(atUs, this.sampleUs, this.earlyUs);
    for (const strategy of this.strategies) strategy.begin();
    this.sample(atUs);
    this.buy();
  }

  /** Whether a benchmark waits for the first mid of its market. */
  get awaitsMid(): boolean {
    return this.waiting;
  }

  /** Benchmarks buy when they have a mid. */
  buy(): void {
    this.waiting = false;
    for (const benchmark of this.benchmarks) {
      if (!benchmark.buy(this.mid(benchmark.market))) this.waiting = true;
    }
  }

  /** Time of the next sample, which follows all other events of that time. */
  get dueUs(): number {
    return Math.min(this.nextSampleUs, this.markouts.dueUs);
  }

  takeDue(atUs: number): void {
    if (this.markouts.dueUs <= atUs) this.markouts.take(atUs, (market) => this.mid(market));
    if (this.nextSampleUs > atUs) return;
    this.sample(this.nextSampleUs);
    this.nextSampleUs += this.sampleUs;
  }

  /**
   * Takes the last sample, at the end of the data. It shows what the answers to the last requests
   * changed until `nowUs`: a sample at their time would begin a period that has no data.
   */
  end(endUs: number, nowUs: number): void {
    const isTaken = this.nextSampleUs - this.sampleUs === endUs && nowUs === endUs;
    if (this.nextSampleUs !== Infinity && !isTaken) this.sample(endUs);
    this.nextSampleUs = Infinity;
  }

  onTape(event: TapeApplied): void {
    this.markets[event.market]?.onTape(event);
  }

  onEvent(event: EngineEvent): void {
    if ('market' in event && event.market !== null) {
      this.markets[event.market]?.onEvent(event);
    }
    if (event.kind === 'positionTransferred') {
      this.bySubaccount.get(event.from)?.onEvent(event);
      this.bySubaccount.get(event.to)?.onEvent(event);
    } else if ('subaccount' in event) this.bySubaccount.get(event.subaccount)?.onEvent(event);
  }

  strategyOutputs(): StrategyOutput[] {
    return this.strategies.map((recorder, i) => {
      const entry = this.entries[i];
      if (entry === undefined) throw new RangeError('a strategy has its entry');
      return {
        id: entry.id,
        name: entry.name,
        parameters: entry.parameters,
        account: entry.account,
        subaccountIndex: entry.subaccountIndex,
        symbols: entry.symbols ?? this.engine.markets().map(({ spec }) => spec.symbol),
        summary: recorder.summary(),
        benchmark: this.benchmarks[i]?.points ?? [],
        ...recorder.rows(),
      };
    });
  }

  marketOutputs(endUs: number): MarketOutput[] {
    return this.markets.map((market) => market.output(endUs));
  }

  /** The mid of history, if a strategy's order holds its levels away; otherwise of the book. */
  mid(market: number): number | null {
    const id = marketId(market);
    const mid = this.touches.mid(id);
    const stated = mid === null ? null : this.engine.statedHalfTicks(id);
    return stated === null ? mid : this.touches.price(id, stated);
  }

  private sample(atUs: number): void {
    const mids = this.markets.map((_market, i) => this.mid(i));
    const marks = this.markets.map((market, i) => market.sample(atUs, mids[i] ?? null));
    for (const strategy of this.strategies) strategy.sample(atUs, marks);
    for (const benchmark of this.benchmarks) benchmark.sample(atUs, mids);
  }

  save(): SavedRecorder {
    return {
      nextSampleUs: this.nextSampleUs,
      markouts: this.markouts.save(),
      markets: this.markets.map((market) => market.save()),
      strategies: this.strategies.map((strategy) => strategy.save()),
      benchmarks: this.benchmarks.map((benchmark) => benchmark.save()),
    };
  }

  load(saved: unknown): void {
    const from = saved as SavedRecorder;
    this.nextSampleUs = from.nextSampleUs;
    this.markouts.load(from.markouts);
    this.markets.forEach((market, i) => {
      market.load(from.markets[i]);
    });
    this.strategies.forEach((strategy, i) => {
      strategy.load(from.strategies[i]);
    });
    this.benchmarks.forEach((benchmark, i) => {
      benchmark.load(from.benchmarks[i]);
    });
    if (this.nextSampleUs !== Infinity) this.buy();
  }
}
