/** The figures, curves and fills of one strategy in one market, as the single-market report shows them. */
import { must } from '../base/assert.ts';
import type { BacktestOutput } from './output.ts';
import type { BacktestResult } from './result.ts';

export function singleResult(
  output: BacktestOutput,
): Pick<BacktestResult, 'summary' | 'series' | 'fills'> {
  const strategy = must(output.strategies[0], 'the run has a strategy');
  const market = must(output.markets[0], 'the run has a market');
  const position = must(strategy.summary.positions[0], 'a summary names every market');
  const { summary } = strategy;
  let high = -Infinity;
  return {
    summary: {
      symbol: market.symbol,
      strategy: strategy.name,
      firstUs: output.firstUs,
      lastUs: output.lastUs,
      equityStart: summary.equityStart,
      equityEnd: summary.equityEnd,
      pnl: summary.pnl,
      pnlTrading: summary.pnlTrading,
      pnlFees: summary.pnlFees,
      pnlFunding: summary.pnlFunding,
      fills: summary.fills,
      makerFills: summary.makerFills,
      orders: summary.orders,
      rejectedOrders: summary.rejectedOrders,
      volume: position.volume,
      turnover: summary.turnover,
      finalPosition: position.final,
      maxDrawdown: summary.maxDrawdown,
      maxPosition: position.largest,
      commands: output.commands,
      chainHash: output.chainHash,
      stateHash: output.stateHash,
    },
    series: market.series.flatMap(({ timeUs, mid, mark }, i) => {
      const point = strategy.equity[i];
      if (point === undefined || mid === null || mark === null) return [];
      high = Math.max(high, point.equity);
      return [
        {
          timeUs,
          mid,
          mark,
          equity: point.equity,
          drawdown: point.equity - high,
          position: point.positions[0] ?? 0,
          leverage: point.leverage,
        },
      ];
    }),
    fills: strategy.fills.map((fill) => ({
      timeUs: fill.timeUs,
      side: fill.side,
      role: fill.role,
      price: fill.price,
      size: fill.size,
      fee: fill.fee,
      realizedPnl: fill.realizedPnl,
      orderNumber: fill.orderNumber,
    })),
  };
}
