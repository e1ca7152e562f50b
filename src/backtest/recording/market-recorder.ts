/** Records the markets of a run: price samples, times without a book, funding rates, trades. */
import type { EngineEvent, TapeApplied } from '../../engine/events.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { MarketView } from '../../engine/read/views.ts';
import { priceText, sizeText } from '../../gateway/encode.ts';
import { formatDecimal } from '../../num/decimal.ts';
import type { MarketId } from '../../num/units.ts';
import type { MarketOutput, MarketPoint } from '../output.ts';
import { addSample } from './sample-times.ts';

interface State {
  readonly series: MarketPoint[];
  readonly gaps: { fromUs: number; toUs: number }[];
  staleSinceUs: number | null;
  frozenUs: number;
  frozenSinceUs: number | null;
  readonly fundingRates: { timeUs: number; rate: string }[];
  trades: number;
  volumeLots: number;
}

export class MarketRecorder {
  private readonly engine: Exchange;
  private readonly id: MarketId;
  private state: State = {
    series: [],
    gaps: [],
    staleSinceUs: null,
    frozenUs: 0,
    frozenSinceUs: null,
    fundingRates: [],
    trades: 0,
    volumeLots: 0,
  };

  constructor(engine: Exchange, id: MarketId) {
    this.engine = engine;
    this.id = id;
  }

  onEvent(event: EngineEvent): void {
    const { state } = this;
    switch (event.kind) {
      case 'tradePrinted':
        state.trades += 1;
        state.volumeLots += Math.abs(event.lots);
        return;
      case 'fundingSettled':
        state.fundingRates.push({
          timeUs: event.timeUs,
          rate: formatDecimal(BigInt(event.ratePpb), 9),
        });
        return;
      case 'marketFrozen':
        state.frozenUs += this.openFreezeUs(event.timeUs);
        state.frozenSinceUs = event.frozen ? event.timeUs : null;
        return;
      default:
    }
  }

  onTape({ what, timeUs }: TapeApplied): void {
    const { state } = this;
    if (what === 'gap') state.staleSinceUs ??= timeUs;
    else if ((what === 'snapshot' || what === 'bar') && state.staleSinceUs !== null) {
      // A recording that begins with a snapshot has a book at once.
      if (timeUs > state.staleSinceUs) {
        state.gaps.push({ fromUs: state.staleSinceUs, toUs: timeUs });
      }
      state.staleSinceUs = null;
    }
  }

  private openFreezeUs(untilUs: number): number {
    const { frozenSinceUs } = this.state;
    return frozenSinceUs === null ? 0 : untilUs - frozenSinceUs;
  }

  /** Records a sample; returns the mark for the valuation of positions. */
  sample(timeUs: number, mid: number | null): number | null {
    const market = this.engine.market(this.id);
    const { bestBid, bestAsk, markTicks, indexTicks } = market;
    const price = (ticks: number | null): number | null =>
      ticks === null ? null : Number(priceText(market, ticks));
    const mark = price(markTicks);
    addSample(this.state.series, {
      timeUs,
      mid,
      mark,
      index: price(indexTicks),
      spread:
        bestBid === null || bestAsk === null
          ? null
          : Number(priceText(market, bestAsk.priceTicks - bestBid.priceTicks)),
      bidSize: bestBid === null ? 0 : Number(sizeText(market, bestBid.lots)),
      askSize: bestAsk === null ? 0 : Number(sizeText(market, bestAsk.lots)),
    });
    return mark;
  }

  output(endUs: number): MarketOutput {
    const { state } = this;
    const market: MarketView = this.engine.market(this.id);
    const { spec } = market;
    const { lots, levels } = this.engine.divergence(this.id);
    return {
      symbol: spec.symbol,
      tickSize: spec.tickSize,
      lotSize: spec.lotSize,
      series: state.series,
      gaps:
        state.staleSinceUs === null
          ? state.gaps
          : [...state.gaps, { fromUs: state.staleSinceUs, toUs: endUs }],
      frozenUs: state.frozenUs + this.openFreezeUs(endUs),
      fundingRates: state.fundingRates,
      trades: state.trades,
      volume: sizeText(market, state.volumeLots),
      divergence: { size: sizeText(market, lots), levels },
    };
  }

  save(): unknown {
    return this.state;
  }

  load(saved: unknown): void {
    const state = saved as Omit<State, 'frozenUs' | 'frozenSinceUs'>;
    // Checkpoints of earlier versions have no frozen time.
    this.state = { frozenUs: 0, frozenSinceUs: null, ...state };
  }
}
