/** Metrics of closed trades. */
import { MetricsError } from './curve.ts';
import type { MetricsOptions } from './options.ts';
import { deviation, extremes, isFlat, longestRun, mean, sum } from './sample.ts';

/** One closed trade: from entry to exit of a position. */
export interface TradeRow {
  /** Net of fees and funding, in units of the collateral. */
  readonly pnl: number;
  /** Microseconds since the Unix epoch; null if unknown. */
  readonly entryUs: number | null;
  readonly exitUs: number | null;
  /** Σ |size| × price of all its fills; null if unknown. */
  readonly notional: number | null;
  /** pnl ÷ notional of the opening fills; null or absent if unknown. */
  readonly pnlShare?: number | null;
}

/** Times and notional of a trade. */
export type HeldTrade = Pick<TradeRow, 'entryUs' | 'exitUs' | 'notional'>;

export interface TradeMetrics {
  readonly trades: number;
  readonly wins: number;
  readonly losses: number;
  readonly winRate: number | null;
  /** Sum of wins ÷ sum of losses, in money. */
  readonly profitFactor: number | null;
  /** Mean win ÷ mean loss. */
  readonly payoff: number | null;
  /** Mean PnL of a trade. */
  readonly expectancy: number | null;
  /** Expectancy ÷ mean loss. */
  readonly expectancyRatio: number | null;
  /** √n × mean ÷ deviation of PnL: Tharp's system quality number. */
  readonly sqn: number | null;
  /** Win rate − (1 − win rate) ÷ payoff. */
  readonly kelly: number | null;
  readonly bestTrade: number | null;
  readonly worstTrade: number | null;
  /** Largest, smallest and mean PnL ÷ notional of the opening fills. */
  readonly bestTradeShare: number | null;
  readonly worstTradeShare: number | null;
  readonly meanTradeShare: number | null;
  readonly meanTradeUs: number | null;
  readonly maxTradeUs: number | null;
  readonly maxConsecutiveWins: number;
  readonly maxConsecutiveLosses: number;
}

export function tradeMetrics(
  rows: readonly TradeRow[],
  options: Pick<MetricsOptions, 'breakEven' | 'sqn' | 'denominator'>,
): TradeMetrics {
  const pnls = rows.map(({ pnl }) => pnl);
  const wins = pnls.filter((pnl) => pnl > 0);
  const losses = pnls.filter((pnl) => pnl < 0);
  const counted = options.breakEven === 'count' ? pnls.length : wins.length + losses.length;
  const meanWin = mean(wins);
  const meanLoss = mean(losses);
  const expectancy = mean(pnls);
  const winRate = counted === 0 ? null : wins.length / counted;
  const payoff = meanWin === null || meanLoss === null ? null : meanWin / -meanLoss;
  const [worst, best] = extremes(pnls);
  const shares = rows.flatMap(({ pnlShare }) => pnlShare ?? []);
  const [worstShare, bestShare] = extremes(shares);
  const times = rows.flatMap(heldUs);
  return {
    trades: pnls.length,
    wins: wins.length,
    losses: losses.length,
    winRate,
    profitFactor: losses.length === 0 ? null : sum(wins) / -sum(losses),
    payoff,
    expectancy,
    expectancyRatio: expectancy === null || meanLoss === null ? null : expectancy / -meanLoss,
    sqn: systemQuality(pnls, options),
    kelly: winRate === null || payoff === null ? null : winRate - (1 - winRate) / payoff,
    bestTrade: best ?? null,
    worstTrade: worst ?? null,
    bestTradeShare: bestShare ?? null,
    worstTradeShare: worstShare ?? null,
    meanTradeShare: mean(shares),
    meanTradeUs: mean(times),
    maxTradeUs: extremes(times)[1] ?? null,
    maxConsecutiveWins: longestRun(pnls, (pnl) => pnl > 0),
    maxConsecutiveLosses: longestRun(pnls, (pnl) => pnl < 0),
  };
}

function systemQuality(
  pnls: readonly number[],
  { sqn, denominator }: Pick<MetricsOptions, 'sqn' | 'denominator'>,
): number | null {
  const average = mean(pnls);
  const spread = deviation(pnls, denominator);
  if (average === null || spread === null || isFlat(pnls, spread * spread)) return null;
  const n = sqn === 'all' ? pnls.length : Math.min(100, pnls.length);
  return (Math.sqrt(n) * average) / spread;
}

function heldUs({ entryUs, exitUs }: TradeRow): number[] {
  return entryUs === null || exitUs === null ? [] : [exitUs - entryUs];
}

/**
 * Fraction of the time from start to end with at least one open trade; null if a trade has no
 * times.
 */
export function exposure(
  rows: readonly HeldTrade[],
  startUs: number,
  endUs: number,
): number | null {
  const spans: { from: number; to: number }[] = [];
  for (const { entryUs, exitUs } of rows) {
    if (entryUs === null || exitUs === null) return null;
    spans.push({ from: Math.max(entryUs, startUs), to: Math.min(exitUs, endUs) });
  }
  spans.sort((a, b) => a.from - b.from);
  let open = 0;
  let until = startUs;
  for (const { from, to } of spans) {
    open += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return open / (endUs - startUs);
}

/** Throws if a trade ends before it begins, and on non-finite numbers. */
export function checkTrades(rows: readonly TradeRow[]): void {
  if (!Array.isArray(rows)) throw new MetricsError('trades: must be a list, or null');
  rows.forEach((row, i) => {
    const { pnl, entryUs, exitUs, notional } = Object(row) as TradeRow;
    const place = `trade ${i + 1}`;
    if (!Number.isFinite(pnl)) throw new MetricsError(`${place}: pnl is not a finite number`);
    if (notional !== null && !(Number.isFinite(notional) && notional >= 0)) {
      throw new MetricsError(`${place}: notional is not a finite number of at least 0, or null`);
    }
    for (const [name, value] of Object.entries({ entryUs, exitUs })) {
      if (value === null || Number.isFinite(value)) continue;
      throw new MetricsError(`${place}: ${name} is not a time in microseconds, or null`);
    }
    if (entryUs !== null && exitUs !== null && exitUs < entryUs) {
      throw new MetricsError(`${place}: exit is before entry`);
    }
  });
}
