/**
 * Prices of the oracle in hand-made cases: keyed instants, the legs of the mark, the EMA, and
 * frozen markets (R-5.3, R-5.3b).
 */
import { expect, test } from 'vitest';
import type { MarketSpec } from '../../src/engine/config.ts';
import { listMarket } from '../../src/oracle/listing.ts';
import { setIndex } from '../../src/oracle/mark.ts';
import { setMarketStatus } from '../../src/oracle/operator.ts';
import { emaInstant, halfSipHash } from '../../src/oracle/sampling.ts';
import { tapeDepth, tapeTrade } from '../../src/oracle/tape.ts';
import { runConsequences, runTimers } from '../../src/oracle/time.ts';
import { marketOf, newWorld, type Answer, type World } from '../../src/oracle/world.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { lots, marketId, priceTicks, timeUs } from '../../src/num/units.ts';

const MARKET = marketId(0);
const START = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
const SECOND = 1_000_000;

function specOf(terms: Record<string, unknown> = {}): MarketSpec {
  const parsed = parseMarketSpec(
    {
      symbol: 'M',
      feedId: `0x${'1'.repeat(64)}`,
      tickSize: '1',
      lotSize: '1',
      initialMargin: '0.1',
      maintenanceMargin: '0.05',
      maxMarkDeviation: '0.02',
      funding: { impactNotional: '1000' },
      ...terms,
    },
    () => '',
  );
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

/** Applies one command at a time after the start. */
function at(world: World, afterUs: number, act: () => Answer): Answer {
  runTimers(world, BigInt(START + afterUs));
  const answer = act();
  runConsequences(world);
  return answer;
}

function opened(terms: Record<string, unknown> = {}): World {
  const world = newWorld(DEFAULT_EXCHANGE_CONFIG);
  expect(listMarket(world, { kind: 'listMarket', timeUs: START, spec: specOf(terms) })).toBe('ok');
  return world;
}

const index = (world: World, afterUs: number, ticks: number): Answer =>
  at(world, afterUs, () =>
    setIndex(world, {
      kind: 'setIndex',
      timeUs: timeUs(START + afterUs),
      market: MARKET,
      priceTicks: priceTicks(ticks),
      text: String(ticks),
    }),
  );

const levels = (world: World, afterUs: number, bid: number, ask: number): Answer =>
  at(world, afterUs, () =>
    tapeDepth(world, {
      kind: 'tapeDepth',
      timeUs: timeUs(START + afterUs),
      market: MARKET,
      levels: [
        { side: 'bid', priceTicks: priceTicks(bid), lots: lots(100) },
        { side: 'ask', priceTicks: priceTicks(ask), lots: lots(100) },
      ],
    }),
  );

test('HalfSipHash-2-4 yields the reference values of messages of whole words', () => {
  const key = '0001020304050607';
  const words = [0x03020100n, 0x07060504n, 0x0b0a0908n, 0x0f0e0d0cn];
  const of = (n: number): string => halfSipHash(key, words.slice(0, n)).toString(16);
  expect(of(0)).toBe('5b9f35a9');
  expect(of(1)).toBe('89466e2a');
  expect(of(2)).toBe('8f84b8d0');
  expect(of(4)).toBe('84acb5d9');
});

test('sampling instants lie within their second, never on its boundary', () => {
  const world = opened();
  const instants = Array.from({ length: 200 }, (_, i) => emaInstant(world, 0, BigInt(i)));
  for (const [i, instant] of instants.entries()) {
    expect(instant > BigInt(i * SECOND) && instant < BigInt((i + 1) * SECOND)).toBe(true);
  }
  expect(new Set(instants.map((instant) => instant % BigInt(SECOND))).size).toBeGreaterThan(190);
});

test('the mark equals the index if the book is too thin, whatever the last price', () => {
  const world = opened();
  index(world, 0, 1000);
  const market = marketOf(world, 0);
  expect(market.mark).toBe(1000n);
  at(world, 10, () =>
    tapeTrade(world, {
      kind: 'tapeTrade',
      timeUs: timeUs(START + 10),
      market: MARKET,
      priceTicks: priceTicks(1015),
      lots: lots(1),
    }),
  );
  index(world, 3 * SECOND, 1000);
  expect(market.mark).toBe(1000n);
});

test('the basis is sampled once a second and its average moves by 1/150', () => {
  const world = opened();
  index(world, 0, 1000);
  levels(world, 10, 1004, 1006);
  const market = marketOf(world, 0);
  // Impact mid 1005: 10 half ticks, 5 ticks of 1e-6; 1/150 of that toward zero.
  runTimers(world, BigInt(START + SECOND));
  expect(market.emaSample).toBe(10n);
  expect(market.ema).toBe(33_333n);
  expect(market.emaDue).toBe(null);
  // Then 29 seconds in one lazy step.
  index(world, 30 * SECOND - 1, 1000);
  expect(market.ema).toBe(33_333n + ((5_000_000n - 33_333n) * 29n) / 150n);
});

test('a market freezes without index updates, and thaws with the next', () => {
  const world = opened();
  index(world, 0, 1000);
  const market = marketOf(world, 0);
  const stale = DEFAULT_EXCHANGE_CONFIG.indexStaleUs;
  runTimers(world, BigInt(START + stale));
  expect(market.frozen).toBe(false);
  runTimers(world, BigInt(START + stale + 1));
  expect(market.frozen).toBe(true);
  expect(market.frozenSince).toBe(BigInt(START + stale + 1));
  index(world, stale + 5, 1500);
  expect(market.frozen).toBe(false);
  expect(market.mark).toBe(1500n);
  expect(market.markBefore).toBe(1000n);
});

test('a halted market keeps its mark while its index moves, and recomputes it when it opens', () => {
  const world = opened();
  index(world, 0, 1000);
  const market = marketOf(world, 0);
  const status = (afterUs: number, to: 'halted' | 'open'): Answer =>
    at(world, afterUs, () =>
      setMarketStatus(world, {
        kind: 'setMarketStatus',
        timeUs: timeUs(START + afterUs),
        market: MARKET,
        status: to,
      }),
    );
  expect(status(10, 'halted')).toBe('ok');
  index(world, 20, 1200);
  expect([market.frozen, market.mark, market.index]).toEqual([true, 1000n, 1200n]);
  expect(status(30, 'open')).toBe('ok');
  expect([market.frozen, market.mark, market.markBefore]).toEqual([false, 1200n, 1000n]);
});

test('a mark from the book alone has the initial price of its listing, or none', () => {
  const refused = newWorld(DEFAULT_EXCHANGE_CONFIG);
  const spec = { ...specOf({ recordedLiquidity: true }), markSource: 'last' } as const;
  const bare: MarketSpec = { ...spec, recordedLiquidity: false };
  expect(listMarket(refused, { kind: 'listMarket', timeUs: START, spec: bare })).toBe(
    'market_spec_invalid',
  );
  const begun: MarketSpec = { ...bare, initialMarkTicks: priceTicks(700) };
  expect(listMarket(refused, { kind: 'listMarket', timeUs: START, spec: begun })).toBe('ok');
  expect(marketOf(refused, 0).mark).toBe(700n);
});
