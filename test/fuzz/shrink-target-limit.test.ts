/** The limit of shrinking a difference of a host ends a repetition in progress. */
import { expect, test } from 'vitest';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { driveHost } from '../../src/fuzz/twin/drive.ts';
import { InProcessHost } from '../../src/fuzz/twin/in-process-host.ts';
import { recordOf } from '../../src/fuzz/twin/replay.ts';
import { shrinkDivergence } from '../../src/fuzz/twin/shrink-divergence.ts';
import { DEFAULT_EXCHANGE_CONFIG as config } from '../../src/gateway/exchange-config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../../src/gateway/market-config.ts';
import { address } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

const markets = DEFAULT_MARKETS.flatMap((market) => {
  const spec = parseMarketSpec(market, keccak);
  return spec.ok ? [spec.value] : [];
});
const users = ['1', '2', '3'].map((digit) => address(`0x${digit.repeat(40)}`));

/** Fails from its twentieth request of simulation control on. */
class FailingHost extends InProcessHost {
  asked = 0;

  override sim(...request: Parameters<InProcessHost['sim']>): ReturnType<InProcessHost['sim']> {
    this.asked += 1;
    return this.asked < 20 ? super.sim(...request) : Promise.resolve({ status: 500, body: '' });
  }
}

test('a repetition ends at the limit', async () => {
  const sidesOf = (host: FailingHost) => ({ host, config, markets, users, keccak });
  const profile = drawProfile('limit', { name: 'stress', commands: 300 });
  const { shown, commands } = await driveHost(
    profile,
    sidesOf(new FailingHost(config, markets, keccak)),
  );
  if (shown === null) throw new Error('no difference');
  const hosts: FailingHost[] = [];
  const limit = 8;
  const shrunk = await shrinkDivergence(
    recordOf(config, commands.slice(0, shown.commands), shown),
    shown,
    {
      open: () => {
        const host = new FailingHost(config, markets, keccak);
        hosts.push(host);
        return Promise.resolve({ sides: sidesOf(host), close: () => Promise.resolve() });
      },
      isOver: () => (hosts[0]?.asked ?? 0) >= limit,
    },
  );
  expect(shrunk).toBeNull();
  expect(hosts.map(({ asked }) => asked < limit + 2)).toEqual([true]);
});
