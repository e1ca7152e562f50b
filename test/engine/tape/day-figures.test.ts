/**
 * The 24-hour figures include all that candles include, recorded bars too (D-16), exactly at any
 * size.
 */
import { expect, test } from 'vitest';
import type { Command } from '../../../src/engine/commands.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { drawProfile } from '../../../src/fuzz/draw-profile.ts';
import { setUp } from '../../../src/fuzz/run-setup.ts';
import { lots, marketId, priceTicks, timeUs } from '../../../src/num/units.ts';

const MINUTE_US = 60_000_000;
const DAY_US = 1440 * MINUTE_US;
const market = marketId(0);
const { config, specs } = setUp(drawProfile('day', { name: 'bars' }));
/** A whole minute. */
const startUs = config.genesisTimeUs - (config.genesisTimeUs % MINUTE_US) + MINUTE_US;

function opened(retention: Partial<typeof config.retention> = {}): Exchange {
  const exchange = new Exchange({ ...config, retention: { ...config.retention, ...retention } });
  const [spec] = specs;
  expect(exchange.apply({ kind: 'listMarket', timeUs: config.genesisTimeUs, spec: spec! })).toBe(
    'ok',
  );
  return exchange;
}

function bar(afterUs: number, closeTicks: number, volume: number): Command {
  const close = priceTicks(closeTicks);
  return {
    kind: 'tapeBar',
    timeUs: timeUs(startUs + afterUs),
    market,
    openTicks: close,
    highTicks: close,
    lowTicks: close,
    closeTicks: close,
    volumeLots: lots(volume),
    quoteTicks: close,
    spreadTicks: 2,
    depthLots: lots(10),
    path: 'nearest',
    fill: 'touch',
  };
}

function trade(afterUs: number, ticks: number, size: number): Command {
  return {
    kind: 'tapeTrade',
    timeUs: timeUs(startUs + afterUs),
    market,
    priceTicks: priceTicks(ticks),
    lots: lots(size),
  };
}

function play(exchange: Exchange, ...commands: readonly Command[]): void {
  for (const command of commands) expect(exchange.apply(command)).toBe('ok');
}

const dayCandle = (exchange: Exchange) =>
  exchange.candles(market, MINUTE_US, timeUs(0), timeUs(Number.MAX_SAFE_INTEGER), 10_000).items;

test('D-16 bars count in the 24-hour volume as in candles', () => {
  const exchange = opened();
  const unit = BigInt(specs[0]!.quantaPerTickLot);
  play(exchange, bar(0, 1000, 10), trade(1, 1001, 3), bar(MINUTE_US, 1002, 20));
  const candles = dayCandle(exchange);
  expect(candles.map(({ volumeLots }) => volumeLots)).toEqual([13n, 20n]);
  expect(exchange.summary(market)).toEqual({
    volumeLots: 33n,
    notionalQuanta: (1000n * 10n + 1001n * 3n + 1002n * 20n) * unit,
    price24hAgoTicks: 1000,
  });
});

test('D-16 entries older than a day leave by minute; the previous price is that of the last ended bar', () => {
  const exchange = opened();
  play(exchange, bar(0, 1000, 10), trade(MINUTE_US, 1001, 3), bar(2 * MINUTE_US, 1002, 20));
  const at = (afterUs: number): ReturnType<Exchange['summary']> => {
    play(exchange, { kind: 'advanceTime', timeUs: timeUs(startUs + afterUs) });
    return exchange.summary(market);
  };
  expect(at(DAY_US)).toMatchObject({ volumeLots: 33n });
  expect(at(DAY_US + 1)).toMatchObject({ volumeLots: 23n });
  // A trade counts to the microsecond, and sets the price then.
  expect(at(DAY_US + MINUTE_US)).toMatchObject({ volumeLots: 23n, price24hAgoTicks: 1001 });
  expect(at(DAY_US + MINUTE_US + 1)).toMatchObject({ volumeLots: 20n, price24hAgoTicks: 1001 });
  expect(at(DAY_US + 3 * MINUTE_US)).toMatchObject({ volumeLots: 0n, price24hAgoTicks: 1002 });
});

test('D-16 trades supply volumes that candles have dropped', () => {
  for (const candleMinutesPerMarket of [0, 2]) {
    const exchange = opened({ candleMinutesPerMarket });
    play(exchange, trade(0, 1000, 1), trade(MINUTE_US, 1001, 2), trade(5 * MINUTE_US, 1002, 4));
    expect(exchange.summary(market).volumeLots).toBe(7n);
  }
});

test('R-10.3, R-10.4 volumes beyond 2^53 lots are exact, also after a restore', () => {
  const maxLots = Number.MAX_SAFE_INTEGER;
  const exchange = opened();
  play(exchange, trade(0, 1000, maxLots), trade(1, 1000, maxLots), trade(2, 1001, 1));
  play(exchange, trade(MINUTE_US, 1000, maxLots));
  const volume = 3n * BigInt(maxLots) + 1n;
  for (const each of [exchange, exchange.fork()]) {
    expect(each.summary(market).volumeLots).toBe(volume);
    const candles = each.candles(market, DAY_US, timeUs(0), timeUs(Number.MAX_SAFE_INTEGER), 5);
    expect(candles.items.map(({ volumeLots }) => volumeLots)).toEqual([volume]);
    expect(each.snapshot()).toEqual(exchange.snapshot());
  }
});
