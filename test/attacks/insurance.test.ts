/**
 * Attack 7. Pat is long and Quinn short 30 A at 40,000 (24,720 each), both of one owner. A gap
 * pushes Pat below zero. Insurance paid the whole deficit while Quinn kept the whole gain: +5,280
 * at a gap of 2.5 %, +35,280 at 5 %, +95,280 at 10 %.
 *
 * Ownership is unknowable, so this is limited, not excluded. Insurance pays at most a quarter per
 * hour of its balance at the hour's start plus later deposits; Quinn pays the rest out of
 * the gain.
 */
import { afterAll, expect, test } from 'vitest';
import { dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const HOUR = 3_600_000;

/** Pairs pN (long, or short for side −1) and qN. */
function opened(insurance: string, pairs: number, symbols = ['A']): AttackWorld {
  const world = new AttackWorld(symbols.map((symbol) => ({ symbol })));
  world.deposit('insurance', insurance);
  world.fund({ dan: '50000' });
  for (let i = 0; i < pairs; i++) {
    world.fund({ [`p${String(i)}`]: '24720', [`q${String(i)}`]: '24720' });
  }
  for (const symbol of symbols) world.price('40000', symbol);
  return world;
}

function attack(
  world: AttackWorld,
  pair: number,
  gap: number,
  symbol = 'A',
  side: 1 | -1 = 1,
): void {
  const [p, q] = [`p${String(pair)}`, `q${String(pair)}`];
  world.price('40000', symbol);
  world.trade(p, q, side === 1 ? '30' : '-30', '40000', symbol);
  world.price(String(40_000 - side * gap), symbol);
  expect(world.positions(p)).toEqual([]);
}

function profit(world: AttackWorld, pairs: number): string {
  const names = Array.from({ length: pairs }, (_, i) => [`p${String(i)}`, `q${String(i)}`]).flat();
  expect([world.equity('dan'), world.shortfall()]).toEqual(['50000', '0']);
  return dollars(coalition(world, names).profit);
}

interface Row {
  readonly gap: number;
  readonly insurance: string;
  readonly side: 1 | -1;
  readonly before: string;
  readonly after: string;
}

const ROWS: readonly Row[] = [
  { gap: 1000, insurance: '100000', side: 1, before: '5280', after: '5280' },
  { gap: 2000, insurance: '100000', side: 1, before: '35280', after: '25000' },
  { gap: 4000, insurance: '100000', side: 1, before: '95280', after: '25000' },
  { gap: 4000, insurance: '100000', side: -1, before: '95280', after: '25000' },
  { gap: 4000, insurance: '20000', side: 1, before: '0', after: '5000' },
  // A quarter of these is the whole deficit.
  { gap: 1000, insurance: '21120', side: 1, before: '5280', after: '5280' },
  { gap: 2000, insurance: '141120', side: 1, before: '35280', after: '35280' },
  { gap: 4000, insurance: '381120', side: 1, before: '95280', after: '95280' },
  { gap: 4000, insurance: '381116', side: 1, before: '95280', after: '95279' },
  // Remaining risk: an exchange with rich insurance can lose a deficit in full to both sides of one
  // owner.
  { gap: 4000, insurance: '1000000', side: 1, before: '95280', after: '95280' },
];

test.each(ROWS)(
  'gap of $gap, insurance of $insurance, side $side: won $before, now $after',
  ({ gap, insurance, side, after }) => {
    const world = opened(insurance, 1);
    attack(world, 0, gap, 'A', side);
    expect(profit(world, 1)).toBe(after);
    expect(Number(world.balance('insurance'))).toBe(Number(insurance) - Number(after));
  },
);

test('more pairs, in one market or in several, win no more within the hour', () => {
  const world = opened('100000', 4, ['A', 'B']);
  attack(world, 0, 4000);
  attack(world, 1, 4000);
  attack(world, 2, 4000, 'B');
  attack(world, 3, 2000, 'B', -1);
  expect(profit(world, 4)).toBe('25000');
  expect(world.balance('insurance')).toBe('75000');
});

test('a cross account and an isolated position that gap at once share one allowance', () => {
  const world = opened('100000', 2);
  world.setMargin('p1', true, '0.02', 'A');
  world.trade('p0', 'q0', '30', '40000', 'A');
  world.trade('p1', 'q1', '30', '40000', 'A');
  world.price('36000', 'A');
  expect(profit(world, 2)).toBe('25000');
  expect(world.balance('insurance')).toBe('75000');
});

test.each([
  // 100,000 × 0.75, 0.75⁴ and 0.75⁸.
  [1, '75000', '25000'],
  [4, '31640.625', '68359.375'],
  [8, '10011.291505', '89988.708495'],
])('each of %d hours pays a quarter of the balance', (hours, left, won) => {
  const world = opened('100000', hours);
  for (let hour = 0; hour < hours; hour++) {
    attack(world, hour, 4000);
    world.wait(HOUR);
  }
  expect(world.balance('insurance')).toBe(left);
  expect(profit(world, hours)).toBe(won);
});

// Remaining risk: the deficit is charged by rank, whoever owns the other side.
test.each([
  ['0', '49440'],
  ['100000', '74440'],
])('with insurance of %s an honest holder with more leverage keeps %s', (insurance, hal) => {
  const world = new AttackWorld();
  world.deposit('insurance', insurance);
  world.fund({ p0: '24720', q0: '200000', hal: '24720', leo: '500000' });
  world.price('40000', 'A');
  world.trade('leo', 'hal', '30', '40000', 'A');
  world.trade('p0', 'q0', '30', '40000', 'A');
  world.price('36000', 'A');
  expect(dollars(coalition(world, ['p0', 'q0']).profit)).toBe('95280');
  // At the index without the charge: 144,720.
  expect([world.equity('hal'), world.equity('leo')]).toEqual([hal, '380000']);
});

test('at most two allowances are paid around the end of an hour', () => {
  const world = opened('100000', 3);
  world.wait(HOUR - 1000);
  attack(world, 0, 4000);
  world.wait(2000);
  attack(world, 1, 4000);
  attack(world, 2, 4000);
  expect(profit(world, 3)).toBe('43750');
});

test("deposits raise the hour's allowance by a quarter, and payments reduce it", () => {
  const world = opened('100000', 3);
  attack(world, 0, 4000);
  world.deposit('insurance', '40000');
  attack(world, 1, 4000);
  expect(profit(world, 3)).toBe('35000');
  attack(world, 2, 4000);
  expect(profit(world, 3)).toBe('35000');
  expect(world.balance('insurance')).toBe('105000');
});

test('fees earned in the hour do not raise its allowance', () => {
  const fees = { makerFee: '0.001', takerFee: '0.001' };
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'B', ...fees }]);
  world.deposit('insurance', '10000');
  world.fund({ p0: '24720', q0: '24720', ann: '100000', bob: '100000' });
  for (const symbol of ['A', 'B']) world.price('40000', symbol);
  world.trade('ann', 'bob', '50', '40000', 'B');
  world.trade('bob', 'ann', '50', '40000', 'B');
  // 4 × 2,000, of which insurance pays a fifth.
  expect(world.balance('insurance')).toBe('11600');
  world.trade('p0', 'q0', '30', '40000', 'A');
  world.price('36000', 'A');
  expect(dollars(coalition(world, ['p0', 'q0']).profit)).toBe('2500');
});

test('a market may limit its own share further', () => {
  const world = new AttackWorld([{ symbol: 'A', insuranceHourly: '0.1' }, { symbol: 'B' }]);
  world.deposit('insurance', '100000');
  world.fund({ p0: '24720', q0: '24720', p1: '24720', q1: '24720', dan: '50000' });
  for (const symbol of ['A', 'B']) world.price('40000', symbol);
  attack(world, 0, 4000);
  expect(profit(world, 1)).toBe('10000');
  attack(world, 1, 4000, 'B');
  expect(profit(world, 2)).toBe('25000');
});

test('insurance pays nothing in a market priced only by users', () => {
  const own = { symbol: 'A', markSource: 'mid', indexSource: 'mid', initialMark: '40000' };
  const world = new AttackWorld([own]);
  world.deposit('insurance', '100000');
  world.fund({ p0: '24720', q0: '24720', eve: '1000', ed: '1000' });
  world.trade('p0', 'q0', '30', '40000', 'A');
  world.quote('eve', 'ed', '0.0001', '36499.9', '36500.1', 'A');
  world.wait(1000);
  expect(world.markOf('A')).toBe(36_500);
  expect(world.positions('p0')).toEqual([]);
  expect(coalition(world, ['p0', 'q0', 'eve', 'ed']).profit).toBe(0n);
  expect(world.balance('insurance')).toBe('100000');
});
