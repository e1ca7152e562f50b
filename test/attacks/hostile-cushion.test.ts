/**
 * Pat is long 50 S against Hal, who is honest, and 25 A against Ria, of Pat's owner. Pat has no
 * money left, since Pat paid Ria for A out of the gain in S. S falls silent at 42,000, and Pat's
 * gain there counts up to the maintenance requirement of 21,000, so A is liquidated with equity.
 *
 * Ria bids half of the maintenance rate below the index. The liquidation order sold a fifth of A
 * there, at a loss of 1,000 that only the gain in S covered. S thaws at 40,000, the price at which Hal
 * sold: Hal paid it. Now the order has only Pat's money as its cushion (decision 0141).
 *
 * The vault's payment of 5,000, or the fee of insurance, came out of the gain in S too, and then from
 * Hal. Now both are at most Pat's money (decision 0147).
 */
import { afterAll, expect, test } from 'vitest';
import { dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

/** Until A is liquidated. `paid`: the price at which Pat buys A from Ria. */
function frozen({ paid, bid, vault }: { paid: string; bid?: string; vault?: string }): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'S' }]);
  world.fund({ pat: '41000', ria: '100000', hal: '200000', vera: '200000' });
  for (const symbol of ['A', 'S']) world.price('40000', symbol);
  if (vault !== undefined) world.transfer('vera', 'vault', vault);
  world.trade('pat', 'hal', '50', '40000', 'S');
  world.price('42000', 'S');
  world.trade('pat', 'ria', '25', paid, 'A');
  world.run(30_000, { A: '40000' });
  if (bid !== undefined) world.order('ria', '25', bid, { symbol: 'A' });
  world.run(31_000, { A: '40000' });
  return world;
}

const orders = (world: AttackWorld) =>
  world.events.filter((event) => event.kind === 'liquidationStep' && event.step === 'order');

test('a bid below the index: Ria won 1,000, now nothing', () => {
  const world = frozen({ paid: '41640', bid: '39800' });
  expect(orders(world)).toMatchObject([{ limitTicks: 402_011, bankruptcyTicks: 400_000 }]);
  expect(world.stepsOf('pat')).toEqual(['order', 'adl', 'safe']);
  world.run(1000, { A: '40000', S: '40000' });
  expect(dollars(coalition(world, ['pat', 'ria']).loot)).toBe('0');
  expect([world.equity('hal'), world.balance('insurance')]).toEqual(['200000', '0']);
});

test('money still covers the cushion of a liquidation order while a gain is frozen', () => {
  // 8,000 of money and 21,000 of the gain, against 31,000.
  const world = frozen({ paid: '41320', bid: '39800' });
  expect(orders(world)).toMatchObject([{ limitTicks: 398_794, bankruptcyTicks: 396_800 }]);
});

/** Pat has this much money left when A is liquidated. */
test.each([
  { paid: '41640', money: '0' },
  { paid: '41600', money: '1000' },
  { paid: '41440', money: '5000' },
])('the payment of the vault and the fee of insurance are at most $money', ({ paid, money }) => {
  const taken = frozen({ paid, vault: '100000' });
  expect(taken.stepsOf('pat')).toEqual(['order', 'takeover', 'safe']);
  const closed = frozen({ paid });
  expect(closed.stepsOf('pat')).toEqual(['order', 'adl', 'safe']);
  for (const world of [taken, closed]) {
    world.run(1000, { A: '40000', S: '40000' });
    expect(dollars(coalition(world, ['pat', 'ria']).loot)).toBe(String(-Number(money)));
    expect(world.equity('hal')).toBe('200000');
  }
  expect(taken.equity('vault')).toBe(String(100_000 + Number(money)));
  expect(closed.balance('insurance')).toBe(money);
});

test('the advantage of the index over a mark that quotes hold below it is no fee either', () => {
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'S' }]);
  world.fund({ pat: '41000', ria: '100000', hal: '200000', eve: '100000', ed: '100000' });
  for (const symbol of ['A', 'S']) world.price('40000', symbol);
  world.trade('pat', 'hal', '50', '40000', 'S');
  world.price('42000', 'S');
  world.trade('eve', 'ed', '1', '40000', 'A');
  world.quote('eve', 'ed', '2', '39600', '39601', 'A');
  world.run(600_000, { A: '40000', S: '42000' });
  for (const name of ['eve', 'ed']) world.cancelAll(name);
  world.trade('pat', 'ria', '25', '41640', 'A');
  world.quote('eve', 'ed', '2', '39600', '39601', 'A');
  world.run(61_000, { A: '40000' });
  expect(world.markOf('A')).toBeLessThan(39_900);
  expect(world.stepsOf('pat')).toEqual(['adl', 'safe']);
  world.run(1000, { A: '40000', S: '40000' });
  expect([world.equity('hal'), world.balance('insurance')]).toEqual(['200000', '0']);
});

test('the owner of all vault shares had 25,000 of Hal for 5 million, now nothing', () => {
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'S' }]);
  world.fund({ pat: '205000', ria: '500000', hal: '1000000', vera: '100000' });
  for (const symbol of ['A', 'S']) world.price('40000', symbol);
  world.transfer('vera', 'vault', '100000');
  world.trade('pat', 'hal', '250', '40000', 'S');
  world.price('42000', 'S');
  world.trade('pat', 'ria', '125', '41640', 'A');
  world.run(61_000, { A: '40000' });
  world.run(1000, { A: '40000', S: '40000' });
  expect([world.equity('hal'), world.equity('vault')]).toEqual(['1000000', '100000']);
});
