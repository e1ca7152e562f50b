/**
 * Reference model of `SmaCross` (`all-in-cross.ts`) from the documentation of backtesting.py. An
 * order of bar i fills at the open of bar i + 1, or with `trade_on_close` at the close of bar i.
 * `exclusive_orders` close the previous position at the same price. `size` of all is the whole
 * units that the equity pays, including the commission, a share of each fill. A stop fills at its
 * price or, if a bar opens beyond it, at that open; so does a target. If one bar reaches both, the
 * stop is first, and the bar of the entry counts. Open positions at the end stay open. Equity is at
 * each close.
 */
export interface Bar {
  readonly timeMs: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

export interface Rules {
  readonly fast: number;
  readonly slow: number;
  readonly commission: number;
  readonly onClose: boolean;
  /** Shares of the last close; 0 for none. */
  readonly stop: number;
  readonly target: number;
}

export interface Trade {
  /** Negative when short. */
  readonly size: number;
  readonly entryMs: number;
  readonly entryPrice: number;
  readonly exitMs: number;
  readonly exitPrice: number;
  /** After both commissions. */
  readonly profit: number;
}

interface Held {
  readonly size: number;
  readonly entryMs: number;
  readonly entryPrice: number;
  readonly stop: number;
  readonly target: number;
}

/** Its prices are arbitrary numbers; those of an exchange are on its ticks. */
export const toCents = (value: number): number => Math.round(value * 100) / 100;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

export function byBacktestingPy(
  bars: readonly Bar[],
  rules: Rules,
  cash: number,
): { readonly trades: readonly Trade[]; readonly equity: readonly number[] } {
  const trades: Trade[] = [];
  const equity: number[] = [];
  let money = cash;
  let held: Held | null = null;
  const exit = (exitMs: number, exitPrice: number): void => {
    if (held === null) return;
    const { size, entryMs, entryPrice } = held;
    const paid = Math.abs(size) * (entryPrice + exitPrice) * rules.commission;
    money += size * (exitPrice - entryPrice) - Math.abs(size) * exitPrice * rules.commission;
    const profit = size * (exitPrice - entryPrice) - paid;
    trades.push({ size, entryMs, entryPrice, exitMs, exitPrice, profit });
    held = null;
  };
  const above = (end: number): number => {
    const closes = bars.slice(end + 1 - rules.slow, end + 1).map(({ close }) => close);
    return Math.sign(mean(closes.slice(-rules.fast)) - mean(closes));
  };
  for (const [i, bar] of bars.entries()) {
    const last = bars[i - 1];
    // The first bar that may trade has both averages of the previous bar.
    const way = last === undefined || i - 1 < rules.slow ? 0 : above(i - 1);
    if (last !== undefined && way !== 0 && above(i - 2) === -way) {
      const at = rules.onClose ? last : bar;
      const price = rules.onClose ? last.close : bar.open;
      exit(at.timeMs, price);
      const size = way * Math.floor(money / (price * (1 + rules.commission)));
      money -= Math.abs(size) * price * rules.commission;
      held = {
        size,
        entryMs: at.timeMs,
        entryPrice: price,
        stop: rules.stop === 0 ? -way * Infinity : toCents(last.close * (1 - way * rules.stop)),
        target:
          rules.target === 0 ? way * Infinity : toCents(last.close * (1 + way * rules.target)),
      };
    }
    if (held !== null) {
      const price = reached(held, bar);
      if (price !== null) exit(bar.timeMs, price);
    }
    const open: Held | null = held;
    equity.push(money + (open === null ? 0 : open.size * (bar.close - open.entryPrice)));
  }
  return { trades, equity };
}

/** Fill price of the bar's stop or target; null if it reaches neither. */
function reached({ size, stop, target }: Held, { open, high, low }: Bar): number | null {
  if (size > 0) {
    if (low <= stop) return Math.min(open, stop);
    return high >= target ? Math.max(open, target) : null;
  }
  if (high >= stop) return Math.max(open, stop);
  return low <= target ? Math.min(open, target) : null;
}
