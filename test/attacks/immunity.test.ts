/**
 * Attack 1. One lot in a market with a stale oracle made a cross account immune to liquidation
 * everywhere: the ladder skipped a unit with any frozen position. The loser's equity fell below
 * zero while the winner, its accomplice, closed against honest quotes and withdrew.
 *
 * Pat (20,100) is 50x long 25 A against Quinn (40,000), and has one lot of S, which goes stale.
 * Figures under the old rules are in the rows' `before`. Now frozen positions wait and fresh ones
 * are liquidated at once (R-6.1), so Quinn pays the deficit out of the gain since the previous mark
 * (R-6.4).
 */
import { afterAll, expect, test } from 'vitest';
import { dollars } from '../engine/risk-world.ts';
import { coalition, takeOut } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const MEMBERS = ['pat', 'quinn'];

interface Plan {
  /** 1: Pat is long A and it falls; −1: Pat is short and it rises. */
  readonly side?: 1 | -1;
  /** A moves by this once, or in steps of 1 % of 40,000. */
  readonly gap?: number;
  readonly steps?: number;
  /** The position in A is opened after S went stale. */
  readonly late?: boolean;
  /** Stale markets; Pat holds one lot of each. */
  readonly silent?: number;
  /** The position in A is isolated, or the lots in the stale markets are. */
  readonly isolated?: 'A' | 'S';
  /** The operator halts the small markets; their oracles continue. */
  readonly halted?: boolean;
}

function play({ side = 1, gap, steps = 1, late, silent = 1, isolated, halted }: Plan): AttackWorld {
  const silents = Array.from({ length: silent }, (_, i) => `S${String(i)}`);
  const world = new AttackWorld([
    { symbol: 'A' },
    ...silents.map((symbol) => ({ symbol, priceBand: '1' })),
  ]);
  world.fund({ pat: '20100', quinn: '40000', mia: '2000000', dan: '100000' });
  for (const symbol of ['A', ...silents]) world.price('40000', symbol);
  if (isolated === 'A') world.setMargin('pat', true, '0.02', 'A');
  if (isolated === 'S') for (const symbol of silents) world.setMargin('pat', true, '0.5', symbol);
  const big = (): void => world.trade('pat', 'quinn', side === 1 ? '25' : '-25', '40000', 'A');
  if (late !== true) big();
  for (const symbol of silents) world.trade('pat', 'quinn', '0.0001', '40000', symbol);
  if (halted === true) {
    for (const symbol of silents) world.status(symbol, 'halted');
    world.run(10_000, { A: '40000', S0: '40000' });
  } else world.run(61_000, { A: '40000' });
  if (late === true) big();
  const step = gap ?? 400;
  for (let i = 1; i <= steps; i++) {
    world.run(1000, { A: String(40_000 - side * step * i) });
  }
  return world;
}

/** Quinn closes against an honest quote at the index, and the whole coalition withdraws. */
function cashIn(world: AttackWorld, side: 1 | -1, price: string): string {
  const quoted = world.order('mia', side === 1 ? '-25' : '25', price, { symbol: 'A' });
  expect(quoted).toMatchObject({ status: 'new' });
  const flags = { ioc: true, postOnly: false, reduceOnly: true };
  world.order('quinn', side === 1 ? '25' : '-25', price, { symbol: 'A', flags });
  world.cancelAll('mia');
  return takeOut(world, MEMBERS);
}

interface Row {
  readonly name: string;
  readonly plan: Plan;
  readonly price: string;
  /** Pat's equity after the move, Quinn's, and both withdrawals out of deposits of 60,100. */
  readonly before: readonly [string, string, string];
  readonly after: readonly [string, string, string];
}

const ROWS: readonly Row[] = [
  {
    name: 'a gap of 5 % after S went stale',
    plan: { gap: 2000 },
    price: '38000',
    before: ['-29900', '90000', '89999.6'],
    after: ['0', '60100', '60097.6'],
  },
  {
    name: 'a fall of 50 % in steps of 1 %',
    plan: { steps: 50 },
    price: '20000',
    before: ['-479900', '540000', '539999.6'],
    // Closed at 39,200 with 100 left, which is the liquidation fee.
    after: ['0', '60000', '59997.6'],
  },
  {
    name: 'the large position is opened while S is already stale',
    plan: { gap: 2000, late: true },
    price: '38000',
    before: ['-29900', '90000', '89999.6'],
    after: ['0', '60100', '60097.6'],
  },
  {
    name: 'short A, which rises by 5 %',
    plan: { gap: 2000, side: -1 },
    price: '42000',
    before: ['-29900', '90000', '89999.6'],
    after: ['0', '60100', '60097.6'],
  },
  {
    name: 'three stale markets',
    plan: { gap: 2000, silent: 3 },
    price: '38000',
    before: ['-29900', '90000', '89998.8'],
    after: ['0', '60100', '60092.8'],
  },
  {
    name: 'S is halted by the operator while its oracle is live',
    plan: { gap: 2000, halted: true },
    price: '38000',
    // Halting did not exist; these are the figures with a stale oracle.
    before: ['-29900', '90000', '89999.6'],
    after: ['0', '60100', '60097.6'],
  },
  {
    name: 'the stale lot is isolated',
    plan: { gap: 2000, isolated: 'S' },
    price: '38000',
    before: ['2', '60098', '60097.6'],
    // The isolated margin of 2 is a unit of its own.
    after: ['2', '60098', '60095.6'],
  },
  {
    name: 'the position in A is isolated: Quinn pays, the cash of 100 stays',
    plan: { gap: 2000, isolated: 'A' },
    price: '38000',
    before: ['100', '60000', '60099.2'],
    after: ['100', '60000', '60095.2'],
  },
];

test.each(ROWS)('$name: took out $before, now $after', ({ plan, price, after }) => {
  const world = play(plan);
  const left = [world.equity('pat'), world.equity('quinn')];
  const open = world.position('pat', 'A');
  const taken = cashIn(world, plan.side ?? 1, price);
  expect([...left, taken]).toEqual(after);
  expect(open).toBeUndefined();
  expect(world.stepsOf('pat')).toContain('adl');
  const { loot } = coalition(world, MEMBERS);
  expect(loot <= 0n, dollars(loot)).toBe(true);
  // The rest of the loss after Quinn's payment is not charged to honest accounts.
  expect([world.equity('mia'), world.equity('dan'), world.shortfall()]).toEqual([
    '2000000',
    '100000',
    '0',
  ]);
});

test('a frozen loss counts fully and liquidates the fresh position', () => {
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'S' }]);
  world.fund({ pat: '31000', quinn: '60000', dan: '100000' });
  for (const symbol of ['A', 'S']) world.price('40000', symbol);
  world.trade('pat', 'quinn', '2.5', '40000', 'S');
  world.trade('pat', 'quinn', '25', '40000', 'A');
  world.price('36400', 'S');
  // Equity 22,000 against 10,910 of maintenance.
  world.run(61_000, { A: '40000' });
  world.run(1000, { A: '39400' });
  // Equity 7,000 against 10,760: A is closed, S waits. Two thirds of maintenance are 7,173.
  expect(world.stepsOf('pat')).toContain('adl');
  // 31,000 − 15,000 less the fee of 0.5 % of 985,000, at most the settlement equity of 7,000.
  expect(world.balance('pat')).toBe('11075');
  expect(world.equity('quinn')).toBe('84000');
  expect(world.positions('pat').map(({ symbol }) => symbol)).toEqual(['S']);
});
