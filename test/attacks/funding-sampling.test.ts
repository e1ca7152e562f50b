/**
 * Attack 8. Quotes 0.85 % above the index, live for 2 ms around every multiple of 5 s, set all 720
 * premium samples of the hour: the rate was 0.1 % and Lou, long 100 at 65,000, paid 6,500 to the
 * attacker's short.
 *
 * Now each sample is taken at a pseudorandom instant within its interval, keyed with the exchange's
 * secret seed. So quotes set samples in proportion to the time for which they can be hit.
 * With fewer than half of the samples the rate is 0.
 */
import { afterAll, expect, test } from 'vitest';
import { GENESIS, dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const HOUR = 3_600_000;
const ATTACKERS = ['sam', 'eve', 'ed'];

interface Plan {
  /** 1: quotes above the index, longs pay; −1: below. */
  readonly side?: 1 | -1;
  /** Start of the quotes within their period, and their lifetime, in ms. */
  readonly phaseMs: number;
  readonly lifeMs?: number;
  readonly periodMs?: number;
  readonly config?: Record<string, unknown>;
}

function play({ side = 1, phaseMs, lifeMs = 2, periodMs = 5000, config = {} }: Plan): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }], config);
  world.fund({ lou: '200000', sam: '200000', eve: '20000', ed: '20000' });
  world.price('65000', 'A');
  world.trade('lou', 'sam', side === 1 ? '100' : '-100', '65000', 'A');
  const until = (ms: number): void => world.wait(ms - (world.atUs - GENESIS) / 1000);
  const [bid, ask] = side === 1 ? ['65552.5', '65552.6'] : ['64447.4', '64447.5'];
  let spoken = 0;
  for (let at = phaseMs + (phaseMs < 0 ? periodMs : 0); at < HOUR; at += periodMs) {
    until(at);
    if (at - spoken >= 30_000) {
      world.price('65000', 'A');
      spoken = at;
    }
    world.quote('eve', 'ed', '0.6', bid, ask, 'A');
    until(at + lifeMs);
    world.cancelAll('eve');
    world.cancelAll('ed');
  }
  until(HOUR + 1000);
  return world;
}

/** An account's funding payments, in USD. */
function funded(world: AttackWorld, who: string): string {
  let sum = 0n;
  for (const event of world.events) {
    if (event.kind !== 'balanceChanged' || event.subaccount !== world.idOf(who)) continue;
    if (event.reason === 'funding') sum -= event.deltaQuanta;
  }
  return dollars(sum);
}

/** Samples of the hour that the quotes set. */
function samples(world: AttackWorld): number {
  return world.events.filter((event) => event.kind === 'fundingSampled' && event.premiumPpb !== 0)
    .length;
}

interface Row {
  readonly name: string;
  readonly plan: Plan;
  /** Lou's payment in the hour. */
  readonly before: string;
  readonly after: string;
}

const ROWS: readonly Row[] = [
  {
    name: 'around every multiple of 5 s',
    plan: { phaseMs: -1 },
    before: '6500',
    after: '0',
  },
  {
    name: 'below the index, Lou short',
    plan: { phaseMs: -1, side: -1 },
    before: '6500',
    after: '0',
  },
  { name: 'at 1.234 s', plan: { phaseMs: 1234 }, before: '0', after: '0' },
  { name: 'in the middle', plan: { phaseMs: 2500 }, before: '0', after: '0' },
  {
    name: 'around every multiple of 2.5 s',
    plan: { phaseMs: -1, periodMs: 2500 },
    before: '6500',
    after: '0',
  },
];

test.each(ROWS)('quotes of 2 ms $name: Lou paid $before, now $after', ({ plan, after }) => {
  const world = play(plan);
  expect(funded(world, 'lou')).toBe(after);
  // 720 samples, each set with probability 0.4 ‰, or 0.8 ‰ for two quotes in each.
  expect(samples(world)).toBeLessThanOrEqual(plan.periodMs === 2500 ? 5 : 4);
  expect(coalition(world, ATTACKERS).loot <= 0n).toBe(true);
});

test.each([
  ['0123456789abcdef', 0],
  ['ffffffffffffffff', 1250],
  ['5eed5eed5eed5eed', 3750],
])('seed %s: quotes of 25 ms at %i ms hit about one sample in 200', (samplingSeed, phaseMs) => {
  const world = play({ phaseMs, lifeMs: 25, config: { samplingSeed } });
  expect(samples(world)).toBeLessThanOrEqual(14);
  expect(funded(world, 'lou')).toBe('0');
});

test('quotes live for a fifth of the time set about a fifth of the samples, too few for a rate', () => {
  const world = play({ phaseMs: 500, lifeMs: 1000 });
  expect(samples(world)).toBeGreaterThan(90);
  expect(samples(world)).toBeLessThan(200);
  expect(funded(world, 'lou')).toBe('0');
});

test('quotes too thin for the impact notional of 500 / initial rate set none', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ lou: '200000', sam: '200000', eve: '20000', ed: '20000' });
  world.price('65000', 'A');
  world.trade('lou', 'sam', '100', '65000', 'A');
  world.quote('eve', 'ed', '0.37', '65552.5', '65552.6', 'A');
  world.run(HOUR, { A: '65000' });
  expect(samples(world)).toBe(0);
  expect(world.equity('lou')).toBe('200000');
});

test('at most 256 levels are walked: a ladder of tiny orders is too thin', () => {
  const world = new AttackWorld([{ symbol: 'A', maxOpenOrders: 1000 }]);
  world.fund({ lou: '200000', sam: '200000', eve: '200000', ed: '200000' });
  world.price('65000', 'A');
  world.trade('lou', 'sam', '100', '65000', 'A');
  // 300 bids of 0.0014: 256 of them are below 25,000 of notional, all 300 above.
  for (let i = 0; i < 300; i++) {
    world.order('eve', '0.0014', String(65_500 - i), { symbol: 'A' });
  }
  world.order('ed', '-0.6', '65552.6', { symbol: 'A' });
  world.run(60_000, { A: '65000' });
  expect(samples(world)).toBe(0);
});
