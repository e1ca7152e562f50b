/**
 * A bot of signals and rules as in freqtrade. A signal of a candle takes effect at the next open,
 * in one position at a time. The entry has a stop-loss and a return-on-investment target (`roi`),
 * optionally trailed. An unfilled order may be cancelled or repriced at each open. Signals are
 * bits, candle 0 the lowest. Distances are in parts per million of the entry price, independent of
 * leverage.
 */
import {
  decimal,
  defineStrategy,
  integer,
  type FillUpdate,
  type OrderIntent,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';

const PPM = 1_000_000;
const bits = integer(0, { min: 0, max: 0xffff });
const distance = integer(0, { min: 0, max: PPM, describe: 'parts per million; 0 for none' });
const price = decimal('0', { min: '0', max: '100000', step: '0.01', describe: '0 for none' });
const candles = integer(0, { min: 0, max: 100, describe: '0 for never' });
const SIZE = '1';
const MARKET = '0';

export default defineStrategy({
  name: 'candle rules',
  parameters: {
    enterLong: bits,
    exitLong: bits,
    enterShort: bits,
    exitShort: bits,
    stop: distance,
    roi: distance,
    /**
     * From this many candles after the entry's, this is the target; 0 closes the position there.
     */
    roiAfter: candles,
    laterRoi: distance,
    trail: distance,
    /** Trails once the price is this far on the profitable side of the entry. */
    trailFrom: distance,
    entryPrice: price,
    exitPrice: price,
    /** A resting order is repriced to this at the opens after its placement. */
    adjustEntry: price,
    adjustExit: price,
    /** A resting order is cancelled this many opens after its placement. */
    cancelAfter: candles,
    /** An open position is closed at the open of this candle. */
    endAt: candles,
  },
  barsUs: () => [3_600_000_000],
  create: (rules): Strategy => new CandleBot(rules),
});

interface Rules {
  readonly enterLong: number;
  readonly exitLong: number;
  readonly enterShort: number;
  readonly exitShort: number;
  readonly stop: number;
  readonly roi: number;
  readonly roiAfter: number;
  readonly laterRoi: number;
  readonly trail: number;
  readonly trailFrom: number;
  readonly entryPrice: string;
  readonly exitPrice: string;
  readonly adjustEntry: string;
  readonly adjustExit: string;
  readonly cancelAfter: number;
  readonly endAt: number;
}

/** A resting entry or exit. */
interface Working {
  readonly orderId: string;
  readonly leaves: boolean;
  /** The candle after which it was first placed. */
  readonly placed: number;
}

class CandleBot implements Strategy {
  private readonly rules: Rules;
  /** The last completed candle. */
  private candle = -1;
  private way: 1 | -1 = 1;
  private position = 0;
  private entry = { candle: 0, price: 0 };
  private target = '';
  private working: Working | null = null;

  constructor(rules: Rules) {
    this.rules = rules;
  }

  async onBar(_bar: unknown, context: StrategyContext): Promise<void> {
    const { rules } = this;
    this.candle += 1;
    if (this.candle + 1 === rules.endAt) {
      await this.end(context);
      return;
    }
    if (await this.hasOrderLeft(context)) return;
    const exits = this.way > 0 ? rules.exitLong : rules.exitShort;
    if (this.position !== 0 && this.has(exits)) await this.leave(context, rules.exitPrice);
    const held = this.candle + 1 - this.entry.candle;
    if (this.position !== 0 && held === rules.roiAfter) await this.lowerTarget(context);
    const long = this.has(rules.enterLong) && !this.has(rules.exitLong | rules.enterShort);
    const short = this.has(rules.enterShort) && !this.has(rules.exitShort | rules.enterLong);
    if (this.position !== 0 || this.working !== null || long === short) return;
    this.way = long ? 1 : -1;
    await this.enter(context, rules.entryPrice);
  }

  async onFill(fill: FillUpdate, context: StrategyContext): Promise<void> {
    const wasFlat = this.position === 0;
    this.position = Number(fill.position);
    if (wasFlat) this.entry = { candle: this.candle + 1, price: Number(fill.price) };
    this.working = null;
    if (this.position === 0) await context.cancelAll();
  }

  private has(signals: number): boolean {
    return ((signals >> this.candle) & 1) === 1;
  }

  private async end(context: StrategyContext): Promise<void> {
    await context.cancelAll();
    this.working = null;
    if (this.position !== 0) await this.leave(context, MARKET);
  }

  /** Cancels or reprices a resting order; returns whether there still is one. */
  private async hasOrderLeft(context: StrategyContext): Promise<boolean> {
    const { working, rules } = this;
    if (working === null) return false;
    const { orderId, leaves, placed } = working;
    const price = leaves ? rules.adjustExit : rules.adjustEntry;
    const isOver = rules.cancelAfter > 0 && this.candle - placed >= rules.cancelAfter;
    if (!isOver && price === MARKET) return true;
    await context.cancel(orderId);
    this.working = null;
    if (isOver) return false;
    await (leaves ? this.leave(context, price, placed) : this.enter(context, price, placed));
    return true;
  }

  private async enter(context: StrategyContext, at: string, placed = this.candle): Promise<void> {
    const { rules, way } = this;
    const open = await openOf(context);
    const from = at === MARKET ? open : Number(at);
    const records = await context.submit({
      side: way > 0 ? 'buy' : 'sell',
      size: SIZE,
      ...(at === MARKET ? {} : { price: at }),
      ...(rules.stop === 0 ? {} : { stopLoss: this.beyond(context, from, -rules.stop) }),
      ...(rules.roi === 0 ? {} : { takeProfit: this.beyond(context, from, rules.roi) }),
    });
    this.target = records.find(({ orderType }) => orderType === 'takeProfit')?.orderId ?? '';
    if (this.position === 0) {
      this.working = { orderId: records[0]?.orderId ?? '', leaves: false, placed };
    } else if (rules.trail > 0) {
      const activation =
        rules.trailFrom === 0 ? {} : { triggerPrice: this.beyond(context, open, rules.trailFrom) };
      const trailingPercent = String(rules.trail / 10_000);
      await this.close(context, { orderType: 'trailingStop', trailingPercent, ...activation });
    }
  }

  private async leave(context: StrategyContext, at: string, placed = this.candle): Promise<void> {
    if (at === MARKET) await context.cancelAll();
    const orderId = await this.close(context, at === MARKET ? {} : { price: at });
    if (this.position !== 0) this.working = { orderId, leaves: true, placed };
  }

  private async lowerTarget(context: StrategyContext): Promise<void> {
    const { laterRoi } = this.rules;
    if (laterRoi === 0) {
      await this.leave(context, MARKET);
      return;
    }
    await context.cancel(this.target);
    const triggerPrice = this.beyond(context, this.entry.price, laterRoi);
    await this.close(context, { orderType: 'takeProfit', triggerPrice });
  }

  /** Places an order that closes the position; returns its id. */
  private async close(context: StrategyContext, terms: Partial<OrderIntent>): Promise<string> {
    const side = this.way > 0 ? 'sell' : 'buy';
    const [record] = await context.submit({ side, size: SIZE, reduceOnly: true, ...terms });
    return record?.orderId ?? '';
  }

  /** A price on the profitable side of another; on the losing side if negative. */
  private beyond(context: StrategyContext, from: number, ppm: number): string {
    return context.market().price(from * (1 + (this.way * ppm) / PPM), 'nearest');
  }
}

/** The open of the candle that begins now: the book is around it. */
async function openOf({ client, symbol }: StrategyContext): Promise<number> {
  const { bestBid } = await client.call('getPrice', { symbol });
  return Number(bestBid?.price ?? NaN);
}
