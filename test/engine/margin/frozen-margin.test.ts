/**
 * Value of positions in frozen markets (R-5.3b, R-5.8, R-5.9), and accounts with a clearing debt
 * (R-6.1).
 */
import { describe, expect, test } from 'vitest';
import { marketId, quanta } from '../../../src/num/units.ts';
import { freeze, STALE, stateOf, withdraw } from '../invariants/planted.ts';
import { dollars, RiskWorld } from '../risk-world.ts';

const MARKETS = [{ symbol: 'A' }, { symbol: 'B' }, { symbol: 'C' }];

function opened(config: Record<string, unknown> = {}, deposit = '1000'): RiskWorld {
  const world = new RiskWorld(MARKETS, { ...STALE, ...config });
  world.fund({ ann: deposit, bob: '1000000' });
  for (const { symbol } of MARKETS) world.price('100', symbol);
  return world;
}

interface Row {
  readonly name: string;
  /** Positions opened at 100, and each market's mark afterwards. */
  readonly positions: Readonly<Record<string, readonly [quantity: string, mark: string]>>;
  readonly frozen: readonly string[];
  readonly haircut?: string;
  readonly value: string;
  readonly free: string;
  readonly withdrawable: string;
}

// 1,000 in; initial rate 10 %, haircut 50 % of the frozen notional.
const ROWS: readonly Row[] = [
  {
    name: 'no frozen market: gains count',
    positions: { A: ['5', '120'] },
    frozen: [],
    value: '1100',
    free: '1040',
    withdrawable: '1000',
  },
  {
    name: 'a frozen position at its entry: 50 of requirement, 250 of haircut',
    positions: { A: ['5', '100'] },
    frozen: ['A'],
    value: '1000',
    free: '700',
    withdrawable: '700',
  },
  {
    name: 'a frozen gain of 100 does not count',
    positions: { A: ['5', '120'] },
    frozen: ['A'],
    value: '1100',
    free: '640',
    withdrawable: '640',
  },
  {
    name: 'a frozen loss of 50 counts in full',
    positions: { A: ['5', '90'] },
    frozen: ['A'],
    value: '950',
    free: '680',
    withdrawable: '680',
  },
  {
    name: "a frozen short's gain from a falling mark does not count",
    positions: { A: ['-5', '80'] },
    frozen: ['A'],
    value: '1100',
    free: '760',
    withdrawable: '760',
  },
  {
    name: 'a frozen gain does not offset a frozen loss',
    positions: { A: ['5', '120'], C: ['5', '90'] },
    frozen: ['A', 'C'],
    // 1,000 − 50 − (60 + 45) − 50 % of 1,050.
    value: '1050',
    free: '320',
    withdrawable: '320',
  },
  {
    name: 'a fresh gain beside a frozen one counts',
    positions: { A: ['5', '120'], B: ['5', '120'] },
    frozen: ['A'],
    value: '1200',
    free: '680',
    withdrawable: '680',
  },
  {
    name: 'the haircut is configurable',
    positions: { A: ['5', '120'] },
    frozen: ['A'],
    haircut: '0.1',
    value: '1100',
    free: '880',
    withdrawable: '880',
  },
  {
    name: 'the haircut is rounded up once over all frozen positions',
    positions: { A: ['0.001', '101'], C: ['0.001', '101'] },
    frozen: ['A', 'C'],
    haircut: '0.000003',
    // Each 0.101 × 3e-6 is 0.303 Quanta; both together are 1 Quantum. Requirements are 0.0101 each.
    value: '1000.002',
    free: '999.979799',
    withdrawable: '999.979799',
  },
];

describe('frozen haircuts', () => {
  test.each(ROWS)('$name', ({ positions, frozen, haircut, value, free, withdrawable }) => {
    const world = opened(haircut === undefined ? {} : { frozenHaircut: haircut });
    const fresh: Record<string, string> = {};
    for (const [symbol, [quantity, mark]] of Object.entries(positions)) {
      world.trade('ann', 'bob', quantity, '100', symbol);
      world.price(mark, symbol);
      if (!frozen.includes(symbol)) fresh[symbol] = mark;
    }
    for (const [i, symbol] of frozen.entries()) {
      // The second market's source is as old as the first one's by now.
      if (i === 0) freeze(world, symbol, fresh);
      else if (!stateOf(world.engine).market(world.marketOf(symbol)).frozen) {
        stateOf(world.engine).market(world.marketOf(symbol)).frozen = true;
      }
    }
    const figures = world.margin('ann');
    expect(dollars(figures.accountValueQuanta)).toBe(value);
    expect(dollars(figures.freeCollateralCrossQuanta)).toBe(free);
    expect(dollars(figures.freeCollateralQuanta)).toBe(free);
    expect(dollars(figures.withdrawableQuanta)).toBe(withdrawable);
    expect(world.stats('ann')).toMatchObject({
      accountValue: value,
      crossEquity: value,
      freeCollateral: free,
      freeCollateralCross: free,
    });
    expect(world.engine.checkInvariants()).toEqual([]);
  });

  test('withdrawals are limited to the withdrawable amount, to the Quantum', () => {
    const world = opened();
    world.trade('ann', 'bob', '5', '100', 'A');
    world.price('120', 'A');
    freeze(world, 'A');
    expect(withdraw(world, 'ann', '640.000001')).toBe('amount_exceeds_available');
    expect(withdraw(world, 'ann', '640')).toBe('ok');
    expect(dollars(world.margin('ann').withdrawableQuanta)).toBe('0');
  });

  test('an order that opens in a fresh market must leave the haircut of the frozen one', () => {
    const world = opened();
    world.trade('ann', 'bob', '5', '100', 'A');
    world.price('120', 'A');
    freeze(world, 'A', { B: '100' });
    // 640 of free collateral suffice for 6,400 of notional at 10 %.
    expect(world.order('ann', '64.001', '100', { symbol: 'B' })).toMatchObject({
      status: 'rejected',
      reason: 'insufficientMargin',
    });
    expect(world.order('ann', '64', '100', { symbol: 'B' })).toMatchObject({ status: 'new' });
  });
});

describe('reducing fills in a frozen market compare admission equities', () => {
  // Deposit 60, long 5 from 100, mark 120: equity 60 without the gain of 100, maintenance 30; after
  // a sale of 1 it is 24.
  const rows: readonly (readonly [price: string, reason: string | null])[] = [
    ['110', null],
    ['90', null],
    // 48 × 30 = 60 × 24: not worse than before.
    ['88', null],
    ['87', 'insufficientMargin'],
  ];
  test.each(rows)('a sale of 1 at %s', (price, reason) => {
    const world = opened({}, '60');
    world.trade('ann', 'bob', '5', '100', 'A');
    world.price('120', 'A');
    freeze(world, 'A');
    const flags = { ioc: true, postOnly: false, reduceOnly: true };
    const rests = { ioc: false, postOnly: false, reduceOnly: true };
    expect(world.order('bob', '1', price, { symbol: 'A', flags: rests })).toMatchObject({
      reason: null,
    });
    const sold = world.order('ann', '-1', price, { symbol: 'A', flags });
    expect(sold).toMatchObject({ reason, settled: reason === null ? '-1' : '0' });
    if (reason === null) {
      expect(world.balance('ann')).toBe(String(60 + Number(price) - 100));
    }
  });
});

describe('isolated positions in frozen markets', () => {
  function isolated(mark: string): RiskWorld {
    const world = opened();
    world.setMargin('ann', true, '0.2', 'A');
    world.trade('ann', 'bob', '5', '100', 'A');
    world.price(mark, 'A');
    return world;
  }

  test('the excess of 80 is 0 once the market is frozen, and its gain is not free', () => {
    const world = isolated('120');
    const id = world.idOf('ann');
    const market = marketId(world.marketOf('A'));
    // Margin 100, gain 100; the requirement is 120.
    expect(dollars(world.engine.isolatedExcess(id, market))).toBe('80');
    freeze(world, 'A');
    expect(dollars(world.engine.isolatedExcess(id, market))).toBe('0');
    const feedId = world.engine.market(market).spec.feedId;
    expect(world.transfer('ann', 'ann', '1', { feedId })).toMatch(/exceeds available/);
    const figures = world.margin('ann');
    expect(dollars(figures.accountValueQuanta)).toBe('1100');
    // No haircut: it applies only to cross positions. 900 of cash, and 100 of margin less 120.
    expect(dollars(figures.freeCollateralCrossQuanta)).toBe('900');
    expect(dollars(figures.freeCollateralQuanta)).toBe('880');
  });

  test('a lower ratio releases nothing, a higher one moves the missing requirement without the gain', () => {
    const world = isolated('120');
    freeze(world, 'A');
    expect(world.setMargin('ann', true, '0.15', 'A')).toBe('ok');
    expect(world.position('ann', 'A')!.margin).toBe('100');
    expect(world.setMargin('ann', true, '0.5', 'A')).toBe('ok');
    expect(world.position('ann', 'A')!.margin).toBe('300');
  });
});

describe('an account with a clearing debt', () => {
  function owing(): RiskWorld {
    const world = opened();
    world.trade('ann', 'bob', '5', '100', 'A');
    world.checks = false;
    stateOf(world.engine).subaccount(world.idOf('ann')).clearingDebt = quanta(1n);
    return world;
  }

  test('cannot withdraw or transfer', () => {
    const world = owing();
    expect(dollars(world.margin('ann').withdrawableQuanta)).toBe('0');
    expect(withdraw(world, 'ann', '0.000001')).toBe('amount_exceeds_available');
    expect(world.transfer('ann', 'bob', '0.000001')).toMatch(/exceeds available/);
    expect(world.transfer('ann', 'vault', '10')).toMatch(/exceeds available/);
  });

  test('cannot open, but may reduce', () => {
    const world = owing();
    expect(world.order('ann', '1', '100', { symbol: 'A' })).toMatchObject({
      reason: 'insufficientMargin',
    });
    expect(world.order('ann', '-5.001', '100', { symbol: 'A' })).toMatchObject({
      reason: 'insufficientMargin',
    });
    world.order('bob', '5', '100', { symbol: 'A' });
    expect(world.order('ann', '-5', '100', { symbol: 'A' })).toMatchObject({ status: 'filled' });
  });

  test('a resting order that would open is cancelled when it is met', () => {
    const world = opened();
    world.trade('ann', 'bob', '5', '100', 'A');
    const rests = world.order('ann', '1', '100', { symbol: 'A' });
    expect(rests).toMatchObject({ status: 'new' });
    world.checks = false;
    stateOf(world.engine).subaccount(world.idOf('ann')).clearingDebt = quanta(1n);
    world.order('bob', '-1', '100', { symbol: 'A' });
    expect(world.position('ann', 'A')!.quantity).toBe('5');
    expect(world.engine.openOrders(world.idOf('ann'))).toEqual([]);
  });

  test('cannot move money into an isolated position', () => {
    const world = opened();
    world.setMargin('ann', true, '0.2', 'A');
    world.trade('ann', 'bob', '5', '100', 'A');
    world.checks = false;
    stateOf(world.engine).subaccount(world.idOf('ann')).clearingDebt = quanta(1n);
    expect(world.setMargin('ann', true, '0.5', 'A')).toMatch(/margin/i);
    expect(world.position('ann', 'A')!.margin).toBe('100');
    expect(dollars(world.engine.isolatedExcess(world.idOf('ann'), marketId(0)))).toBe('0');
  });
});
