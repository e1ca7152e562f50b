/** Operator log lines: start and end of a shortfall, freeze and thaw of a market. */
import { money } from '../gateway/encode.ts';
import type { Host } from './exchange-host.ts';

export function logRisk(host: Host, print: (line: string) => void): void {
  const { view } = host;
  const shortfall = view.subaccountIdOf(view.config.shortfallAccount, 0);
  host.exchange.onEvent((event) => {
    if (event.kind === 'marketFrozen') {
      const { symbol } = host.view.market(event.market).spec;
      print(`orrery: ${symbol} ${event.frozen ? 'is frozen (R-5.3b)' : 'is no longer frozen'}`);
      return;
    }
    if (event.kind !== 'balanceChanged' || event.subaccount !== shortfall) return;
    const { balanceQuanta: balance, deltaQuanta } = event;
    if (balance < 0n && balance === deltaQuanta) {
      print(`orrery: WARNING: a shortfall of ${money(-balance)} USD begins (R-6.6)`);
    } else if (balance === 0n) print('orrery: the shortfall is paid');
  });
}
