/**
 * Commands for recordings without a book. Bars have their synthetic book; trades get a book of two
 * levels, updated after each trade. A buy sets the ask to the trade's price, a sale the bid; the
 * other side is one spread away.
 */
import type { Command, TapeBar, TapeLevel, TapeQuotes } from '../engine/commands.ts';
import { lots, priceTicks, type MarketId } from '../num/units.ts';
import type { BarRecord, TradeRecord } from './record.ts';
import { spreadOfTrades, type TapeModel } from './tape-model.ts';

export function barCommand(bar: BarRecord, market: MarketId, model: TapeModel): TapeBar {
  return {
    kind: 'tapeBar',
    timeUs: bar.timeUs,
    market,
    openTicks: bar.open,
    highTicks: bar.high,
    lowTicks: bar.low,
    closeTicks: bar.close,
    volumeLots: bar.volume,
    quoteTicks: bar.close,
    spreadTicks: model.spreadTicks,
    depthLots: lots(model.depthLots ?? bar.volume),
    path: model.path,
    fill: model.fill,
  };
}

/** Synthetic book around the last trade. */
export class TradeQuotes {
  private readonly market: MarketId;
  private readonly model: TapeModel;

  constructor(market: MarketId, model: TapeModel) {
    this.market = market;
    this.model = model;
  }

  /** Commands of a trade: it matches the current book, then the book moves. */
  commands(trade: TradeRecord): Command[] {
    const { market } = this;
    const { timeUs, lots: size } = trade;
    const spread = spreadOfTrades(this.model);
    const bid = size > 0 ? trade.priceTicks - spread : trade.priceTicks;
    const depth = lots(this.model.depthLots ?? Math.abs(size));
    const levels: TapeLevel[] = [];
    if (bid > 0) levels.push({ side: 'bid', priceTicks: priceTicks(bid), lots: depth });
    levels.push({ side: 'ask', priceTicks: priceTicks(bid + spread), lots: depth });
    const quotes: TapeQuotes = { kind: 'tapeQuotes', timeUs, market, levels };
    const print: Command = {
      kind: 'tapeTrade',
      timeUs,
      market,
      priceTicks: trade.priceTicks,
      lots: size,
    };
    return [print, quotes];
  }
}
