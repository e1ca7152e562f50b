/**
 * The exact rule decides on orders wherever a bound could be wrong; every world runs in
 * lockstep with the oracle.
 */
import { describe, expect, test } from 'vitest';
import { RiskWorld } from '../risk-world.ts';

const reasonOf = (order: ReturnType<RiskWorld['order']>): string | null =>
  typeof order === 'string' ? order : order.reason;

test('a resting order’s originator fee counts in full where delegates may grant more than owners', () => {
  const world = new RiskWorld([{}], {
    maxOriginatorFeePpm: 0,
    maxDelegateOriginatorFeePpm: 100_000,
  });
  world.price('100');
  world.deposit('ann', '25');
  world.deposit('ori', '1');
  expect(world.delegate('ann', 'del')).toBe('ok');
  const body = world.orderBody('ann', {
    price: '100',
    quantity: '1',
    originator: world.addressOf('ori'),
    originatorFee: 100_000,
  });
  const owner = world.addressOf('ann');
  const signed = { account: owner, signer: world.addressOf('del') };
  expect(world.gateway.handle('submitOrder', body, signed).status).toBe(200);
  // 16 of margin with 10 of fee are more than 25; 14 with 10 are not.
  expect(reasonOf(world.order('ann', '0.6', '100'))).toBe('insufficientMargin');
  expect(reasonOf(world.order('ann', '0.4', '100'))).toBeNull();
});

describe('requirements of other markets come before the admission of an order', () => {
  /** 100 in cash, of which N requires 60. */
  function heldInOther(isolated: boolean): RiskWorld {
    const world = new RiskWorld([{}, { symbol: 'N' }]);
    world.price('100');
    world.price('100', 'N');
    world.deposit('ann', '100');
    if (isolated) world.setMargin('ann', true, '0.1', 'N');
    expect(reasonOf(world.order('ann', '3', '100', { symbol: 'N' }))).toBeNull();
    expect(reasonOf(world.order('ann', '3', '100', { symbol: 'N' }))).toBeNull();
    return world;
  }

  test.each([false, true])('isolated there: %s', (isolated) => {
    const world = heldInOther(isolated);
    expect(reasonOf(world.order('ann', '4.001', '100'))).toBe('insufficientMargin');
    expect(reasonOf(world.order('ann', '3.8', '100'))).toBeNull();
    expect(reasonOf(world.order('ann', '0.2', '100'))).toBeNull();
    expect(reasonOf(world.order('ann', '0.001', '100'))).toBe('insufficientMargin');
  });

  test('a loss there reduces the slack here', () => {
    const world = new RiskWorld([{}, { symbol: 'N' }]);
    world.price('100');
    world.price('100', 'N');
    world.deposit('ann', '100');
    world.deposit('bob', '1000');
    world.trade('ann', 'bob', '3', '100', 'N');
    world.price('80', 'N');
    // 100 − 60 of loss − 24 of margin leave 16.
    expect(reasonOf(world.order('ann', '1.601', '100'))).toBe('insufficientMargin');
    expect(reasonOf(world.order('ann', '1.3', '100'))).toBeNull();
  });
});

test('orders of an isolated market are valued at their limits above the mark', () => {
  const world = new RiskWorld([{}]);
  world.price('100');
  world.deposit('ann', '100');
  world.setMargin('ann', true, '0.1');
  // 5 at 190: 95 of margin.
  expect(reasonOf(world.order('ann', '5', '190'))).toBeNull();
  expect(reasonOf(world.order('ann', '0.501', '100'))).toBe('insufficientMargin');
  expect(reasonOf(world.order('ann', '0.2', '100'))).toBeNull();
});
