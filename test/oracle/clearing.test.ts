/**
 * Clearing in the oracle (R-1.6a, §6): hand-written attacks on the rules, and random networks of
 * positions.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clearBelowZero, payShortfall } from '../../src/oracle/clearing.ts';
import { withdraw, deposit } from '../../src/oracle/custody.ts';
import { layDeficit, spread } from '../../src/oracle/deficits.ts';
import { liquidateAll } from '../../src/oracle/liquidation.ts';
import { isolatedExcess, withdrawable } from '../../src/oracle/margin.ts';
import { max, sum } from '../../src/oracle/numbers.ts';
import { equityOf, marketsOf, unitsOf } from '../../src/oracle/risk-units.ts';
import {
  HOUR,
  INSURANCE,
  marketOf,
  positionOf,
  SHORTFALL,
  subOf,
  VAULT,
  type Sub,
  type World,
} from '../../src/oracle/world.ts';
import { navOf, runVaultLeave } from '../../src/oracle/vault.ts';
import { address, quanta, timeUs } from '../../src/num/units.ts';
import { equityAtMarks, fund, isolate, pair, price, usd, user, worldOf } from './clearing-world.ts';

const shortfall = (world: World): bigint => subOf(world, SHORTFALL).cash;
const lotsOf = (sub: Sub, market: number): bigint => positionOf(sub, market).lots;

/** Both phases. */
function clear(world: World): void {
  clearBelowZero(world);
  liquidateAll(world);
}

describe('attacks on the rules', () => {
  test('a frozen lot does not prevent the liquidation of a losing account', () => {
    const world = worldOf(2);
    const [owner, other] = [user(world, 3000), user(world, 60_000)];
    pair(world, 0, owner, other, 100, 1000);
    pair(world, 1, owner, other, 1, 1000);
    price(world, 0, 1000, 960);
    price(world, 1, null, 1000).frozen = true;
    clear(world);
    expect(lotsOf(owner, 0)).toBe(0n);
    expect(lotsOf(owner, 1)).toBe(1n);
    expect(equityAtMarks(world, other)).toBeGreaterThan(usd(60_000));
  });

  test('a deficit is borne in its own market, and the uncovered rest is the shortfall', () => {
    const world = worldOf(2);
    const [bankrupt, q, y] = [user(world, 2100), user(world, 2050), user(world, 4110)];
    pair(world, 0, bankrupt, q, 100, 1000);
    pair(world, 1, bankrupt, y, 10, 1000);
    price(world, 0, null, 1000);
    // −2,000 in the second market: a deficit of 400 after that.
    bankrupt.cash = usd(1600);
    world.supply -= usd(500);
    price(world, 1, 1000, 800);
    clear(world);
    expect(equityAtMarks(world, bankrupt)).toBe(0n);
    expect(equityAtMarks(world, q)).toBe(usd(2050));
    expect(equityAtMarks(world, y)).toBe(usd(4110 + 2000 - 400));
    expect(shortfall(world)).toBe(0n);
  });

  test('an isolated position in a market that did not move is not charged', () => {
    const world = worldOf(2);
    const [bankrupt, bystander, y] = [user(world, 1000), user(world, 6000), user(world, 5000)];
    isolate(bystander, 0, 500);
    pair(world, 0, bankrupt, bystander, 20, 1000);
    pair(world, 1, bankrupt, y, 20, 1000);
    price(world, 0, null, 1000);
    price(world, 1, 1000, 700);
    clear(world);
    expect(equityAtMarks(world, bystander)).toBe(usd(6000));
    expect(equityAtMarks(world, bankrupt)).toBe(0n);
    expect(equityAtMarks(world, y)).toBe(usd(5000 + 6000 - 5000));
  });

  test('a solvent trader keeps the equity at the index', () => {
    const world = worldOf(1);
    const [short, long] = [user(world, 6050), user(world, 6050)];
    pair(world, 0, long, short, 300, 1000);
    price(world, 0, 1000, 1012, 1000);
    clear(world);
    expect(lotsOf(short, 0)).toBe(0n);
    // 6,050 − the price advantage of 3,600, which exceeds the fee of 1,500.
    expect(equityAtMarks(world, short)).toBe(usd(6050 - 3600));
    expect(equityAtMarks(world, long)).toBe(usd(6050));
    expect(subOf(world, INSURANCE).cash).toBe(usd(3600));
  });

  test('insurance pays a quarter of its balance, and no more in the hour', () => {
    const world = worldOf(1);
    world.insuranceHour = world.now - (world.now % HOUR);
    fund(world, INSURANCE, 1000);
    const [bankrupt, y] = [user(world, 1000), user(world, 50)];
    pair(world, 0, bankrupt, y, 100, 1000);
    // The other side gained nothing in this step.
    price(world, 0, null, 980);
    clear(world);
    expect(subOf(world, INSURANCE).cash).toBe(usd(750));
    expect(equityAtMarks(world, bankrupt)).toBe(0n);
    expect(shortfall(world)).toBe(-usd(750));
  });

  test('the vault pays at most the take-over price, and leaves no debt', () => {
    const world = worldOf(1);
    fund(world, VAULT, 100_000);
    const [owner, other] = [user(world, 1500), user(world, 5000)];
    pair(world, 0, owner, other, 100, 1000);
    price(world, 0, 1000, 991, 990);
    clear(world);
    expect(lotsOf(owner, 0)).toBe(0n);
    expect(lotsOf(subOf(world, VAULT), 0)).toBe(100n);
    // 1,500 − 1,000 at the index; half of the requirement of 991, less nothing, goes to the vault.
    expect(equityAtMarks(world, owner)).toBe(usd(500) - usd(991) / 2n);
  });
});

describe('the shortfall', () => {
  function withShortfall(): { world: World; bankrupt: Sub; y: Sub } {
    const world = worldOf(1);
    const [bankrupt, y] = [user(world, 1000), user(world, 3000)];
    pair(world, 0, bankrupt, y, 100, 1000);
    price(world, 0, null, 980);
    clear(world);
    return { world, bankrupt, y };
  }

  test('every withdrawal bears its share', () => {
    const { world, y } = withShortfall();
    expect(shortfall(world)).toBe(-usd(1000));
    // Funds 4,000, claims 5,000: a fifth stays.
    const outcome = withdraw(world, {
      kind: 'withdraw',
      timeUs: timeUs(Number(world.now)),
      account: address(y.address),
      subaccountIndex: 0,
      amount: quanta(usd(1000)),
    });
    expect(outcome).toBe('ok');
    expect(shortfall(world)).toBe(-usd(800));
    expect(world.supply).toBe(usd(4000 - 800));
    expect(y.cash).toBe(usd(4000));
  });

  test('later external money is exempt, and does not dilute other shares', () => {
    const { world, y } = withShortfall();
    const z = user(world, 0);
    const at = { timeUs: timeUs(Number(world.now)), subaccountIndex: 0 };
    const zAddress = address(z.address);
    deposit(world, { kind: 'deposit', ...at, account: zAddress, amount: quanta(usd(10_000)) });
    withdraw(world, {
      kind: 'withdraw',
      ...at,
      account: address(y.address),
      amount: quanta(usd(1000)),
    });
    expect(shortfall(world)).toBe(-usd(800));
    withdraw(world, { kind: 'withdraw', ...at, account: zAddress, amount: quanta(usd(10_000)) });
    expect(shortfall(world)).toBe(-usd(800));
    expect(z.cash).toBe(0n);
  });

  test('insurance pays it at the hour, and a deposit to insurance at once', () => {
    const { world } = withShortfall();
    const insurance = address(subOf(world, INSURANCE).address);
    deposit(world, {
      kind: 'deposit',
      timeUs: timeUs(Number(world.now)),
      account: insurance,
      subaccountIndex: 0,
      amount: quanta(usd(400)),
    });
    expect(shortfall(world)).toBe(-usd(600));
    expect(subOf(world, INSURANCE).cash).toBe(0n);
    fund(world, INSURANCE, 1000);
    world.now += HOUR - (world.now % HOUR);
    payShortfall(world);
    payShortfall(world);
    expect(shortfall(world)).toBe(-usd(350));
  });
});

describe('frozen gains', () => {
  test('protect no account elsewhere, and payments of others become a debt', () => {
    const world = worldOf(2);
    const [owner, q, y] = [user(world, 2100), user(world, 50_000), user(world, 50_000)];
    pair(world, 0, owner, q, 10, 1000);
    pair(world, 1, owner, y, 100, 1000);
    const frozen = price(world, 0, null, 2000);
    frozen.frozen = true;
    price(world, 1, 1000, 900);
    clear(world);
    expect(lotsOf(owner, 1)).toBe(0n);
    // 2,100 + the requirement of 200 − 10,000.
    expect(owner.clearingDebt).toBe(usd(7700));
    expect(withdrawable(world, owner)).toBe(0n);
    expect(isolatedExcess(world, owner, 0)).toBe(0n);
    frozen.frozen = false;
    world.danger = true;
    clear(world);
    expect(owner.clearingDebt).toBe(0n);
    // −200 and a gain of 10,000, less the debt.
    expect(equityAtMarks(world, owner)).toBe(usd(2100));
  });
});

describe('the vault', () => {
  test('offers a twentieth of its position each minute, and counts a frozen one at half', () => {
    const world = worldOf(1);
    fund(world, VAULT, 1000);
    const other = user(world, 1000);
    price(world, 0, null, 100, 102);
    const vault = subOf(world, VAULT);
    pair(world, 0, vault, other, 41, 100);
    world.vaultLeaveDue = world.now;
    runVaultLeave(world);
    runVaultLeave(world);
    const offers = (): (readonly [bigint, bigint])[] =>
      world.live.map(({ lots, price: at }) => [lots, at] as const);
    expect(offers()).toEqual([[-3n, 103n]]);
    world.now += 60_000_000n;
    price(world, 0, null, 120);
    runVaultLeave(world);
    expect(offers()).toEqual([[-3n, 121n]]);
    expect(world.orders.map(({ status }) => status)).toEqual(['expired', 'new']);
    expect(navOf(world, 'burn')).toBe(usd(1000 + 41 * 20));
    price(world, 0, null, 121).frozen = true;
    expect(navOf(world, 'burn')).toBe(usd(1000 - 41 * 40));
    expect(navOf(world, 'mint')).toBe(usd(1000 + 41 * 82));
  });
});

describe('deficits', () => {
  test('are allocated to losses, and beyond them by requirement', () => {
    const world = worldOf(2);
    const [owner, other] = [user(world, 0), user(world, 0)];
    pair(world, 0, owner, other, 10, 100);
    pair(world, 1, owner, other, 10, 100);
    const markets = [price(world, 0, 103, 100), price(world, 1, 101, 100)];
    expect(layDeficit(owner, markets, 10n)).toEqual([8n, 2n]);
    expect(layDeficit(owner, markets, usd(40) + 11n)).toEqual([usd(30) + 6n, usd(10) + 5n]);
  });

  test('are spread by lots, within capacities, to the last Quantum', () => {
    const paid = [0n, 0n, 0n];
    const rooms = [5n, 1n, 100n];
    const bearers = paid.map((_, i) => ({
      lots: 1n,
      capacity: () => (rooms[i] ?? 0n) - (paid[i] ?? 0n),
      bear: (amount: bigint) => {
        paid[i] = (paid[i] ?? 0n) + amount;
      },
    }));
    expect(spread(11n, bearers)).toBe(0n);
    expect(paid).toEqual([5n, 1n, 5n]);
    expect(spread(100n, bearers)).toBe(5n);
  });
});

const networks = fc.record({
  cash: fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 3, maxLength: 6 }),
  isolated: fc.array(fc.tuple(fc.nat(5), fc.nat(2), fc.nat(100)), { maxLength: 4 }),
  pairs: fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.nat(2), fc.integer({ min: 1, max: 30 })), {
    minLength: 1,
    maxLength: 14,
  }),
  moves: fc.array(
    fc.record({
      opened: fc.integer({ min: 80, max: 120 }),
      before: fc.option(fc.integer({ min: 80, max: 120 })),
      mark: fc.integer({ min: 50, max: 150 }),
      basis: fc.integer({ min: -1, max: 1 }),
      frozen: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    }),
    { minLength: 3, maxLength: 3 },
  ),
  insurance: fc.constantFrom(0, 0, 100, 100_000),
  vault: fc.constantFrom(0, 0, 500, 1_000_000),
});

test('random networks end with the bankrupt at 0 and no charge beyond the bounds', () => {
  fc.assert(
    fc.property(networks, ({ cash, isolated, pairs, moves, insurance, vault }) => {
      const world = worldOf(3);
      world.insuranceHour = world.now - (world.now % HOUR);
      fund(world, INSURANCE, insurance);
      fund(world, VAULT, vault);
      const users = cash.map((amount) => user(world, amount + 100));
      const at = (i: number): Sub => users[i % users.length] as Sub;
      for (const [i, market, margin] of isolated) {
        if (at(i).settings[market]?.isolated !== true) isolate(at(i), market, margin);
      }
      for (const [i, j, market, lots] of pairs) {
        const opened = moves[market]?.opened ?? 100;
        if (at(i) !== at(j)) pair(world, market, at(i), at(j), lots, opened);
      }
      moves.forEach(({ before, mark, basis, frozen }, i) => {
        price(world, i, before, mark, mark + basis).frozen = frozen;
      });
      clear(world);

      const all = sum(world.subs.map((sub) => equityAtMarks(world, sub)));
      expect(all).toBe(world.supply);
      expect(shortfall(world)).toBeLessThanOrEqual(0n);
      expect(subOf(world, INSURANCE).cash).toBeGreaterThanOrEqual(0n);
      for (const unit of unitsOf(world)) {
        const markets = marketsOf(world, unit);
        if (unit.sub.house) continue;
        const frozenLeft = markets.some(({ frozen }) => frozen);
        if (!frozenLeft) expect(equityOf(world, unit)).toBeGreaterThanOrEqual(0n);
        if (markets.length === 0) expect(equityOf(world, unit)).toBeGreaterThanOrEqual(0n);
      }
      // A party is charged at most its gain of this step.
      for (const event of world.emitted) {
        if (event.kind !== 'positionTransferred' || event['reason'] !== 'adl') continue;
        const { market, lots, moneyQuanta } = event;
        const { markBefore, mark, index, unit } = marketOf(world, Number(market));
        const settled = index ?? mark ?? 0n;
        const gain = -BigInt(lots ?? 0) * (settled - (markBefore ?? settled)) * unit;
        const gained = max(0n, gain);
        expect(-BigInt(moneyQuanta ?? 0)).toBeLessThanOrEqual(gained);
      }
    }),
    { numRuns: 300, seed: 16 },
  );
}, 60_000);
