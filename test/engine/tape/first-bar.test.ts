/** The first price of a market is the open of its first bar, however that bar is played. */
import { expect, test } from 'vitest';
import { Exchange } from '../../../src/engine/exchange.ts';
import type { Command } from '../../../src/engine/commands.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../../src/gateway/market-config.ts';
import { lots, marketId, priceTicks, timeUs } from '../../../src/num/units.ts';

const config = { ...DEFAULT_EXCHANGE_CONFIG, genesisTimeUs: timeUs(1_704_067_200_000_000) };
const at = { timeUs: config.genesisTimeUs };

function commandsOf(terms: Record<string, unknown>): readonly Command[] {
  const parsed = parseMarketSpec(
    {
      symbol: 'M',
      feedId: `0x${'1'.padStart(64, '0')}`,
      tickSize: '0.01',
      lotSize: '0.0001',
      maxOpenInterestNotional: '5',
      ...terms,
    },
    () => '1',
  );
  if (!parsed.ok) throw new Error(parsed.error);
  return [
    { kind: 'listMarket', ...at, spec: parsed.value },
    {
      kind: 'tapeBar',
      ...at,
      market: marketId(0),
      openTicks: priceTicks(1991),
      highTicks: priceTicks(1993),
      lowTicks: priceTicks(1989),
      closeTicks: priceTicks(1993),
      volumeLots: lots(9559),
      quoteTicks: priceTicks(1993),
      spreadTicks: 2,
      depthLots: lots(6705),
      path: 'stopFirst',
      fill: 'through',
    },
  ];
}

test.each([
  { indexSource: 'mid', markSource: 'median' },
  { indexSource: 'oracle', markSource: 'last', recordedLiquidity: true },
])('fixes the limit of open interest in lots: %o', (terms) => {
  const [quick, full] = [new Exchange(config), new Exchange(config)];
  full.playBarsInFull();
  for (const command of commandsOf(terms)) {
    for (const engine of [quick, full]) expect(engine.apply(command)).toBe('ok');
  }
  // 5 / (19.91 × 0.0001), rounded down.
  expect(full.market(marketId(0)).openInterestCapLots).toBe(2511);
  expect(quick.market(marketId(0)).openInterestCapLots).toBe(2511);
  expect(quick.stateHash()).toBe(full.stateHash());
});
