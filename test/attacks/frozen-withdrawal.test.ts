/**
 * Attack 5. Pat (60,000) is long 7.5 S at 40,000 against the honest Hal; initial rate 10 %. The
 * oracle of S stops while its real price falls by 20 %. Pat withdrew 30,000 at the frozen mark, and
 * at the thaw Hal, who had won 60,000, got only 30,000 of it.
 *
 * Now the withdrawable amount excludes half of the notional in frozen markets and all
 * frozen gains. The same holds for opening positions elsewhere (R-5.3b), so money cannot leave
 * through a deliberate loss.
 */
import { afterAll, expect, test } from 'vitest';
import { dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

interface Plan {
  readonly side?: 1 | -1;
  readonly isolated?: boolean;
  /** S moves in Pat's favour by this much before it goes stale. */
  readonly gain?: number;
  /** Pat's way of moving money out while S is stale. */
  readonly out: (world: AttackWorld) => unknown;
}

const PLAIN = (world: AttackWorld): unknown => world.withdraw('pat');
const ALL = ['pat', 'quinn'];

function play({ side = 1, isolated, gain = 0, out }: Plan): AttackWorld {
  const rates = { initialMargin: '0.1', maintenanceMargin: '0.05' };
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'S', ...rates, priceBand: '1' }]);
  world.fund({ pat: '60000', quinn: '60000', hal: '60000', dan: '100000' });
  for (const symbol of ['A', 'S']) world.price('40000', symbol);
  if (isolated === true) world.setMargin('pat', true, '0.1', 'S');
  world.trade('pat', 'hal', side === 1 ? '7.5' : '-7.5', '40000', 'S');
  world.price(String(40_000 + side * gain), 'S');
  world.run(61_000, { A: '40000' });
  out(world);
  world.run(1000, { A: '40000' });
  world.price(String(40_000 - side * 8000), 'S');
  world.run(1000, { A: '40000' });
  return world;
}

/** Pat buys A from Quinn 2 % above the market, then both close at the index. */
function loseOnPurpose(world: AttackWorld): void {
  const flags = { ioc: true, postOnly: false, reduceOnly: true };
  world.order('quinn', '-18', '40800', { symbol: 'A' });
  world.order('pat', '18', '40800', { symbol: 'A' });
  world.cancelAll('quinn');
  world.cancelAll('pat');
  world.order('quinn', '18', '40000', { symbol: 'A' });
  world.order('pat', '-18', '40000', { symbol: 'A', flags });
  world.cancelAll('quinn');
  world.withdraw('quinn');
}

function bySubaccount(world: AttackWorld): void {
  world.transfer('pat', 'pat', '29999', { subaccountIndexTo: 1 });
  if (world.engine.subaccountIdOf(world.addressOf('pat'), 1) !== undefined) {
    world.withdraw('pat', 'all', 1);
  }
}

function byExcess(world: AttackWorld): void {
  const { feedId } = world.engine.market(world.marketOf('S')).spec;
  world.transfer('pat', 'pat', '26000', { feedId, subaccountIndexTo: 1 });
  if (world.engine.subaccountIdOf(world.addressOf('pat'), 1) !== undefined) {
    world.withdraw('pat', 'all', 1);
  }
}

interface Row {
  readonly name: string;
  readonly plan: Plan;
  /** The coalition's withdrawals, and Hal's final equity: 120,000 includes the whole gain. */
  readonly before: readonly [string, string];
  readonly after: readonly [string, string];
}

const ROWS: readonly Row[] = [
  {
    name: 'as reported',
    plan: { out: PLAIN },
    before: ['30000', '90000'],
    after: ['0', '120000'],
  },
  {
    name: 'a short, and the price rises',
    plan: { side: -1, out: PLAIN },
    before: ['30000', '90000'],
    after: ['0', '120000'],
  },
  {
    name: 'through another subaccount of the owner',
    plan: { out: bySubaccount },
    before: ['29999', '90001'],
    after: ['0', '120000'],
  },
  {
    name: 'after a frozen gain of 30,000',
    plan: { gain: 4000, out: PLAIN },
    before: ['57000', '63000'],
    after: ['0', '120000'],
  },
  {
    name: 'the excess of an isolated position after a gain',
    plan: { gain: 4000, isolated: true, out: byExcess },
    before: ['26000', '64000'],
    // The isolated margin of 30,000 bears half of the loss of 60,000; Pat's cash is not liable.
    after: ['0', '90000'],
  },
  {
    name: 'a deliberate loss in another market',
    plan: { out: loseOnPurpose },
    before: ['74400', '105600'],
    // Quinn withdraws the deposit of 60,000.
    after: ['60000', '120000'],
  },
];

test.each(ROWS)('$name: withdrew and left Hal $before, now $after', ({ plan, after }) => {
  const world = play(plan);
  const { withdrawn } = coalition(world, ALL);
  expect([dollars(withdrawn), world.equity('hal')]).toEqual(after);
  expect([world.equity('dan'), world.shortfall()]).toEqual(['100000', '0']);
});

test('withdrawable is cash less initial requirement less half of the frozen notional', () => {
  const world = new AttackWorld([{ symbol: 'S', initialMargin: '0.1', maintenanceMargin: '0.05' }]);
  world.fund({ pat: '60000', hal: '60000' });
  world.price('40000', 'S');
  world.trade('pat', 'hal', '1', '40000', 'S');
  // Fresh: 60,000 − 4,000.
  expect(world.withdraw('pat', '56000.000001')).not.toBe('ok');
  world.wait(60_001);
  expect(world.margin('pat').withdrawableQuanta).toBe(36_000_000_000n);
  expect(world.withdraw('pat')).toBe('ok');
  expect(world.withdraw('pat', '0.000001')).toBe('amount_exceeds_available');
  // The oracle's next price ends the haircut.
  world.price('40000', 'S');
  expect(world.margin('pat').withdrawableQuanta).toBe(20_000_000_000n);
});

test.each([
  // 60,000 − 4,400 − 22,000.
  ['rises', '44000', '33600'],
  // 56,000 − 3,600 − 18,000.
  ['falls', '36000', '34400'],
])('before S goes stale it %s: gains do not count, losses do', (_, price, free) => {
  const world = new AttackWorld([{ symbol: 'S', initialMargin: '0.1', maintenanceMargin: '0.05' }]);
  world.fund({ pat: '60000', hal: '60000' });
  world.price('40000', 'S');
  world.trade('pat', 'hal', '1', '40000', 'S');
  world.price(price, 'S');
  world.wait(60_001);
  expect(dollars(world.margin('pat').withdrawableQuanta)).toBe(free);
});
