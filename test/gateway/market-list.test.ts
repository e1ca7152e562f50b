/** Markets of a file: terms of a predefined symbol replace single ones. */
import { expect, test } from 'vitest';
import type { MarketSpec } from '../../src/engine/config.ts';
import { marketTerms } from '../../src/fuzz/report/terms-text.ts';
import { parseMarkets } from '../../src/gateway/market-list.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

function parsed(list: unknown): readonly MarketSpec[] {
  const markets = parseMarkets(list, keccak);
  if (!markets.ok) throw new Error(markets.error);
  return markets.value;
}

test('tiers replace the two rates of a predefined market', () => {
  const tier = { notionalFloor: '0', initialMargin: '0.1', maintenanceMargin: '0.05' };
  const terms = { symbol: 'BTC-USD-PERP', marginTiers: [tier] };
  const [market] = parsed([terms]);
  expect(market?.tiers).toEqual([
    { floorQuanta: 0n, initialMarginPpm: 100_000, maintenanceMarginPpm: 50_000 },
  ]);
  expect(market?.tickSize).toBe('0.1');
  expect(() => parsed([{ ...terms, initialMargin: '0.1' }])).toThrow('cannot be combined');
});

test('a market is written with the terms that differ from those of its symbol', () => {
  const markets = parsed(['BTC-USD-PERP', { symbol: 'ETH-USD-PERP', takerFee: '0.001' }]);
  expect(parsed(markets.map(marketTerms))).toEqual(markets);
  expect(markets.map((market) => Object.keys(marketTerms(market)).length)).toEqual([4, 5]);
});
