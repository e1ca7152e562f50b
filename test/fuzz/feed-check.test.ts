/** The check `feeds` compares at each publication what time alone changes. */
import { afterEach, expect, test, vi } from 'vitest';
import { checkerOf } from '../../src/fuzz/checks/checks.ts';
import { Changes } from '../../src/gateway/feeds/changes.ts';
import { MarketWatch } from '../../src/gateway/feeds/market-watch.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import type { Command } from '../../src/engine/commands.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { marketId, priceTicks, timeUs } from '../../src/num/units.ts';
import { World } from '../setup/world.ts';

const LAST = { symbol: 'X', tickSize: '0.1', lotSize: '1', markSource: 'last', initialMark: '100' };

afterEach(() => {
  vi.restoreAllMocks();
});

/** The result of the check for an index that becomes stale, and is fresh again before a comparison. */
function staleness(): string | null {
  const { engine, now } = new World(DEFAULT_EXCHANGE_CONFIG, [LAST]);
  const checker = checkerOf(['feeds'], DEFAULT_EXCHANGE_CONFIG, { every: 1000 });
  const index = (atUs: number): Command => ({
    kind: 'setIndex',
    timeUs: timeUs(atUs),
    market: marketId(0),
    priceTicks: priceTicks(1000),
    text: '100',
  });
  const staleUs = now + DEFAULT_EXCHANGE_CONFIG.indexStaleUs + 1;
  const commands: readonly Command[] = [
    index(now),
    { kind: 'advanceTime', timeUs: timeUs(staleUs) },
    { kind: 'advanceTime', timeUs: timeUs(staleUs + 1) },
    { kind: 'advanceTime', timeUs: timeUs(staleUs + 2) },
    index(staleUs + 3),
  ];
  for (const command of commands) {
    const outcome = engine.apply(command, checker.onEvent);
    const found = checker.after(engine, command, outcome);
    if (found !== null) return found.detail;
  }
  return null;
}

test('a market whose index becomes stale is published', () => {
  expect(staleness()).toBeNull();
});

test('a price that is sent again without a change is found', () => {
  vi.spyOn(MarketWatch.prototype, 'note').mockImplementation(({ markets }) => {
    markets.add(marketId(0));
    return true;
  });
  expect(staleness()).toContain('a price is sent again without a change');
});

test('a market whose index becomes stale without an update is found before its index is fresh', () => {
  vi.spyOn(MarketWatch.prototype, 'note').mockReturnValue(false);
  expect(staleness()).toContain('indexStale');
});

/** The violation that the check finds in a command that ends two orders. */
function twoEnds(): string | null {
  const { engine, now } = new World(DEFAULT_EXCHANGE_CONFIG, [LAST]);
  const checker = checkerOf(['feeds'], DEFAULT_EXCHANGE_CONFIG, { every: 1 });
  const command: Command = { kind: 'advanceTime', timeUs: timeUs(now) };
  const outcome = engine.apply(command, checker.onEvent);
  for (const orderId of [1, 2]) {
    checker.onEvent?.({ kind: 'orderEnded', orderId, market: 0, subaccount: 0 } as EngineEvent);
  }
  return checker.after(engine, command, outcome)?.detail ?? null;
}

test('an order that a replay publishes again with another one is found', () => {
  expect(twoEnds() ?? '').not.toContain('publishes');
  vi.spyOn(Changes.prototype, 'takeOrdered').mockImplementation(function (this: Changes) {
    return { trades: [], fills: [], orders: this.orders };
  });
  expect(twoEnds()).toContain('orderEnded publishes the orders 1, 2');
});

test('a change of rights that ends no subscription is found', () => {
  const found = (): string | null => {
    const { engine, now } = new World(DEFAULT_EXCHANGE_CONFIG, [LAST]);
    const checker = checkerOf(['feeds'], DEFAULT_EXCHANGE_CONFIG, { every: 1000 });
    const command: Command = { kind: 'advanceTime', timeUs: timeUs(now) };
    const outcome = engine.apply(command, checker.onEvent);
    checker.onEvent?.({ kind: 'delegateChanged' } as EngineEvent);
    return checker.after(engine, command, outcome)?.detail ?? null;
  };
  expect(found()).toBeNull();
  vi.spyOn(Changes.prototype, 'note').mockReturnValue(undefined);
  expect(found()).toContain('delegateChanged is not noted');
});
