/**
 * Attack 2. Pat is long A against Quinn and long C against Yan. C gaps by 20 %, A does not move.
 * Pat's deficit of 15,970 was allocated to both markets by maintenance. Quinn, who had gained
 * nothing, paid 8,872 of it and ended at −6,822 without a position. Yan kept that much more and
 * withdrew it: deposits 8,260, withdrawals 14,992.
 *
 * Now a deficit is allocated to positions by their losses since the previous mark. A party
 * is charged at most the mark's move in its favour and at most its equity.
 */
import { afterAll, expect, test } from 'vitest';
import { coalition, takeOut } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const MEMBERS = ['pat', 'quinn', 'yan'];
const FEES = { makerFee: '0.0001', takerFee: '0.00035' };

interface Plan {
  readonly side?: 1 | -1;
  /** Margin mode of the opposite side of A. */
  readonly isolated?: boolean;
  /** Markets beside C that do not move; Quinn has the other side of each. */
  readonly still?: readonly string[];
  /** A moves by 0.5 % in Quinn's favour some time before C gaps. */
  readonly warmUp?: boolean;
}

function play({ side = 1, isolated, still = ['A'], warmUp }: Plan): AttackWorld {
  const world = new AttackWorld([...still, 'C'].map((symbol) => ({ symbol, ...FEES })));
  world.fund({ pat: String(2050 + 2050 * still.length), yan: '2100', dan: '100000' });
  world.fund({ quinn: String(2060 * still.length) });
  for (const symbol of [...still, 'C']) world.price('40000', symbol);
  const size = side === 1 ? '2.5' : '-2.5';
  for (const symbol of still) {
    if (isolated === true) world.setMargin('quinn', true, '0.02', symbol);
    world.trade('pat', 'quinn', size, '40000', symbol);
  }
  world.trade('pat', 'yan', size, '40000', 'C');
  if (warmUp === true) {
    world.deposit('pat', '500');
    world.price(String(40_000 - side * 200), 'A');
    world.wait(10_000);
  }
  world.price(String(40_000 - side * 8000), 'C');
  return world;
}

interface Row {
  readonly name: string;
  readonly plan: Plan;
  /** Equity of Pat, Quinn and Yan, and the withdrawals of all three. */
  readonly before: readonly [string, string, string, string];
  readonly after: readonly [string, string, string, string];
}

const ROWS: readonly Row[] = [
  {
    name: 'as reported: 8,260 paid in',
    plan: {},
    before: ['0', '-6822.222223', '14992.222223', '14992.222223'],
    // Yan: 2,090 + 20,000 − 15,970. Fees were 90.
    after: ['0', '2050', '6120', '8170'],
  },
  {
    name: 'short, and C rises',
    plan: { side: -1 },
    before: ['0', '-5209.09091', '13379.09091', '13379.09091'],
    after: ['0', '2050', '6120', '8170'],
  },
  {
    name: 'Quinn is isolated in A',
    plan: { isolated: true },
    before: ['0', '-6822.222223', '14992.222223', '14992.222223'],
    after: ['0', '2050', '6120', '8170'],
  },
  {
    name: 'three markets that do not move',
    plan: { still: ['A', 'B', 'D'] },
    before: ['0', '-3276.315792', '19576.315792', '19576.315792'],
    // Pat: 8,200 − 140 of fees − 20,000 = −11,940.
    after: ['0', '6150', '10150', '16300'],
  },
  {
    name: 'A moved in an earlier step: that gain is not charged',
    plan: { warmUp: true },
    before: ['0', '-6302.451254', '14972.451254', '14972.451254'],
    after: ['0', '2550', '6120', '8670'],
  },
];

test.each(ROWS)('$name: ended $before, now $after', ({ plan, after }) => {
  const world = play(plan);
  const equities = MEMBERS.map((name) => world.equity(name));
  expect([...equities, takeOut(world, MEMBERS)]).toEqual(after);
  expect(coalition(world, MEMBERS).loot < 0n).toBe(true);
  expect([world.equity('dan'), world.shortfall()]).toEqual(['100000', '0']);
});

test('a winner that withdrew before the gap is not charged; accounts that gained in it are', () => {
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'C' }]);
  world.fund({ pat: '10000', yan: '10000', mia: '1000000', dan: '1000000' });
  for (const symbol of ['A', 'C']) world.price('40000', symbol);
  world.trade('pat', 'yan', '10', '40000', 'C');
  world.price('39500', 'C');
  // Pat has 5,000 against 3,950 of maintenance; Yan closes with a gain of 5,000, Mia is short from 39,500.
  world.trade('yan', 'mia', '10', '39500', 'C');
  world.transfer('yan', 'yan', '15000', { subaccountIndexTo: 1 });
  expect(world.withdraw('yan', 'all', 1)).toBe('ok');
  world.price('38000', 'C');
  // Pat's deficit is 10,000; Mia gained 15,000 in this step and pays it, so there is no shortfall.
  expect([world.equity('pat'), world.equity('mia'), world.shortfall()]).toEqual([
    '0',
    '1005000',
    '0',
  ]);
  const { profit } = coalition(world, ['pat', 'yan']);
  expect(profit).toBe(-5_000_000_000n);
});
