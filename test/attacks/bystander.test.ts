/**
 * Attack 3. Quinn has an isolated position with 500 of margin in A, which did not move, and 9,500
 * of free cash. Pat's deficit of 8,390 in C was allocated to A by maintenance: 3,227 against a
 * margin of 500. The missing 2,727 came from Quinn's cash.
 *
 * Now A bears nothing, because Pat lost nothing there, and no charge exceeds an isolated
 * position's own equity.
 */
import { afterAll, expect, test } from 'vitest';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

interface Plan {
  readonly insurance?: string;
  readonly side?: 1 | -1;
  /** Quinn's second isolated position, in B. */
  readonly second?: boolean;
  /** Quinn is isolated in C, too, and is Pat's counterparty there instead of Yan. */
  readonly inC?: boolean;
}

function play({ insurance, side = 1, second, inC }: Plan): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'B' }, { symbol: 'C' }]);
  world.fund({ pat: second === true ? '2110' : '1610', quinn: '10000', yan: '2000', dan: '50000' });
  if (insurance !== undefined) world.deposit('insurance', insurance);
  for (const symbol of ['A', 'B', 'C']) {
    world.price('40000', symbol);
    world.setMargin('quinn', true, '0.02', symbol);
  }
  const sign = side === 1 ? '' : '-';
  world.trade('pat', 'quinn', `${sign}0.625`, '40000', 'A');
  if (second === true) world.trade('pat', 'quinn', `${sign}0.625`, '40000', 'B');
  world.trade('pat', inC === true ? 'quinn' : 'yan', `${sign}1.25`, '40000', 'C');
  world.price(String(40_000 - side * 8000), 'C');
  return world;
}

interface Row {
  readonly name: string;
  readonly plan: Plan;
  /** Quinn's and Yan's equity, and insurance. */
  readonly before: readonly [string, string, string];
  readonly after: readonly [string, string, string];
}

const ROWS: readonly Row[] = [
  {
    name: 'as reported',
    plan: {},
    before: ['6773.076923', '6836.923077', '0'],
    // Yan: 2,000 + 10,000 − 8,390.
    after: ['10000', '3610', '0'],
  },
  {
    name: 'short, and C rises',
    plan: { side: -1 },
    before: ['7532.352941', '6077.647059', '0'],
    after: ['10000', '3610', '0'],
  },
  {
    name: 'insurance holds 10,000',
    plan: { insurance: '10000' },
    before: ['10000', '12000', '1610'],
    // A quarter of insurance pays first, Yan pays the other 5,890.
    after: ['10000', '6110', '7500'],
  },
  {
    name: 'insurance holds 1,000',
    plan: { insurance: '1000' },
    before: ['6773.076923', '6836.923077', '1000'],
    after: ['10000', '3860', '750'],
  },
  {
    name: 'two isolated positions',
    plan: { second: true },
    before: ['5616.666666', '8493.333334', '0'],
    after: ['10000', '4110', '0'],
  },
  {
    name: 'isolated in the market that gapped: only the gain pays',
    plan: { inC: true },
    before: ['11610', '2000', '0'],
    after: ['11610', '2000', '0'],
  },
];

test.each(ROWS)('$name: was $before, now $after', ({ plan, after }) => {
  const world = play(plan);
  expect([world.equity('quinn'), world.equity('yan'), world.balance('insurance')]).toEqual(after);
  // Everything is closed, so equity is cash.
  expect(world.balance('quinn')).toBe(after[0]);
  expect([world.equity('pat'), world.equity('dan'), world.shortfall()]).toEqual([
    '0',
    '50000',
    '0',
  ]);
});
