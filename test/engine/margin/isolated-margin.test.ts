/** Isolated margin and own margin settings, to the Quantum, and every refusal of a setting. */
import { describe, expect, test } from 'vitest';
import { RiskWorld, dollars } from '../risk-world.ts';

function opened(market: Record<string, unknown> = {}): RiskWorld {
  const world = new RiskWorld([market, { symbol: 'N' }]);
  world.fund({ ann: '1000', bob: '1000000', cat: '1000' });
  world.price('100');
  world.price('100', 'N');
  return world;
}

const free = (world: RiskWorld, who: string): string => world.stats(who)['freeCollateralCross']!;

test('an opening fill moves notional × margin out of the cash, closing returns it with the PnL', () => {
  const world = opened();
  expect(world.setMargin('ann', true, '0.2')).toBe('ok');
  world.trade('ann', 'bob', '10', '100');
  expect(world.balance('ann')).toBe('800');
  expect(world.position('ann')).toMatchObject({ isolated: true, margin: '200', basis: '1000' });
  world.price('110');
  expect(world.stats('ann')).toMatchObject({
    accountValue: '1100',
    crossEquity: '800',
    freeCollateral: '880',
    freeCollateralCross: '800',
    maintMargin: '55',
    upnl: '100',
  });
  world.trade('ann', 'bob', '-4', '110');
  // Four tenths of 200, and a gain of 40.
  expect(world.balance('ann')).toBe('920');
  expect(world.position('ann')).toMatchObject({ margin: '120', basis: '600', quantity: '6' });
  world.trade('ann', 'bob', '-6', '110');
  expect(world.balance('ann')).toBe('1100');
  expect(world.position('ann')).toBeUndefined();
});

test('a flip closes, releases, then opens', () => {
  const world = opened();
  world.setMargin('ann', true, '0.2');
  world.trade('ann', 'bob', '10', '100');
  world.price('105');
  world.trade('ann', 'bob', '-16', '105');
  // 1,000 + a gain of 50 − 20 % of 6 × 105.
  expect(world.balance('ann')).toBe('924');
  expect(world.position('ann')).toMatchObject({ quantity: '-6', margin: '126', basis: '-630' });
});

test('opening fees come from cash, closing fees and funding from the margin', () => {
  const world = opened({ takerFee: '0.001', makerFee: '0' });
  world.setMargin('ann', true, '0.5');
  world.trade('ann', 'bob', '10', '100');
  expect(world.balance('ann')).toBe('499');
  expect(world.position('ann')).toMatchObject({ margin: '500', fees: '1' });
  expect(world.settle('0.01')).toBe('ok');
  expect(world.position('ann')).toMatchObject({ margin: '490', funding: '-10' });
  expect(world.balance('ann')).toBe('499');
  world.trade('ann', 'bob', '-5', '100');
  // Half of 490, less the fee of 0.5.
  expect(world.balance('ann')).toBe('743.5');
  expect(world.position('ann')).toMatchObject({ margin: '245' });
});

test('losses beyond the margin never touch the cash', () => {
  const world = opened();
  world.deposit('insurance', '100000');
  world.setMargin('ann', true, '0.1');
  world.trade('ann', 'bob', '90', '100');
  expect(world.balance('ann')).toBe('100');
  world.price('50');
  expect(world.balance('ann')).toBe('100');
  expect(world.position('ann')).toBeUndefined();
});

test('a partial close with a loss beyond its margin share returns nothing and takes no cash', () => {
  const world = opened();
  world.setMargin('ann', true, '0.1');
  world.trade('ann', 'bob', '10', '100');
  world.price('120');
  // A tenth of the margin of 100 less a loss of 20: the missing 10 stay in the margin of the rest.
  world.trade('ann', 'bob', '-1', '80');
  expect(world.balance('ann')).toBe('900');
  expect(world.position('ann')).toMatchObject({ quantity: '9', margin: '80', basis: '900' });
});

test('open orders reserve the margin and fees of the worse side from free collateral', () => {
  const world = opened({ makerFee: '0.001', takerFee: '0.001' });
  world.setMargin('ann', true, '0.5');
  world.order('ann', '4', '90');
  // At the higher of limit and mark: 4 × 100 × 0.5, and the fee of 4 × 90.
  expect(free(world, 'ann')).toBe('799.64');
  world.order('ann', '-6', '120');
  expect(free(world, 'ann')).toBe('638.92');
  expect(world.order('ann', '-20', '120')).toMatchObject({ reason: 'insufficientMargin' });
  expect(
    world.order('ann', '-2', '120', { flags: { ioc: false, postOnly: true, reduceOnly: false } }),
  ).toMatchObject({ reason: null });
});

test('only the unfilled part of an order reserves its fees, the originator’s too (R-5.6, D-56)', () => {
  const world = new RiskWorld();
  world.fund({ ann: '501', bob: '100000', cat: '1' });
  world.price('100');
  world.setMargin('ann', true, '0.5');
  // 500 of margin and 0.1 % of 1,000: ann's whole balance.
  const fee = { originator: world.addressOf('cat'), originatorFee: 1000 };
  expect(world.order('ann', '10', '100', fee)).toMatchObject({ reason: null });
  world.order('bob', '-4', '100');
  expect(world.position('ann')).toMatchObject({ quantity: '4', margin: '200' });
  expect(free(world, 'ann')).toBe('0');
});

test('an order that flips the position reserves its opening part by the tiers from 0, like its fill (R-5.6, D-27)', () => {
  const world = opened({
    marginTiers: [
      { notionalFloor: '0', initialMargin: '0.1', maintenanceMargin: '0.05' },
      { notionalFloor: '1000', initialMargin: '0.5', maintenanceMargin: '0.25' },
    ],
  });
  world.setMargin('ann', true, '0.1');
  world.trade('ann', 'bob', '10', '100');
  expect(world.balance('ann')).toBe('900');
  // A sale of 18 closes 10 and opens 8, for 80; two tiers higher they would take 400.
  world.order('ann', '-18', '100');
  expect(free(world, 'ann')).toBe('820');
});

test('cross positions do not pay for an isolated position', () => {
  const world = opened();
  world.deposit('insurance', '1000');
  world.setMargin('ann', true, '0.2');
  world.trade('ann', 'bob', '10', '100');
  world.trade('ann', 'bob', '20', '100', 'N');
  world.price('70');
  expect(world.steps().every((step) => step.startsWith('ann'))).toBe(true);
  expect(world.position('ann')).toBeUndefined();
  expect(world.position('ann', 'N')).toMatchObject({ quantity: '20', isolated: false });
  expect(world.balance('ann')).toBe('800');
});

describe('changing the setting', () => {
  test('raising the ratio of an open position moves cash in, lowering releases the excess', () => {
    const world = opened();
    world.setMargin('ann', true, '0.2');
    world.trade('ann', 'bob', '10', '100');
    expect(world.setMargin('ann', true, '0.5')).toBe('ok');
    expect(world.position('ann')).toMatchObject({ margin: '500' });
    world.price('90');
    expect(world.setMargin('ann', true, '0.1')).toBe('ok');
    // Equity 400 at a notional of 900: 90 must stay.
    expect(world.position('ann')).toMatchObject({ margin: '190' });
    expect(world.balance('ann')).toBe('810');
  });

  const REFUSED: readonly (readonly [string, (world: RiskWorld) => string, string])[] = [
    [
      'a ratio of 0',
      (w) => w.setMargin('ann', false, '0'),
      '400 margin: must be a ratio above 0 and at most 1',
    ],
    [
      'a ratio above 1',
      (w) => w.setMargin('ann', false, '1.000001'),
      '400 margin: must be a ratio above 0 and at most 1',
    ],
    [
      '7 decimals',
      (w) => w.setMargin('ann', false, '0.1234567'),
      '400 margin: must have at most 6 decimals',
    ],
    [
      "less than the market's",
      (w) => w.setMargin('ann', true, '0.05'),
      '400 margin: must be at least 0.1',
    ],
    [
      'isolated with a position',
      (w) => {
        w.trade('ann', 'bob', '1', '100');
        return w.setMargin('ann', true, '0.5');
      },
      '400 isolated: cannot change with an open position or open orders in the market',
    ],
    [
      'cross with an order',
      (w) => {
        w.setMargin('ann', true, '0.5');
        w.order('ann', '1', '90');
        return w.setMargin('ann', false, '0.5');
      },
      '400 isolated: cannot change with an open position or open orders in the market',
    ],
    [
      'raising a cross ratio beyond the free collateral',
      (w) => {
        w.trade('ann', 'bob', '20', '100');
        return w.setMargin('ann', false, '0.6');
      },
      '400 margin: free collateral or isolated margin is too small for it',
    ],
    [
      'raising an isolated ratio beyond the cash',
      (w) => {
        w.setMargin('ann', true, '0.3');
        w.trade('ann', 'bob', '20', '100');
        return w.setMargin('ann', true, '0.6');
      },
      '400 margin: free collateral or isolated margin is too small for it',
    ],
    [
      'lowering an isolated ratio with an uncovered new requirement',
      (w) => {
        w.setMargin('ann', true, '0.3');
        w.trade('ann', 'bob', '20', '100');
        w.price('85');
        return w.setMargin('ann', true, '0.2');
      },
      '400 margin: free collateral or isolated margin is too small for it',
    ],
  ];

  test.each(REFUSED)('%s is refused, and nothing changes', (_name, attempt, words) => {
    const world = opened();
    const handle = world.gateway.handle.bind(world.gateway);
    let hash = '';
    world.gateway.handle = (...call) => {
      hash = world.engine.stateHash();
      return handle(...call);
    };
    expect(attempt(world)).toBe(words);
    expect(world.engine.stateHash()).toBe(hash);
  });

  test('a higher cross ratio raises the initial requirement only', () => {
    const world = opened();
    world.trade('ann', 'bob', '10', '100');
    expect(world.setMargin('ann', false, '0.5')).toBe('ok');
    expect(world.stats('ann')).toMatchObject({
      initialMarginRequirement: '500',
      maintMargin: '50',
      freeCollateral: '500',
    });
    const query = { account: world.addressOf('ann'), subaccountIndex: 0, symbol: 'M' };
    expect(world.ask('getMargin', query, 'ann')).toMatchObject([
      { isolated: false, margin: '0.5' },
    ]);
  });
});

test("the market's feed id transfers excess isolated margin to other users and to own cash (R-5.10)", () => {
  const world = opened();
  world.setMargin('ann', true, '0.5');
  world.trade('ann', 'bob', '10', '100');
  world.price('150');
  const { feedId } = world.engine.market(world.marketOf('M')).spec;
  const query = { account: world.addressOf('ann'), subaccountIndex: 0, feedId };
  // Equity 1,000; 50 % of 1,500 must stay.
  expect(world.ask('getTransferMax', query, 'ann')).toEqual({ amount: '250', shortfallPart: '0' });
  expect(world.transfer('ann', 'cat', '250.000001', { feedId })).toBe(
    '400 Transfer amount exceeds available balance',
  );
  expect(world.transfer('ann', 'cat', '100', { feedId })).toBe('ok');
  expect(world.transfer('ann', 'ann', '150', { feedId })).toBe('ok');
  expect(world.position('ann')).toMatchObject({ margin: '250' });
  expect(world.balance('ann')).toBe('650');
  expect(world.balance('cat')).toBe('1100');
  expect(world.transfer('ann', 'ann', '1')).toMatch(/^403 /);
});

test('the liquidation price of an isolated position is its own', () => {
  const world = opened();
  world.setMargin('ann', true, '0.2');
  world.trade('ann', 'bob', '10', '100');
  // (1,000 − 200) ÷ 10 ÷ 0.95 = 84.2: at 85 safe, at 84 not.
  expect(world.position('ann')).toMatchObject({ liquidationPrice: '84' });
  expect(dollars(world.margin('ann').maintenanceRequirementQuanta)).toBe('50');
  world.price('85');
  expect(world.steps()).toEqual([]);
});
