/** A stale index shows in prices, also where the mark does not need it and the market trades on. */
import { expect, test } from 'vitest';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { marketId } from '../../src/num/units.ts';
import { World } from '../setup/world.ts';

const LAST = { symbol: 'X', tickSize: '0.1', lotSize: '1', markSource: 'last', initialMark: '100' };
const STALE_MS = DEFAULT_EXCHANGE_CONFIG.indexStaleUs / 1000;

test.each(['getPrice', 'getSummary'] as const)('%s has the time of the index', (endpoint) => {
  const world = new World(DEFAULT_EXCHANGE_CONFIG, [LAST]);
  const state = (): unknown => world.callAs(null, endpoint, { symbol: 'X' }).body;
  const wait = (ms: number): void => {
    world.atUs += ms * 1000;
    world.apply({ kind: 'advanceTime', timeUs: world.now });
  };
  expect(state()).toMatchObject({ indexTime: null, indexStale: false, frozen: false });
  world.setIndex(marketId(0), 1000, '100');
  const indexTime = world.now / 1000;
  wait(STALE_MS);
  expect(state()).toMatchObject({ indexTime, indexStale: false });
  wait(1);
  expect(state()).toMatchObject({ indexTime, indexStale: true, frozen: false });
  world.setIndex(marketId(0), 1000, '100');
  expect(state()).toMatchObject({ indexTime: world.now / 1000, indexStale: false });
});
