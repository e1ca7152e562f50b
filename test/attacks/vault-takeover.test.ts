/**
 * Attack 6. The vault took positions over at a mark that quotes of one lot had pushed, so its
 * shareholders paid the distance to the index. One lot in a stale market closed the vault to
 * deposits and withdrawals. The vault never closed its positions.
 *
 * Now it pays the worse of mark and index for the owner and receives up to half of the maintenance
 * requirement. It values frozen positions at a haircut and offers a twentieth of
 * each position per minute.
 */
import { afterAll, expect, test } from 'vitest';
import { dollars, usd } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const DAY = 86_400_000;
const ATTACKERS = ['pat', 'xan', 'eve', 'ed'];

interface Plan {
  readonly side?: 1 | -1;
  readonly size?: string;
  /** Index after the push, in Pat's disfavour. */
  readonly move: number;
  readonly isolated?: boolean;
}

/** Vault of 100,000; Pat holds 15 A at 40,000 with 12,000; quotes push the mark 1 % in Pat's favour. */
function pushed({ side = 1, size = '0.0001', move, isolated }: Plan): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ vera: '100000', pat: '12000', xan: '30000', eve: '20000', ed: '20000' });
  world.price('40000', 'A');
  world.transfer('vera', 'vault', '100000');
  if (isolated === true) world.setMargin('pat', true, '0.02', 'A');
  world.trade('pat', 'xan', side === 1 ? '15' : '-15', '40000', 'A');
  const centre = 40_000 + side * 400;
  world.quote('eve', 'ed', size, `${String(centre - 1)}.9`, `${String(centre)}.1`, 'A');
  world.run(20 * 60_000, { A: '40000' });
  world.price(String(40_000 - side * move), 'A');
  return world;
}

/** The vault's value at redemption prices. */
function vaultWorth(world: AttackWorld): bigint {
  const id = world.idOf('vault');
  return world.worthAt(id, (market) => {
    const { indexTicks, markTicks } = world.engine.market(market);
    const long = world.engine.positions(id).some((p) => p.market === market && p.lots > 0);
    const prices = [Number(indexTicks), Number(markTicks)];
    return long ? Math.min(...prices) : Math.max(...prices);
  });
}

interface Row {
  readonly name: string;
  readonly plan: Plan;
  /** The vault's value, after deposits of 100,000. */
  readonly before: readonly [string];
  readonly after: readonly [string];
}

const ROWS: readonly Row[] = [
  {
    name: 'a gap of 2.9 % that is above maintenance only at the pushed mark',
    plan: { move: 1160 },
    before: ['94600'],
    // Pat's deficit is 5,400 at the index: Xan pays, the vault takes nothing.
    after: ['100000'],
  },
  {
    name: 'a short, and the price rises',
    plan: { side: -1, move: 1160 },
    before: ['94600'],
    after: ['100000'],
  },
  {
    name: 'an isolated long',
    plan: { move: 1160, isolated: true },
    before: ['94600'],
    after: ['100000'],
  },
  {
    name: 'a fall that leaves Pat 3,000 at the index',
    plan: { move: 600 },
    before: ['100000'],
    // Half of the maintenance requirement of 5,910 goes to the vault, the rest of the 3,000 stays
    // with Pat.
    after: ['102955'],
  },
];

test.each(ROWS)('$name: the vault had $before, now $after', ({ plan, after }) => {
  const world = pushed(plan);
  expect([dollars(vaultWorth(world))]).toEqual(after);
  expect(coalition(world, ATTACKERS).loot <= 0n).toBe(true);
});

test.each([600, 650, 700, 750, 800, 900, 1000])(
  "deep quotes and a move of %i: a take-over never lowers the vault's value",
  (move) => {
    for (const side of [1, -1] as const) {
      const world = pushed({ side, move, size: '0.65' });
      expect(vaultWorth(world)).toBeGreaterThanOrEqual(usd('100000'));
    }
  },
);

/**
 * The vault has 0.1 S, taken over at 39,400 from Pat, whose equity was 20; it received 19.7 for it.
 */
function holding(): AttackWorld {
  const world = new AttackWorld([{ symbol: 'S' }]);
  world.fund({ vera: '100000', pat: '80', xan: '10000', dora: '10000', hon: '10000' });
  world.price('40000', 'S');
  world.transfer('vera', 'vault', '100000');
  world.trade('pat', 'xan', '0.1', '40000', 'S');
  world.wait(500);
  world.price('39400', 'S');
  return world;
}

test('the vault receives half of the maintenance requirement and the owner keeps the rest', () => {
  const world = holding();
  expect(world.equity('vault')).toBe('100019.7');
  expect(world.equity('pat')).toBe('0.3');
  const [position] = world.engine.positions(world.idOf('vault'));
  expect(position).toMatchObject({ lots: 1000, costQuanta: usd('3940') });
});

test('one stale lot does not close the vault: shares are minted and burned at a haircut', () => {
  const world = holding();
  world.wait(61_000);
  expect(world.transfer('dora', 'vault', '1000')).toBe('ok');
  // Minting values the long at 1.5 × 3,940: NAV 101,989.7, plus one virtual dollar and share.
  const minted = (usd('1000') * (usd('100000') + 1_000_000n)) / (usd('101989.7') + 1_000_000n);
  const shares = world.events.flatMap((event) =>
    event.kind === 'vaultSharesChanged' ? [event.change] : [],
  );
  expect(shares.at(-1)).toBe(minted);
  world.wait(4 * DAY);
  expect(world.transfer('vault', 'vera', '50000')).toBe('ok');
  // Burning values it at half: 101,019.7 − 1,970.
  const total = usd('100000') + minted + 1_000_000n;
  const value = usd('99049.7') + 1_000_000n;
  const burned = (usd('50000') * total + value - 1n) / value;
  const last = world.events.findLast((event) => event.kind === 'vaultSharesChanged');
  expect(last).toMatchObject({ change: -burned });
});

test('neither a deposit nor a withdrawal at a stale mark profits from other holders', () => {
  for (const thaw of ['30000', '39400', '50000']) {
    const world = holding();
    world.wait(61_000);
    world.transfer('dora', 'vault', '10000');
    world.wait(4 * DAY);
    world.price(thaw, 'S');
    const id = world.idOf('dora');
    // Burns shares of exactly this value, to the cent.
    let paid = 0n;
    for (const amount of ['9000', '900', '90', '9', '1', '0.1', '0.01']) {
      while (world.transfer('vault', 'dora', amount) === 'ok') paid += usd(amount);
    }
    expect(paid).toBeGreaterThan(usd('9500'));
    expect(world.engine.subaccount(id).balanceQuanta).toBe(paid);
    expect(paid).toBeLessThanOrEqual(usd('10000'));
  }
});

test('closes a twentieth per minute, above the worse of mark and index, while the market is fresh', () => {
  const world = holding();
  world.run(60_000, { S: '39400' });
  const orders = world.engine.openOrders(world.idOf('vault'));
  // 39,400 × 1.0005 = 39,419.7, and 5 % of 1,000 lots.
  expect(orders).toMatchObject([
    { lots: -50, priceTicks: 394_197, reduceOnly: true, postOnly: true },
  ]);
  const flags = { ioc: true, postOnly: false, reduceOnly: false };
  for (let minute = 0; minute < 110; minute++) {
    world.order('hon', '0.1', '39420', { symbol: 'S', flags });
    world.run(60_000, { S: '39400' });
  }
  expect(world.engine.positions(world.idOf('vault'))).toEqual([]);
  // 100,019.7 and 19.7 more on each of 0.1.
  expect(world.equity('vault')).toBe('100021.67');
});

test('the vault sells to bids above its quote, and quotes nothing in a stale market', () => {
  const world = holding();
  world.order('hon', '0.1', '39500', { symbol: 'S' });
  world.run(90_000, { S: '39400' });
  expect(world.engine.openOrders(world.idOf('vault'))).toEqual([]);
  expect(world.engine.positions(world.idOf('vault'))).toMatchObject([{ lots: 950 }]);
  world.wait(61_000);
  world.cancelAll('hon');
  world.wait(180_000);
  expect(world.engine.openOrders(world.idOf('vault'))).toEqual([]);
});

// Before, the vault's order was omitted while it would cross: it kept the position for ever and
// paid 0.5 % of it an hour.
test('quotes that raise the funding of the vault cannot keep it in its position', () => {
  const world = holding();
  world.fund({ pam: '100000' });
  world.order('pam', '1', '41700', { symbol: 'S' });
  world.order('xan', '-1', '42000', { symbol: 'S' });
  const from = world.events.length;
  world.run(125 * 60_000, { S: '39400' });
  expect(world.events.slice(from).some((event) => event.kind === 'fundingSettled')).toBe(true);
  expect(world.engine.positions(world.idOf('vault'))).toEqual([]);
  // It has sold to them, 5.8 % above the index.
  expect(Number(world.equity('vault'))).toBeGreaterThan(100_200);
});

test("a freeze ends the vault's closing order", () => {
  const world = holding();
  world.run(60_000, { S: '39400' });
  expect(world.engine.openOrders(world.idOf('vault'))).toHaveLength(1);
  world.wait(60_001);
  expect(world.engine.openOrders(world.idOf('vault'))).toEqual([]);
});

test('a vault without free collateral cannot be made to take a position', () => {
  const world = new AttackWorld([{ symbol: 'A' }]);
  world.fund({ vera: '10000', pat: '12000', xan: '30000' });
  world.price('40000', 'A');
  world.transfer('vera', 'vault', '10000');
  world.trade('pat', 'xan', '15', '40000', 'A');
  world.price('39400', 'A');
  // Its initial requirement would be 11,820, above 12,955.
  expect(world.engine.positions(world.idOf('vault'))).toMatchObject([{ lots: 150_000 }]);
  const small = new AttackWorld([{ symbol: 'A' }]);
  small.fund({ vera: '8000', pat: '12000', xan: '30000' });
  small.price('40000', 'A');
  small.transfer('vera', 'vault', '8000');
  small.trade('pat', 'xan', '15', '40000', 'A');
  small.price('39400', 'A');
  expect(small.engine.positions(small.idOf('vault'))).toEqual([]);
  expect(small.equity('vault')).toBe('8000');
  // Closed against Xan at the index with 3,000 left, less the fee of 2,955.
  expect([small.equity('pat'), small.equity('xan')]).toEqual(['45', '39000']);
});
