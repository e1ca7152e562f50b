/**
 * Attack 9, second part: harmful commands that an exchange accepted. Markets that can never start,
 * orders without any price, fees to system accounts, and transfers to the zero address.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { outcomeCode } from '../../src/engine/refusals.ts';
import { parseExchangeConfig } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { address, lots, ppm, priceTicks, timeUs } from '../../src/num/units.ts';
import type { MarketSpec } from '../../src/engine/config.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { CASH_FEED, GENESIS, usd } from '../engine/risk-world.ts';
import { AttackWorld, MARKET, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const ZERO = `0x${'0'.repeat(40)}`;

describe.each(['last', 'mid'])('markSource %s', (markSource) => {
  const input = { ...MARKET, symbol: 'L', markSource, indexSource: 'mid' };

  test('needs an initial mark, or recorded liquidity', () => {
    expect(parseMarketSpec(input, keccak).ok).toBe(false);
    expect(parseMarketSpec({ ...input, initialMark: '40000' }, keccak).ok).toBe(true);
    expect(parseMarketSpec({ ...input, recordedLiquidity: true }, keccak).ok).toBe(true);
  });

  test('the engine also refuses the listing when it comes from a journal', () => {
    const config = parseExchangeConfig({}, GENESIS);
    const parsed = parseMarketSpec({ ...input, initialMark: '40000' }, keccak);
    if (!config.ok || !parsed.ok) throw new Error('not parsed');
    const engine = new Exchange(config.value);
    const list = (spec: MarketSpec): string =>
      outcomeCode(engine.apply({ kind: 'listMarket', timeUs: timeUs(GENESIS), spec }));
    expect(list({ ...parsed.value, initialMarkTicks: null })).toBe('market_spec_invalid');
    expect(list(parsed.value)).toBe('ok');
  });

  test('starts from its initial mark with users alone', () => {
    const world = new AttackWorld([{ ...input, initialMark: '40000' }]);
    world.fund({ ann: '10000', bob: '10000' });
    world.trade('ann', 'bob', '1', '40000', 'L');
    expect(world.position('ann', 'L')).toMatchObject({ quantity: '1' });
    // Marks made of the book or of trades never freeze.
    world.wait(3_600_000);
    expect(world.order('ann', '0.1', '39990', { symbol: 'L' })).toMatchObject({ status: 'new' });
  });
});

test('refuses an initial mark with a source that does not need one', () => {
  const input = { ...MARKET, symbol: 'M', initialMark: '40000' };
  expect(parseMarketSpec(input, keccak).ok).toBe(false);
});

test.each([5001, 10_001])(
  'a deviation of %i ppm, above half of maintenance, is refused',
  (deviation) => {
    const input = { ...MARKET, symbol: 'M', maxMarkDeviation: String(deviation / 1e6) };
    const parsed = parseMarketSpec({ ...MARKET, symbol: 'M' }, keccak);
    const config = parseExchangeConfig({}, GENESIS);
    if (!config.ok || !parsed.ok) throw new Error('not parsed');
    const list = (deviationPpm: number): string =>
      outcomeCode(
        new Exchange(config.value).apply({
          kind: 'listMarket',
          timeUs: timeUs(GENESIS),
          spec: { ...parsed.value, maxMarkDeviationPpm: ppm(deviationPpm) },
        }),
      );
    expect(list(5000)).toBe('ok');
    expect(list(deviation)).toBe('market_spec_invalid');
    expect(parseMarketSpec(input, keccak).ok).toBe(false);
  },
);

test.each([
  [{}, 5000],
  [{ initialMargin: '0.1', maintenanceMargin: '0.05' }, 10_000],
  [{ initialMargin: '0.02', maintenanceMargin: '0.019' }, 1000],
  [{ initialMargin: '0.01', maintenanceMargin: '0.005' }, 2500],
])('the default deviation for %j is %i ppm', (rates, deviation) => {
  const parsed = parseMarketSpec({ ...MARKET, ...rates, symbol: 'M' }, keccak);
  expect(parsed).toMatchObject({ ok: true, value: { maxMarkDeviationPpm: deviation } });
});

describe('an order in a market that never had a price', () => {
  const kinds: readonly (readonly [string, Record<string, unknown>])[] = [
    ['a limit', {}],
    ['an ioc', { flags: { ioc: true, postOnly: false, reduceOnly: false } }],
    ['a reduce-only', { flags: { ioc: false, postOnly: false, reduceOnly: true } }],
    ['a stop', { orderType: 'StopLoss', triggerPrice: '100' }],
  ];
  test.each(kinds)('%s ends with noMarkPrice', (_, changes) => {
    const world = new AttackWorld([{ symbol: 'A' }]);
    world.fund({ ann: '10000' });
    const record = world.order('ann', '1', '100', { symbol: 'A', ...changes });
    expect(record).toMatchObject({ status: 'rejected', reason: 'noMarkPrice' });
  });
});

describe('refuses originator fees to system accounts', () => {
  const names = ['vault', 'insurance', 'treasury', 'shortfall'];
  test.each(names)('%s as originator is refused', (name) => {
    const world = new AttackWorld([{ symbol: 'A' }]);
    world.fund({ ann: '10000', bob: '10000' });
    world.price('40000', 'A');
    const { config } = world.engine;
    const originator = name === 'shortfall' ? config.shortfallAccount : world.addressOf(name);
    const changes = { symbol: 'A', originator, originatorFee: 1000 };
    expect(world.order('ann', '0.1', '40000', changes)).toEqual(expect.any(String));
    expect(world.engine.openOrders(world.idOf('ann'))).toEqual([]);
    const outcome = world.apply({
      kind: 'placeOrder',
      timeUs: timeUs(world.atUs),
      subaccount: world.idOf('ann'),
      market: world.marketOf('A'),
      orderType: 'limit',
      lots: lots(1000),
      priceTicks: priceTicks(400_000),
      ioc: false,
      postOnly: false,
      reduceOnly: false,
      nonce: 1_000_000n,
      expiresAtMs: 9_007_199_254_740_991n,
      delegate: null,
      clientId: null,
      originator,
      originatorFeePpm: ppm(1000),
    });
    expect(outcome).toBe('originator_not_allowed');
  });
});

describe('refuses transfers to the zero address', () => {
  test.each([
    ['cash', '100', CASH_FEED],
    ['all of it', '10000', CASH_FEED],
  ])('%s stays with its owner', (_, amount, feedId) => {
    const world = new AttackWorld([{ symbol: 'A' }]);
    world.fund({ ann: '10000' });
    expect(world.transfer('ann', 'ann', amount, { accountTo: ZERO, feedId })).toMatch(/^4/);
    const outcome = world.apply({
      kind: 'transfer',
      timeUs: timeUs(world.atUs),
      from: world.addressOf('ann'),
      fromIndex: 0,
      to: address(ZERO),
      toIndex: 0,
      amount: usd('100'),
      market: null,
      signer: world.addressOf('ann'),
      nonce: 1_000_000n,
      expiresAtMs: 9_007_199_254_740_991n,
    });
    expect(outcome).toBe('transfer_not_allowed');
    expect(world.balance('ann')).toBe('10000');
  });

  test('refuses a checksum address with one wrong letter', () => {
    const world = new AttackWorld([{ symbol: 'A' }]);
    world.fund({ ann: '10000' });
    const good = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const bad = good.replace('aA', 'AA');
    expect(world.transfer('ann', 'ann', '1', { accountTo: bad })).toMatch(/^400 accountTo/);
    expect(world.transfer('ann', 'ann', '1', { accountTo: good })).toBe('ok');
    expect(world.transfer('ann', 'ann', '1', { accountTo: good.toLowerCase() })).toBe('ok');
  });
});
