/**
 * Attack 4. Vault and book are empty. Two quotes of one lot keep the mark 1 % above a constant
 * index. Vic, 50x short with 6,050 of equity at the index, was liquidated at that mark and ended at
 * 0; the counterparty Xan had 12,100.
 *
 * Now the third leg and the average need impact prices of 500 / initial rate of notional on both
 * sides, sampled at secret instants. The deviation is at most half the maintenance rate.
 * Auto-deleveraging settles at the index and leaves the owner's equity there.
 */
import { afterAll, expect, test } from 'vitest';
import { GENESIS, dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const ATTACKERS = ['xan', 'eve', 'ed'];
const MINUTES = 20;

interface Plan {
  readonly side?: 1 | -1;
  readonly isolated?: boolean;
  /** Lots of each of the two quotes; 25,000 of notional are 0.625. */
  readonly size?: string;
  /** The index after the opening. */
  readonly index?: number;
}

/** Vic is short (−1) or long 7.55 at 40,000; quotes stand 1 % against that for 20 minutes. */
function play({ side = -1, isolated, size = '0.0001', index = 40_000 }: Plan): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ vic: '6050', xan: '6050', eve: '10000', ed: '10000', dan: '50000' });
  world.price('40000', 'A');
  if (isolated === true) world.setMargin('vic', true, '0.02', 'A');
  world.trade('vic', 'xan', side === -1 ? '-7.55' : '7.55', '40000', 'A');
  world.price(String(index), 'A');
  const centre = index - side * 400;
  world.quote('eve', 'ed', size, `${String(centre - 1)}.9`, `${String(centre)}.1`, 'A');
  world.run(MINUTES * 60_000, { A: String(index) });
  return world;
}

interface Row {
  readonly name: string;
  readonly plan: Plan;
  /** Mark, Vic's and Xan's value at the index. */
  readonly before: readonly [number, string, string];
  readonly after: readonly [number, string, string];
}

const ROWS: readonly Row[] = [
  {
    name: 'as reported: two quotes of one lot above',
    plan: {},
    before: [40397.6, '0', '12099.939789'],
    after: [40_000, '6050', '6050'],
  },
  {
    name: 'a long, quotes below',
    plan: { side: 1, index: 39_950 },
    before: [39593.4, '0', '12099.940215'],
    after: [39_950, '5672.5', '6427.5'],
  },
  {
    name: 'an isolated short',
    plan: { isolated: true },
    before: [40396.3, '10.019789', '12089.92'],
    after: [40_000, '6050', '6050'],
  },
  {
    name: 'quotes just short of the impact notional',
    plan: { size: '0.61' },
    before: [40397.6, '5682.718695', '6050'],
    after: [40_000, '6050', '6050'],
  },
];

test.each(ROWS)('$name: was $before, now $after', ({ plan, after }) => {
  const world = play(plan);
  const ids = ['vic', 'xan'].map((name) => world.idOf(name));
  const index = (plan.index ?? 40_000) * 10;
  const worth = ids.map((id) => dollars(world.worthAt(id, () => index)));
  expect([world.markOf('A'), ...worth]).toEqual(after);
  expect(world.stepsOf('vic')).toEqual([]);
});

test.each([
  ['a short', { size: '0.65' }],
  ['a long', { size: '0.65', side: 1 }],
  ['an isolated short', { size: '0.65', isolated: true }],
] as const)('deep quotes move the mark by at most half the maintenance rate: %s', (_, plan) => {
  const world = play(plan);
  const distance = Math.abs(world.markOf('A') - 40_000);
  expect(distance).toBeGreaterThan(100);
  expect(distance).toBeLessThanOrEqual(200);
  // 6,050 less at most 7.55 × 200: that cannot liquidate an account with its full initial
  // requirement.
  expect(Number(world.equity('vic'))).toBeGreaterThanOrEqual(4540);
  expect(world.stepsOf('vic')).toEqual([]);
  expect(world.position('vic', 'A')).toBeDefined();
});

test.each([0, 250, 500, 999])(
  'deep quotes live for 2 ms of every second, around %i ms, do not move the mark',
  (phaseMs) => {
    const world = new AttackWorld([{ symbol: 'A' }]);
    world.fund({ vic: '6050', xan: '6050', eve: '20000', ed: '20000' });
    world.price('40000', 'A');
    world.trade('vic', 'xan', '-7.55', '40000', 'A');
    const until = (ms: number): void => world.wait(ms - (world.atUs - GENESIS) / 1000);
    let pushed = 0;
    for (let second = 1; second <= 300; second++) {
      until(second * 1000 + phaseMs - 1);
      if (second % 30 === 0) world.price('40000', 'A');
      world.quote('eve', 'ed', '0.65', '40399.9', '40400.1', 'A');
      until(second * 1000 + phaseMs + 1);
      world.cancelAll('eve');
      world.cancelAll('ed');
      pushed = Math.max(pushed, Math.abs(world.markOf('A') - 40_000));
    }
    // A sample during the quotes moves the average by 200 / 150. Of 300 samples at 2 ‰ at most five
    // do.
    expect(pushed).toBeLessThanOrEqual(7);
    expect(world.stepsOf('vic')).toEqual([]);
  },
);

test('a short close to maintenance keeps its equity at the index less the liquidation fee', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ vic: '6000', xan: '6000', eve: '20000', ed: '20000', dan: '50000' });
  world.price('40000', 'A');
  world.trade('vic', 'xan', '-7.5', '40000', 'A');
  world.run(1000, { A: '40340' });
  // 3,450 against 3,025.5 of maintenance at the index.
  expect(world.equity('vic')).toBe('3450');
  world.quote('eve', 'ed', '0.65', '40799.9', '40800.1', 'A');
  world.run(MINUTES * 60_000, { A: '40340' });
  expect(world.stepsOf('vic')).toContain('adl');
  // 7.5 × 40,340 × 0.5 % to insurance; under the old rules Xan got all of it.
  expect(world.equity('vic')).toBe('1937.25');
  expect(world.balance('insurance')).toBe('1512.75');
  expect(world.equity('xan')).toBe('8550');
  expect(coalition(world, ATTACKERS).loot).toBe(2_550_000_000n);
});
