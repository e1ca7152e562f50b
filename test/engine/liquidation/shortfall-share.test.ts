/**
 * Deposits and withdrawals during a shortfall, refused targets and the operator log
 * (R-13.3).
 */
import { describe, expect, test } from 'vitest';
import { quanta, timeUs } from '../../../src/num/units.ts';
import { plantShortfall, stateOf, withdraw } from '../invariants/planted.ts';
import { dollars, RiskWorld, usd } from '../risk-world.ts';

function opened(): RiskWorld {
  const world = new RiskWorld([{}]);
  world.fund({ ann: '1000', bob: '1000', cat: '1000' });
  world.price('100');
  return world;
}

const shortfall = (world: RiskWorld): string => dollars(stateOf(world.engine).shortfall.cash);

/** The exchange's payout for a withdrawal. */
function paidFor(world: RiskWorld, name: string, amount: string): bigint {
  const { supply } = stateOf(world.engine);
  expect(withdraw(world, name, amount)).toBe('ok');
  expect(world.engine.checkInvariants()).toEqual([]);
  return supply - stateOf(world.engine).supply;
}

test('a withdrawal leaves ⌈a × |S| ÷ C⌉, and the record has the whole amount', () => {
  const world = opened();
  plantShortfall(world, '300', 'cat');
  const from = world.events.length;
  // C is 3,000 + 300, all claimed by users.
  expect(dollars(paidFor(world, 'ann', '100'))).toBe('90.90909');
  expect(world.balance('ann')).toBe('900');
  expect(shortfall(world)).toBe('-290.90909');
  const entries = world.events
    .slice(from)
    .flatMap((event) =>
      event.kind === 'balanceChanged' ? [[event.reason, dollars(event.deltaQuanta)]] : [],
    );
  expect(entries).toEqual([
    ['withdrawal', '-90.90909'],
    ['shortfall', '-9.09091'],
    ['shortfall', '9.09091'],
  ]);
  const query = { account: world.addressOf('ann'), subaccountIndex: 0 };
  expect(world.ask('getTransfers', query, 'ann')).toMatchObject([
    { transferType: 'withdrawal', amount: '100' },
    { transferType: 'deposit', amount: '1000' },
  ]);
  expect(dollars(world.margin('ann').netDepositsQuanta)).toBe('900');
});

test('without a shortfall a withdrawal is paid in full', () => {
  const world = opened();
  expect(dollars(paidFor(world, 'ann', '1000'))).toBe('1000');
});

describe('withdrawing first gains nothing', () => {
  const ORDERS = [
    ['ann', 'bob', 'cat'],
    ['cat', 'ann', 'bob'],
    ['bob', 'cat', 'ann'],
  ] as const;
  test.each(ORDERS)('%s, %s, %s', (...order) => {
    const world = opened();
    plantShortfall(world, '300', 'cat');
    const paid = new Map(
      order.map((name) => [name, paidFor(world, name, name === 'cat' ? '1300' : '1000')]),
    );
    // Each account gets 10 of 11; rounding is against the earlier withdrawal, by a Quantum.
    const [first, second] = [paid.get('ann')!, paid.get('bob')!];
    expect(first - second).toBeGreaterThanOrEqual(-1n);
    expect(first - second).toBeLessThanOrEqual(1n);
    expect(first).toBeGreaterThanOrEqual(usd('909.090908'));
    expect(first).toBeLessThanOrEqual(usd('909.090910'));
    expect(paid.get(order[0])!).toBeLessThanOrEqual((usd('1300') * 10n) / 11n);
    expect(shortfall(world)).toBe('0');
    expect(stateOf(world.engine).supply).toBe(0n);
  });

  test('a withdrawal in many parts gets no more than one at once', () => {
    const [whole, parts] = [opened(), opened()];
    for (const world of [whole, parts]) plantShortfall(world, '300', 'cat');
    const once = paidFor(whole, 'ann', '1000');
    let sum = 0n;
    for (let i = 0; i < 100; i++) sum += paidFor(parts, 'ann', '10');
    expect(sum).toBeLessThanOrEqual(once);
    expect(once - sum).toBeLessThanOrEqual(100n);
  });

  test('even one Quantum bears its share', () => {
    const world = opened();
    plantShortfall(world, '300', 'cat');
    expect(paidFor(world, 'ann', '0.000001')).toBe(0n);
    expect(world.balance('ann')).toBe('999.999999');
  });

  test('the share never exceeds the shortfall', () => {
    const world = opened();
    plantShortfall(world, '0.000001', 'cat');
    expect(dollars(paidFor(world, 'ann', '1000'))).toBe('999.999999');
    expect(shortfall(world)).toBe('0');
    expect(dollars(paidFor(world, 'bob', '1000'))).toBe('1000');
  });

  test('claims exclude treasury and insurance', () => {
    const world = opened();
    world.deposit('insurance', '500');
    plantShortfall(world, '300', 'cat');
    expect(dollars(paidFor(world, 'ann', '100'))).toBe('90.90909');
  });
});

describe('deposits since the shortfall began are exempt', () => {
  test('up to their amount, only once', () => {
    const world = opened();
    plantShortfall(world, '300', 'cat');
    world.deposit('ann', '500');
    expect(dollars(paidFor(world, 'ann', '400'))).toBe('400');
    // 100 exempt, 100 not.
    expect(dollars(paidFor(world, 'ann', '200'))).toBe('190.90909');
    expect(dollars(paidFor(world, 'ann', '100'))).toBe('90.90909');
  });

  test('they do not dilute the share of other money', () => {
    const world = opened();
    plantShortfall(world, '300', 'cat');
    world.deposit('bob', '1000000');
    expect(dollars(paidFor(world, 'ann', '100'))).toBe('90.90909');
  });

  test('for one shortfall: they share in the next one', () => {
    const world = opened();
    plantShortfall(world, '300', 'cat');
    world.deposit('ann', '500');
    world.deposit('insurance', '300');
    expect(shortfall(world)).toBe('0');
    plantShortfall(world, '380', 'cat');
    // C is 3,800 − 0 of insurance + 380: ann and bob 2,500, cat 1,680.
    expect(dollars(paidFor(world, 'ann', '418'))).toBe('380');
  });

  test('an internal transfer moves no exemption and pays nothing', () => {
    const world = opened();
    plantShortfall(world, '300', 'cat');
    world.deposit('ann', '500');
    expect(world.transfer('ann', 'bob', '500')).toBe('ok');
    expect(world.balance('bob')).toBe('1500');
    expect(dollars(paidFor(world, 'bob', '100'))).toBe('90.90909');
    expect(dollars(paidFor(world, 'ann', '500'))).toBe('500');
  });
});

describe('a deposit to insurance', () => {
  test("pays the shortfall at once; the rest enters this hour's base", () => {
    const world = opened();
    plantShortfall(world, '300', 'cat');
    world.deposit('insurance', '100');
    expect(shortfall(world)).toBe('-200');
    expect(world.balance('insurance')).toBe('0');
    world.deposit('insurance', '500');
    expect(shortfall(world)).toBe('0');
    expect(world.balance('insurance')).toBe('300');
    expect(dollars(stateOf(world.engine).insuranceBase)).toBe('300');
    expect(stateOf(world.engine).insurancePaid).toBe(0n);
    expect(world.engine.checkInvariants()).toEqual([]);
  });

  test("counts in its hour; the next hour's base is the balance", () => {
    const world = opened();
    world.deposit('insurance', '100');
    world.wait(3_600_000);
    world.deposit('insurance', '50');
    const state = stateOf(world.engine);
    expect(dollars(state.insuranceBase)).toBe('150');
    state.insurancePaid = quanta(7n);
    world.checks = false;
    world.wait(3_600_000);
    world.deposit('insurance', '1');
    expect(dollars(state.insuranceBase)).toBe('151');
    expect(state.insurancePaid).toBe(0n);
  });
});

test('the zero address receives no transfer', () => {
  const world = opened();
  const body = world.transferBody('ann', 'bob', '1', { accountTo: `0x${'0'.repeat(40)}` });
  expect(world.answer('transfer', body, 'ann')).toBe(
    '403 Transfer between these accounts is not allowed',
  );
});

test('the operator log has deposits and withdrawals, without refused ones', () => {
  const world = opened();
  const { operatorLog } = stateOf(world.engine);
  const from = operatorLog.length;
  world.deposit('ann', '5');
  withdraw(world, 'ann', '2');
  withdraw(world, 'ann', '2000');
  expect(operatorLog.slice(from)).toMatchObject([
    { kind: 'deposit', subaccount: world.idOf('ann'), amountQuanta: usd('5'), market: null },
    { kind: 'withdraw', subaccount: world.idOf('ann'), amountQuanta: usd('2'), detail: '' },
  ]);
  expect(operatorLog.at(-1)?.timeUs).toBe(timeUs(world.atUs));
});
