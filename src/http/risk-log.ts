/** Operator log lines: start and end of a shortfall, freeze and thaw of a market. */
import { money } from '../gateway/encode.ts';
import type { Host } from './exchange-host.ts';
import type { OperatorLog } from './operator-log.ts';

export function logRisk(host: Host, log: OperatorLog): void {
  const { view } = host;
  const shortfall = view.subaccountIdOf(view.config.shortfallAccount, 0);
  host.exchange.onEvent((event) => {
    if (event.kind === 'marketFrozen') {
      const { symbol } = host.view.market(event.market).spec;
      if (event.frozen) log('market_frozen', `${symbol} is frozen (R-5.3b)`, { symbol });
      else log('market_thawed', `${symbol} is no longer frozen`, { symbol });
      return;
    }
    if (event.kind !== 'balanceChanged' || event.subaccount !== shortfall) return;
    const { balanceQuanta: balance, deltaQuanta } = event;
    if (balance < 0n && balance === deltaQuanta) {
      const usd = money(-balance);
      log('shortfall_began', `a shortfall of ${usd} USD begins (R-6.6)`, { usd });
    } else if (balance === 0n) log('shortfall_paid', 'the shortfall is paid');
  });
}
