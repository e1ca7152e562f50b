/** Subscribers of prices receive a market when its index becomes stale; no event reports that. */
import { expect, test } from 'vitest';
import { Changes } from '../../src/gateway/feeds/changes.ts';
import { MarketWatch } from '../../src/gateway/feeds/market-watch.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { marketId, subaccountId } from '../../src/num/units.ts';
import { World } from '../setup/world.ts';

const LAST = { symbol: 'X', tickSize: '0.1', lotSize: '1', markSource: 'last', initialMark: '100' };

test('the market is sent once, at the moment after the last of freshness', () => {
  const world = new World(DEFAULT_EXCHANGE_CONFIG, [LAST]);
  const watch = new MarketWatch(world.engine);
  const sent = (seen: readonly number[] = []): number[] => {
    const changes = new Changes(subaccountId(0));
    for (const id of seen) changes.markets.add(marketId(id));
    watch.note(changes);
    return [...changes.markets].filter((id) => !seen.includes(id));
  };
  const advance = (us: number): void => {
    world.atUs += us;
    world.apply({ kind: 'advanceTime', timeUs: world.now });
  };
  world.setIndex(marketId(0), 1000, '100');
  expect(sent([0])).toEqual([]);
  advance(DEFAULT_EXCHANGE_CONFIG.indexStaleUs);
  expect(sent()).toEqual([]);
  advance(1);
  expect(sent()).toEqual([0]);
  expect(sent()).toEqual([]);
  world.setIndex(marketId(0), 1000, '100');
  expect(sent([0])).toEqual([]);
  advance(DEFAULT_EXCHANGE_CONFIG.indexStaleUs + 1);
  expect(sent()).toEqual([0]);
});

test('a market that has no mark yet is sent as well', () => {
  const withoutMark = { markSource: 'mid', recordedLiquidity: true };
  const spec = { symbol: 'X', tickSize: '0.1', lotSize: '1', ...withoutMark };
  const world = new World(DEFAULT_EXCHANGE_CONFIG, [spec]);
  world.setIndex(marketId(0), 1000, '100');
  const watch = new MarketWatch(world.engine);
  world.atUs += DEFAULT_EXCHANGE_CONFIG.indexStaleUs + 1;
  world.apply({ kind: 'advanceTime', timeUs: world.now });
  expect(world.engine.market(marketId(0)).markTicks).toBeNull();
  const changes = new Changes(subaccountId(0));
  expect(watch.note(changes)).toBe(true);
  expect([...changes.markets]).toEqual([0]);
});
