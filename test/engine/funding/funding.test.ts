/** Funding (§7): samples, the rate of an interval, settlement to the Quantum, external series, candles. */
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '../../../src/engine/events.ts';
import type { MarketView } from '../../../src/engine/read/views.ts';
import { durationUs } from '../../../src/num/units.ts';
import { GENESIS, RiskWorld, dollars } from '../risk-world.ts';

const HOUR = 3_600_000;
const MEDIAN = {
  markSource: 'index',
  tickSize: '0.1',
  funding: { source: 'premium', impactNotional: '1000' },
};

function quoted(bid: string, ask: string, market: Record<string, unknown> = {}): RiskWorld {
  const world = new RiskWorld([{ ...MEDIAN, ...market }]);
  world.fund({ ann: '1000000', bob: '1000000', cat: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  world.order('cat', '50', bid);
  world.order('cat', '-50', ask);
  return world;
}

const of = <K extends EngineEvent['kind']>(world: RiskWorld, kind: K) =>
  world.events.filter((event): event is Extract<EngineEvent, { kind: K }> => event.kind === kind);

describe('premium samples (R-7.1)', () => {
  test.each([
    ['the index inside the spread: no premium', '99.9', '100.1', 0],
    ['the book above: impact bid over index', '100.5', '100.7', 5_000_000],
    ['the book below: impact ask under index', '99.3', '99.5', -5_000_000],
  ])('%s', (_name, bid, ask, premium) => {
    const world = quoted(bid, ask);
    world.wait(5000);
    expect(of(world, 'fundingSampled').map((event) => event.premiumPpb)).toEqual([premium]);
  });

  test('impact prices are the average fill of the impact notional', () => {
    const world = quoted('100.5', '101');
    world.order('ann', '5', '100.7');
    world.wait(5000);
    // 5 at 100.7 and the rest of 1,000 at 100.5: 496.5 ÷ 100.5 = 4.9402… lots; the mean is 1,000 ÷
    // 9.94029…
    const [sample] = of(world, 'fundingSampled');
    const mean = 1000 / (5 + 496.5 / 100.5);
    expect(sample!.premiumPpb).toBe(Math.trunc(((mean - 100) / 100) * 1e9));
  });

  test('a premium has a largest value', () => {
    const world = new RiskWorld([MEDIAN]);
    world.fund({ cat: '1000000' });
    world.price('1000');
    world.order('cat', '50', '999');
    world.order('cat', '-50', '1001');
    const premiumAt = (index: string): number => {
      world.price(index);
      world.wait(5000);
      return of(world, 'fundingSampled').at(-1)!.premiumPpb;
    };
    expect(premiumAt('10')).toBe(98_900_000_000);
    expect(premiumAt('5')).toBe(100_000_000_000);
  });

  test('no sample when a side is too thin, and none without a fresh index', () => {
    const world = quoted('100.5', '101');
    const { body } = world.call(
      'cancelAllOrders',
      { account: world.addressOf('cat'), subaccountIndex: 0 },
      'cat',
    );
    expect(body).toEqual({ message: 'Cancelled 2 orders' });
    world.order('cat', '50', '100.5');
    world.order('cat', '-9', '101');
    world.wait(60_000);
    expect(of(world, 'fundingSampled')).toEqual([]);
  });

  test('a market whose index is its own mid is sampled from the second of its first mid (D-34)', () => {
    const world = quoted('100.5', '101', {
      indexSource: 'mid',
      markSource: 'external',
      funding: { source: 'premium', impactNotional: '1000', sampleIntervalMs: 400 },
    });
    world.wait(2000);
    // There is no index before the first whole second, which cuts the third of the five intervals.
    const intervals = of(world, 'fundingSampled').map((event) =>
      Math.floor((event.timeUs - GENESIS) / 400_000),
    );
    expect(intervals.filter((interval) => interval !== 2)).toEqual([3, 4]);
  });

  test('each interval has one sample inside it, however time is split', () => {
    const world = quoted('100.5', '101');
    world.wait(4999);
    world.wait(1);
    world.wait(10_000);
    const times = of(world, 'fundingSampled').map((event) => event.timeUs - GENESIS);
    expect(times.map((at) => Math.floor(at / 5e6))).toEqual([0, 1, 2]);
    expect(times.every((at) => at % 5e6 > 0)).toBe(true);
  });
});

describe('settlement (R-7.2, R-7.3)', () => {
  test('a first sample on the end of an interval belongs to it', () => {
    const world = new RiskWorld([MEDIAN]);
    world.fund({ cat: '1000000' });
    const [{ spec }] = world.engine.markets().map(({ id }) => world.engine.market(id)) as [
      MarketView,
    ];
    // Samples at odd microseconds, ends of intervals at multiples of three.
    const funding = { ...spec.funding, sampleIntervalUs: durationUs(2), intervalUs: durationUs(3) };
    world.apply({
      kind: 'listMarket',
      timeUs: world.now,
      spec: { ...spec, symbol: 'N', funding },
    });
    world.atUs += 2;
    world.price('100', 'N');
    world.order('cat', '50', '100.5', { symbol: 'N' });
    world.order('cat', '-50', '100.7', { symbol: 'N' });
    world.atUs += 4;
    world.wait(0);
    const timesOf = (kind: 'fundingSampled' | 'fundingSettled'): number[] =>
      of(world, kind).map(({ timeUs }) => timeUs - GENESIS);
    expect(timesOf('fundingSampled')).toEqual([3, 5]);
    expect(timesOf('fundingSettled')).toEqual([3, 6]);
  });

  test('an hour of a steady premium: P + clamp(0.01 % − P), an eighth of it, longs pay shorts', () => {
    const world = quoted('100.5', '101');
    world.wait(HOUR);
    const [settled] = of(world, 'fundingSettled');
    // P = 0.5 %; 0.45 % ÷ 8.
    expect(settled).toMatchObject({ ratePpb: 562_500, positions: 2, roundingQuanta: 0n });
    expect(of(world, 'fundingSampled')).toHaveLength(720);
    expect(world.position('ann')).toMatchObject({ funding: '-0.5625' });
    expect(world.position('bob')).toMatchObject({ funding: '0.5625' });
    expect(world.ask('getSummary', { symbol: 'M' }, 'ann')).toMatchObject({
      fundingRate: '0.0005625',
    });
    const candles = world.ask('getCandles', { symbol: 'M', interval: '1h' }, 'ann') as Record<
      string,
      unknown
    >[];
    expect(candles.map((candle) => candle['funding_rate'])).toEqual(['0.0005625', '0.0005625']);
  });

  test('fewer than half of the samples: rate 0', () => {
    const world = quoted('100.5', '101');
    world.wait(HOUR / 2 - 5000);
    world.call('cancelAllOrders', { account: world.addressOf('cat'), subaccountIndex: 0 }, 'cat');
    world.wait(HOUR / 2 + 5000);
    expect(of(world, 'fundingSampled')).toHaveLength(359);
    expect(of(world, 'fundingSettled')).toMatchObject([{ ratePpb: 0, positions: 0 }]);
  });

  test('an hour without samples or rate is not settled (D-34)', () => {
    const world = quoted('100.5', '101');
    world.wait(HOUR - 5000);
    world.call('cancelAllOrders', { account: world.addressOf('cat'), subaccountIndex: 0 }, 'cat');
    world.wait(5 * HOUR);
    // The hour of its samples, and the next one, in which the rate ends.
    expect(of(world, 'fundingSettled').map(({ ratePpb }) => ratePpb)).toEqual([562_500, 0]);
  });

  test('the cap is the lower of the market cap and ¾ of initial less maintenance', () => {
    const world = quoted('109', '110', {
      funding: { source: 'premium', impactNotional: '1000', divisor: 1, interest: '0' },
    });
    world.wait(HOUR);
    expect(of(world, 'fundingSettled')).toMatchObject([{ ratePpb: 37_500_000 }]);
  });

  test('payers round up, receivers down, insurance gets the difference', () => {
    const world = new RiskWorld([{ lotSize: '0.001' }]);
    world.fund({ ann: '1000', bob: '1000', cat: '1000' });
    world.price('101');
    world.trade('ann', 'cat', '0.001', '101');
    world.trade('bob', 'cat', '0.002', '101');
    const before = world.events.length;
    world.settle('0.0000105');
    const moved = world.events
      .slice(before)
      .flatMap((event) =>
        event.kind === 'balanceChanged'
          ? [`${world.nameOf(event.subaccount)} ${String(event.deltaQuanta)}`]
          : [],
      );
    // 0.101 × 0.0000105 = 1.0605 Quanta, twice that, three times that.
    expect(moved).toEqual(['ann -2', 'bob -3', 'cat 3', 'insurance 2']);
    expect(of(world, 'fundingSettled')[0]).toMatchObject({ roundingQuanta: 2n });
  });

  test('funding is settled before the liquidation that it causes', () => {
    const world = new RiskWorld();
    world.fund({ ann: '100', bob: '100000', cat: '100000' });
    world.deposit('insurance', '1000');
    world.price('100');
    world.trade('ann', 'bob', '10', '100');
    world.order('cat', '100', '99');
    expect(world.settle('0.04')).toBe('ok');
    expect(world.steps()).toEqual([]);
    expect(world.settle('0.02')).toBe('ok');
    const kinds = world.events.map((event) => event.kind);
    expect(kinds.lastIndexOf('fundingSettled')).toBeLessThan(kinds.indexOf('liquidationStep'));
    expect(world.steps()[0]).toBe('ann order');
  });
});

describe('recorded rates (R-7.3)', () => {
  test.each([
    ['a market with computed funding', { funding: {} }, '0.0001', 'funding_source_not_external'],
    ['a rate above 100 %', {}, '1.000000001', 'funding_rate_out_of_range'],
    ['a negative rate below −100 %', {}, '-1.000000001', 'funding_rate_out_of_range'],
    ['a rate of 100 %', {}, '1', 'ok'],
    ['a rate of −100 %', {}, '-1', 'ok'],
    ['a rate', {}, '-0.0001', 'ok'],
  ] as const)('%s', (_name, market, rate, outcome) => {
    const world = new RiskWorld([market]);
    world.fund({ ann: '1000', bob: '1000' });
    world.price('100');
    expect(world.settle(rate)).toBe(outcome);
  });

  test.each(['index', 'external', 'last', 'mid'])(
    'a stale index settles nothing where the mark is %s (D-35)',
    (markSource) => {
      const recordedLiquidity = markSource === 'last' || markSource === 'mid';
      const world = new RiskWorld([{ markSource, recordedLiquidity }], { indexStaleMs: 60_000 });
      world.price('100');
      world.wait(60_001);
      expect(world.settle('0.0001')).toBe('index_not_fresh');
    },
  );

  test('a negative rate pays longs', () => {
    const world = new RiskWorld();
    world.fund({ ann: '1000', bob: '1000' });
    world.price('100');
    world.trade('ann', 'bob', '10', '100');
    world.settle('-0.001');
    expect(world.balance('ann')).toBe('1001');
    expect(world.balance('bob')).toBe('999');
    expect(dollars(world.margin('ann').accountValueQuanta)).toBe('1001');
  });
});
