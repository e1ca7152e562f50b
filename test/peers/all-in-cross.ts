/**
 * `SmaCross` as in backtesting.py: long after the fast average crosses above the slow one, short
 * after it crosses below, never both. The size is all whole units that the money buys after closing
 * the previous position and paying commission (`exclusive_orders`, `size` of all). An optional stop
 * and target are shares of the last close. With `fast` of 1 the close itself crosses; with `units`
 * and without `short` it is `TestStrategy` of backtrader's own tests.
 */
import {
  choice,
  defineStrategy,
  flag,
  integer,
  type BarUpdate,
  type FillUpdate,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';

const BARS_US = { '1m': 60_000_000, '1d': 86_400_000_000 };
const PPM = 1_000_000;

export default defineStrategy({
  name: 'all-in cross',
  parameters: {
    bar: choice('1d', ['1m', '1d'], 'length of a bar'),
    fast: integer(10, { min: 1, max: 200 }),
    slow: integer(20, { min: 2, max: 400 }),
    units: integer(0, { min: 0, max: 1_000_000, describe: '0: all that the money buys' }),
    short: flag(true, 'sell short after a cross below; else stay flat'),
    flatAfter: integer(0, {
      min: 0,
      max: 1_000_000,
      describe: 'close after this many bars; 0: never',
    }),
    stop: integer(0, { min: 0, max: PPM, describe: 'parts per million; 0 for none' }),
    target: integer(0, { min: 0, max: PPM, describe: 'parts per million; 0 for none' }),
  },
  barsUs: ({ bar }) => [BARS_US[bar]],
  create: (rules): Strategy => new AllInCross(rules),
});

interface Rules {
  readonly fast: number;
  readonly slow: number;
  readonly units: number;
  readonly short: boolean;
  readonly flatAfter: number;
  readonly stop: number;
  readonly target: number;
}

class AllInCross implements Strategy {
  private readonly rules: Rules;
  private closes: number[] = [];
  private held = 0;
  private bars = 0;

  constructor(rules: Rules) {
    this.rules = rules;
  }

  async onBar({ close }: BarUpdate, context: StrategyContext): Promise<void> {
    const { fast, slow, flatAfter } = this.rules;
    this.bars += 1;
    if (flatAfter > 0 && this.bars >= flatAfter) {
      if (this.bars === flatAfter) await this.close(context);
      return;
    }
    this.closes = [...this.closes, close].slice(-slow - 1);
    if (this.closes.length <= slow) return;
    const above = (closes: readonly number[]): number =>
      Math.sign(mean(closes.slice(-fast)) - mean(closes.slice(-slow)));
    const way = above(this.closes);
    if (way !== 0 && above(this.closes.slice(0, -1)) === -way) {
      await this.turn(way > 0 ? 1 : -1, close, context);
    }
  }

  onFill(fill: FillUpdate): void {
    this.held = Number(fill.position);
  }

  private async close(context: StrategyContext): Promise<void> {
    if (this.held === 0) return;
    const side = this.held < 0 ? 'buy' : 'sell';
    await context.submit({ side, size: String(Math.abs(this.held)), reduceOnly: true });
  }

  /**
   * Closes the previous position and opens the opposite one with all money, both at the current
   * book price.
   */
  private async turn(way: 1 | -1, close: number, context: StrategyContext): Promise<void> {
    const side = way > 0 ? 'buy' : 'sell';
    await this.close(context);
    if (way < 0 && !this.rules.short) return;
    const { client, account, subaccountIndex, symbol } = context;
    const { accountValue } = await client.call('getStats', { account, subaccountIndex });
    const { bestBid } = await client.call('getPrice', { symbol });
    const market = context.market();
    const affords = Number(accountValue) / (Number(bestBid?.price) * (1 + market.takerFee));
    const units = this.rules.units === 0 ? Math.floor(affords) : this.rules.units;
    if (units === 0) return;
    const { stop, target } = this.rules;
    const beyond = (ppm: number): string =>
      market.price(close * (1 + (way * ppm) / PPM), 'nearest');
    await context.submit({
      side,
      size: String(units),
      ...(stop === 0 ? {} : { stopLoss: beyond(-stop) }),
      ...(target === 0 ? {} : { takeProfit: beyond(target) }),
    });
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
