/**
 * Liquidation (§6): each step in isolation, in order, with its numbers; the order of units;
 * exemptions.
 */
import { describe, expect, test } from 'vitest';
import type { LiquidationStep, PositionTransferred } from '../../../src/engine/events.ts';
import { RiskWorld, dollars } from '../risk-world.ts';

/** Ann holds a long of 10 at 100 with 100 USD: liquidatable below 94.74 (10 % and 5 %). */
function opened(
  config: Record<string, unknown> = {},
  market: Record<string, unknown> = {},
): RiskWorld {
  const world = new RiskWorld([market], config);
  world.fund({ ann: '100', bob: '1000000', cat: '1000000', dan: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  return world;
}

const stepsOf = (world: RiskWorld): LiquidationStep[] =>
  world.events.filter((event) => event.kind === 'liquidationStep');
const transfersOf = (world: RiskWorld): PositionTransferred[] =>
  world.events.filter((event) => event.kind === 'positionTransferred');

/** Cash, isolated margin and positions at mark, over all accounts: equals net deposits. */
function worth(world: RiskWorld): bigint {
  let sum = 0n;
  for (let id = 0; ; id++) {
    try {
      sum += world.engine.margin(id as never).accountValueQuanta;
    } catch {
      return sum;
    }
  }
}

test('equality is safe (R-6.1)', () => {
  const world = new RiskWorld([
    { tickSize: '0.1', initialMargin: '0.1', maintenanceMargin: '0.05' },
  ]);
  world.fund({ ann: '145', bob: '100000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  // 145 − 100 = 45 = 5 % of 900.
  world.price('90');
  expect(world.steps()).toEqual([]);
  expect(dollars(world.margin('ann').crossEquityQuanta)).toBe('45');
  world.price('89.9');
  expect(world.steps()).not.toEqual([]);
});

test('step 1: its open orders are cancelled, which may suffice (R-6.2)', () => {
  const world = opened();
  world.deposit('ann', '50');
  world.order('ann', '1', '80');
  world.order('cat', '50', '90');
  world.price('89');
  expect(stepsOf(world)[0]).toMatchObject({ step: 'cancelOrders', orders: 1 });
  const ended = world.events.filter((event) => event.kind === 'orderEnded');
  expect(ended.filter(({ reason }) => reason === 'liquidation')).toMatchObject([
    { status: 'cancelled', remainingLots: 1000 },
  ]);
});

test('step 2: closes on the book, bounded by bankruptcy and fee; the owner keeps the rest', () => {
  const world = opened();
  world.order('cat', '50', '94');
  world.price('94');
  expect(world.steps()).toEqual(['ann order']);
  // Bankrupt at 90. The limit leaves the fee of 0.5 %, 90 ÷ 0.995 = 90.45, and is within half of 5
  // % below the settlement price, 91.65.
  expect(stepsOf(world)[0]).toMatchObject({
    market: 0,
    lots: -10_000,
    limitTicks: 92,
    bankruptcyTicks: 90,
    equityQuanta: 40_000_000n,
    maintenanceQuanta: 47_000_000n,
  });
  expect(world.position('ann')).toBeUndefined();
  // 40 less 0.5 % of 940.
  expect(world.balance('ann')).toBe('35.3');
  expect(world.balance('insurance')).toBe('4.7');
  // A print exists.
  expect(world.ask('getTrades', { symbol: 'M' }, 'ann')).toMatchObject([
    { price: '94', quantity: '-10' },
    { price: '100', quantity: '10' },
  ]);
});

test('step 2: the fee is capped at the value above bankruptcy', () => {
  const world = opened({ liquidationFee: '0' });
  const charged = opened({ liquidationFee: '0.05' });
  for (const each of [world, charged]) {
    each.order('cat', '50', '94');
    each.price('94');
  }
  expect(world.balance('ann')).toBe('40');
  // 5 % requires at least 90 ÷ 0.95 = 94.7: the book does not fill it, so the next steps follow.
  expect(charged.steps()).toEqual(['ann order', 'ann adl']);
});

test('an engine order has its own id and no taker fee, and its makers get no rebate', () => {
  const world = new RiskWorld([{ makerFee: '-0.0001', takerFee: '0.0002' }]);
  world.fund({ ann: '100.2', bob: '1000000', cat: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  world.order('cat', '50', '93');
  const before = world.balance('cat');
  world.price('94');
  expect(world.balance('cat')).toBe(before);
  const query = { account: world.addressOf('ann'), subaccountIndex: 0, status: 'filled' };
  const { asks } = world.ask('listOrders', query, 'ann') as { asks: Record<string, unknown>[] };
  expect(asks).toMatchObject([{ quantity: '-10', flags: { ioc: true, reduceOnly: true } }]);
  const { orderId } = asks[0]!;
  expect(world.ask('getOrder', { orderId }, 'ann')).toMatchObject({ orderId, status: 'filled' });
});

test('engine orders ignore self-trade prevention: the own order is cancelled, and matching continues (R-2.6a)', () => {
  const world = opened();
  world.deposit('ann', '1000', 1);
  world.order('ann', '5', '94', { subaccountIndex: 1 });
  world.order('cat', '50', '93');
  world.price('94');
  const ended = world.events.filter((event) => event.kind === 'orderEnded');
  expect(ended.some(({ reason }) => reason === 'selfTrade')).toBe(true);
  expect(world.position('ann')).toBeUndefined();
});

test('large positions are closed in slices of a fifth, with pauses, re-checked after each (R-6.2)', () => {
  const world = opened({ partialLiquidationNotional: '500' });
  world.order('cat', '1000', '94');
  world.price('94');
  expect(world.position('ann')).toMatchObject({ quantity: '8' });
  world.price('94');
  expect(world.position('ann')).toMatchObject({ quantity: '8' });
  // 40 − 0.94 = 39.06 against 5 % of 752: safe after the first slice.
  expect(world.steps()).toEqual(['ann order', 'ann safe']);

  world.price('93');
  // A new liquidation starts at 8, with slices of a fifth of that.
  expect(world.position('ann')).toMatchObject({ quantity: '6.4' });
  expect(world.steps().slice(2)).toEqual(['ann order', 'ann safe']);
});

test('an insufficient slice is followed by the next after 30 s', () => {
  const world = new RiskWorld([{ maintenanceMargin: '0.1' }], {
    partialLiquidationNotional: '100',
  });
  world.fund({ ann: '100', bob: '1000000', cat: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  world.order('cat', '1000', '97');
  world.price('97');
  const sizes = (): (string | undefined)[] => [world.position('ann')?.quantity];
  expect(sizes()).toEqual(['8']);
  world.wait(29_999);
  expect(sizes()).toEqual(['8']);
  world.wait(1);
  expect(sizes()).toEqual(['6']);
  expect(
    stepsOf(world)
      .filter(({ step }) => step === 'order')
      .map(({ lots }) => lots),
  ).toEqual([-2000, -2000]);
});

test('step 3: below two thirds of maintenance, or without a book, the vault takes the position for half of its requirement', () => {
  const world = opened();
  world.transfer('dan', 'vault', '1000');
  world.price('94');
  expect(world.steps()).toEqual(['ann order', 'ann takeover']);
  expect(transfersOf(world)).toMatchObject([
    { reason: 'takeover', lots: 10_000, priceTicks: 94, moneyQuanta: 23_500_000n },
  ]);
  // Of 40 the vault gets half of 5 % of 940; the owner keeps the rest.
  expect(world.balance('ann')).toBe('16.5');
  expect(world.position('ann')).toBeUndefined();
  const vault = world.engine.positions(world.idOf('vault'));
  expect(vault).toMatchObject([{ lots: 10_000, costQuanta: 940_000_000n }]);
  expect(world.balance('vault')).toBe('1023.5');
  // No print: the last price is that of the trade.
  expect(world.ask('getTrades', { symbol: 'M' }, 'ann')).toHaveLength(1);
});

test('step 3: a deep fall goes straight to the vault, whatever the bids', () => {
  const world = opened();
  world.transfer('dan', 'vault', '1000');
  world.order('cat', '50', '91');
  world.price('91');
  expect(world.steps()).toEqual(['ann takeover']);
});

test('step 3: skipped if the vault’s free collateral would fall below 0', () => {
  const world = opened();
  world.transfer('dan', 'vault', '50');
  world.price('94');
  // 50 + 23.5 < 94 of initial requirement.
  expect(world.steps()).toEqual(['ann order', 'ann adl']);
});

/**
 * Insurance with this balance at the start of the hour: the limit of does not depend on the
 * deposit time.
 */
function insured(amount: string): RiskWorld {
  const world = opened();
  world.transfer('dan', 'vault', '1000');
  world.deposit('insurance', amount);
  world.wait(3_600_000);
  return world;
}

test('step 4: insurance lifts equity to 0 within its hourly limit, then the vault takes it', () => {
  const world = insured('200');
  world.price('85');
  expect(world.steps()).toEqual(['ann insurance', 'ann takeover']);
  expect(stepsOf(world)[0]).toMatchObject({
    equityQuanta: -50_000_000n,
    amountQuanta: 50_000_000n,
  });
  expect(transfersOf(world)).toMatchObject([
    { reason: 'takeover', priceTicks: 85, moneyQuanta: 0n },
  ]);
  expect(world.balance('insurance')).toBe('150');
  expect(world.balance('ann')).toBe('0');
});

test('step 4: beyond its limit insurance pays in part, and holders of the other side pay the rest (R-6.7)', () => {
  const world = insured('100');
  world.price('85');
  expect(world.steps()).toEqual(['ann insurance', 'ann adl']);
  expect(world.balance('insurance')).toBe('75');
  expect(transfersOf(world)).toMatchObject([{ reason: 'adl', moneyQuanta: -25_000_000n }]);
  expect(world.balance('ann')).toBe('0');
});

describe('step 5: auto-deleveraging (R-6.4)', () => {
  test('the bankrupt side ends at exactly 0, in money', () => {
    const world = opened();
    const before = worth(world);
    world.price('85');
    expect(world.balance('ann')).toBe('0');
    // Bob closes at 85, with a gain of 150, and pays ann's deficit of 50.
    expect(world.balance('bob')).toBe('1000100');
    expect(transfersOf(world)).toMatchObject([
      { reason: 'adl', lots: 10_000, priceTicks: 85, moneyQuanta: -50_000_000n },
    ]);
    expect(worth(world)).toBe(before);
  });

  test('ranks by profit and leverage; losers come last; accounts without a position pay nothing', () => {
    const world = new RiskWorld();
    world.fund({ ann: '310', bob: '400', cat: '200', dan: '100000', eve: '1000000' });
    world.price('100');
    // Bob and cat gain equally, cat on less money; dan is short from below and loses.
    world.trade('ann', 'bob', '10', '100');
    world.trade('ann', 'cat', '10', '100');
    world.price('70', 'M', '70');
    const order = transfersOf(world).map(({ to }) => world.nameOf(to));
    expect(order[0]).toBe('cat');
    expect(world.balance('eve')).toBe('1000000');
  });

  test('pro rata by size, rounded down, the rest by rank', () => {
    const world = new RiskWorld([{ lotSize: '0.001' }]);
    world.fund({ ann: '100', bob: '100', cat: '101', dan: '102' });
    world.price('100');
    for (const [who, size] of [
      ['bob', '3'],
      ['cat', '3'],
      ['dan', '3'],
    ] as const) {
      world.trade('ann', who, size, '100');
    }
    world.price('88');
    const shares = transfersOf(world).map(({ moneyQuanta }) => moneyQuanta);
    // −8 USD over three equal parts.
    expect(shares).toEqual([-2_666_668n, -2_666_666n, -2_666_666n]);
    expect(world.balance('ann')).toBe('0');
    for (const who of ['bob', 'cat', 'dan']) expect(world.position(who)).toBeUndefined();
  });
});

test('the most endangered is handled first; ties by age (R-6.1)', () => {
  const world = new RiskWorld();
  world.fund({ ann: '120', bob: '100', cat: '100', dan: '1000000' });
  world.price('100');
  for (const who of ['ann', 'bob', 'cat']) world.trade(who, 'dan', '10', '100');
  world.price('92');
  expect(world.steps().filter((step) => step.endsWith('order') || step.endsWith('adl'))).toEqual([
    // Below two thirds of their maintenance.
    'bob adl',
    'cat adl',
    'ann order',
    'ann adl',
  ]);
});

test('cross positions go largest notional first, until the account is safe', () => {
  const world = new RiskWorld([{}, { symbol: 'N' }]);
  world.fund({ ann: '300', bob: '1000000', cat: '1000000' });
  world.price('100');
  world.price('100', 'N');
  world.trade('ann', 'bob', '10', '100');
  world.trade('ann', 'bob', '20', '100', 'N');
  world.order('cat', '50', '94');
  world.order('cat', '50', '94', { symbol: 'N' });
  world.price('94');
  world.price('94', 'N');
  world.price('93', 'N');
  expect(world.position('ann', 'N')).toBeUndefined();
  expect(world.position('ann')).toMatchObject({ quantity: '10' });
});

test('the vault’s own liquidation skips the take-over', () => {
  const world = opened();
  world.transfer('dan', 'vault', '100');
  world.price('93');
  expect(world.engine.positions(world.idOf('vault'))).toHaveLength(1);
  world.price('82');
  expect(world.steps().slice(-1)).toEqual(['vault adl']);
});

test('a frozen market protects no position elsewhere; its own positions wait (R-6.1)', () => {
  const world = new RiskWorld([{ markSource: 'index' }, { symbol: 'N', markSource: 'index' }], {
    indexStaleMs: 60_000,
  });
  world.fund({ ann: '200', bob: '1000000' });
  world.price('100');
  world.price('100', 'N');
  world.trade('ann', 'bob', '10', '100');
  world.trade('ann', 'bob', '10', '100', 'N');
  world.wait(50_000);
  world.price('100');
  world.wait(20_000);
  // N is frozen. In M ann loses 200: its position there is closed, that in N stays.
  world.price('80');
  expect(world.steps()).toEqual(['ann adl']);
  expect(world.position('ann')).toBeUndefined();
  expect(world.position('ann', 'N')).toMatchObject({ quantity: '10' });
  world.price('100', 'N');
  expect(world.steps().at(-1)).toBe('ann adl');
  expect(world.position('ann', 'N')).toBeUndefined();
});

test('the clearing debt of a unit with frozen positions is repaid at the thaw (R-6.1)', () => {
  const world = new RiskWorld([{ markSource: 'index' }, { symbol: 'N', markSource: 'index' }], {
    indexStaleMs: 60_000,
  });
  world.fund({ ann: '200', bob: '1000000' });
  world.deposit('insurance', '1000');
  world.wait(3_600_000);
  world.price('100');
  world.price('100', 'N');
  world.trade('ann', 'bob', '10', '100');
  world.trade('ann', 'bob', '10', '100', 'N');
  world.wait(50_000);
  world.price('100');
  world.wait(20_000);
  world.price('75');
  // 200 − 250: insurance pays 50.
  expect(world.steps()[0]).toBe('ann insurance');
  expect(world.balance('insurance')).toBe('950');
  world.price('120', 'N');
  expect(world.balance('insurance')).toBe('1000');
  expect(world.balance('ann')).toBe('-50');
  expect(world.position('ann', 'N')).toMatchObject({ quantity: '10', upnl: '200' });
});

test('a tested safe account is not tested again', () => {
  const world = opened();
  const { state } = world.engine as unknown as {
    state: { markets: { liquidation: { takeEndangered: (mark: number) => unknown } }[] };
  };
  const index = state.markets[0]!.liquidation;
  const taken: unknown[] = [];
  const original = index.takeEndangered.bind(index);
  index.takeEndangered = (mark) => {
    const exposure = original(mark);
    if (exposure !== undefined) taken.push(exposure);
    return exposure;
  };
  for (const price of ['101', '99', '98', '97', '120', '96']) world.price(price);
  expect(taken).toEqual([]);
  world.price('94');
  expect(taken).toHaveLength(1);
});
