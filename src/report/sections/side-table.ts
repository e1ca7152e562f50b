/** Closed trades by market and by side. */
import { duration, money, percent, ratio } from '../../design/number-text.ts';
import type { SideResult } from '../analysis/sides.ts';
import type { StrategyReport } from '../report.ts';
import { table } from '../text.ts';

export function sideTable({ sides }: Pick<StrategyReport, 'sides'>): string {
  if (sides.length === 0) return '<p>No position was closed.</p>';
  return table<SideResult>(
    sides,
    [
      { title: 'Market', isText: true, cell: ({ symbol }) => symbol ?? 'all' },
      { title: 'Side', isText: true, cell: ({ side }) => side ?? 'both' },
      { title: 'Trades', cell: ({ trades }) => String(trades) },
      { title: 'PnL', cell: ({ pnl }) => money(pnl), tone: ({ pnl }) => pnl },
      { title: 'Fees', cell: ({ fees }) => money(-fees) },
      { title: 'Funding', cell: ({ funding }) => money(funding) },
      { title: 'Win rate', cell: ({ winRate }) => percent(winRate) },
      { title: 'Profit factor', cell: ({ profitFactor }) => ratio(profitFactor) },
      {
        title: 'Mean time held',
        cell: ({ meanHeldUs }) => (meanHeldUs === null ? '–' : duration(meanHeldUs)),
      },
      { title: 'Mean MAE', cell: ({ meanMae }) => percent(meanMae === null ? null : -meanMae) },
      { title: 'Mean MFE', cell: ({ meanMfe }) => percent(meanMfe) },
    ],
    { caption: 'closed trades by market and side' },
  );
}
