/**
 * Fees and their shares to the Quantum: the user pays rounded up and receives rounded down,
 * on both sides of 2^53, where doubles end and bigints begin.
 */
import { describe, expect, test } from 'vitest';
import { distributeFee, feeOfFill, feeOn, feesOf } from '../../../src/engine/accounts/fees.ts';
import { totalFee } from '../../../src/engine/accounts/order-fees.ts';
import { moneyOf, NO_MONEY } from '../../../src/num/money.ts';
import { marketId, orderId, ppm, priceTicks, quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld, usd } from '../risk-world.ts';

const MOST = 9_007_199_254_740_991;

// Lots, ticks and Quanta of a tick and lot; the rate in parts per million; the fee in Quanta.
const FEES: readonly (readonly [string, number, number, number, number, bigint])[] = [
  ['nothing for nothing', 0, 100, 10, 500, 0n],
  ['nothing at a rebate', 0, 100, 10, -200, 0n],
  ['no rate, no fee', 10, 100, 10, 0, 0n],
  ['an exact fee', 10, 100, 1000, 500, 500n],
  ['one Quantum more of notional rounds up', 1_000_001, 1, 1, 500, 501n],
  ['one Quantum less rounds up, too', 999_999, 1, 1, 500, 500n],
  ['a least fee is 1', 1, 1, 1, 1, 1n],
  ['an exact rebate', 10, 100, 1000, -200, -200n],
  ['a rebate is rounded down', 1_000_001, 1, 1, -200, -200n],
  ['one Quantum less lowers it', 999_999, 1, 1, -200, -199n],
  ['a rebate below 1 is none', 1, 1, 1, -1, 0n],
  ['the largest product of a double', MOST, 1, 1, 1, 9_007_199_255n],
  ['the largest rebate of a double', MOST, 1, 1, -1, -9_007_199_254n],
  // 2^53 + 1 = 9,007,199,254,740,993 is no double.
  ['the first product beyond', 3_002_399_751_580_331, 3, 1, 1, 9_007_199_255n],
  ['an exact fee beyond', 10_000_000_000, 1_000_000, 100, 500, 500_000_000_000_000n],
  ['one lot beyond it', 10_000_000_001, 1_000_001, 7, 500, 35_000_035_003_501n],
  ['a rebate beyond it', 10_000_000_001, 1_000_001, 7, -500, -35_000_035_003_500n],
  [
    'a whole of the notional',
    123_456_789_123,
    2_147_483_647,
    10,
    1_000_000,
    2651214357527699715810n,
  ],
];

describe('a fee of a fill', () => {
  test.each(FEES)('%s', (_name, size, price, unit, rate, fee) => {
    expect(feeOfFill(size, priceTicks(price), unit, ppm(rate))).toBe(fee);
    const value = BigInt(size) * BigInt(price) * BigInt(unit);
    expect(feeOn(quanta(value), ppm(rate))).toBe(fee);
    // A sale has a negative notional and pays the same.
    expect(feeOn(quanta(-value), ppm(rate))).toBe(fee);
  });

  test('is the sum of its three parts', () => {
    const fees = { protocol: moneyOf(-3n), originator: moneyOf(50n), liquidation: moneyOf(700n) };
    expect(totalFee({ ...fees, others: true })).toBe(747);
    expect(totalFee({ ...fees, originator: NO_MONEY, liquidation: NO_MONEY, others: false })).toBe(
      -3,
    );
  });

  test.each([
    // 1,000 USD at −0.01 % and 0.04 %, and an originator's 0.1 %.
    ['maker', 0, { protocol: -100_000, originator: 0, liquidation: 0, others: false }],
    ['taker', 0, { protocol: 400_000, originator: 0, liquidation: 0, others: false }],
    ['maker', 1000, { protocol: -100_000, originator: 1_000_000, liquidation: 0, others: true }],
    ['taker', 1000, { protocol: 400_000, originator: 1_000_000, liquidation: 0, others: true }],
  ] as const)('of a %s with an originator rate of %d', (role, originatorFee, expected) => {
    const world = new RiskWorld([{ makerFee: '-0.0001', takerFee: '0.0004' }]);
    world.fund({ ann: '1000', cat: '1' });
    world.price('100');
    const originator = world.addressOf('cat');
    const changes = originatorFee === 0 ? {} : { originator, originatorFee };
    expect(world.order('ann', '10', '90', changes)).toMatchObject({ reason: null });
    const state = stateOf(world.engine);
    const slot = state.subaccount(world.idOf('ann')).exposure(marketId(0)).orders.head;
    expect(state.orders.id(slot)).toBe(orderId(1));
    expect(feesOf(state, slot, role, 10_000, priceTicks(100))).toMatchObject(expected);
  });
});

// Net fee; what the vault (50 %), insurance (20 %) and treasury (the rest) receive.
const SHARES: readonly (readonly [string, bigint, bigint, bigint, bigint])[] = [
  ['nothing', 0n, 0n, 0n, 0n],
  ['one Quantum goes to the treasury', 1n, 0n, 0n, 1n],
  ['two', 2n, 1n, 0n, 1n],
  ['exact shares', 10n, 5n, 2n, 3n],
  ['both shares round down', 19n, 9n, 3n, 7n],
  ['a multiple of both rates', 1_000_000n, 500_000n, 200_000n, 300_000n],
  [
    'one Quantum less than a multiple of 5',
    9_007_199_254n,
    4_503_599_627n,
    1_801_439_850n,
    2_702_159_777n,
  ],
  ['a multiple of 5', 9_007_199_255n, 4_503_599_627n, 1_801_439_851n, 2_702_159_777n],
  // 500,000 × net is below 2^53, and beyond it.
  [
    'the last share of the vault in doubles',
    18_014_398_509n,
    9_007_199_254n,
    3_602_879_701n,
    5_404_319_554n,
  ],
  ['its first in bigints', 18_014_398_510n, 9_007_199_255n, 3_602_879_702n, 5_404_319_553n],
  [
    'beyond 2^53',
    9_007_199_254_740_993n,
    4_503_599_627_370_496n,
    1_801_439_850_948_198n,
    2_702_159_776_422_299n,
  ],
  // The nearest double is 127 more.
  [
    'an amount between two doubles',
    1_152_921_504_606_847_105n,
    576_460_752_303_423_552n,
    230_584_300_921_369_421n,
    345_876_451_382_054_132n,
  ],
];

describe('of the net fee', () => {
  test.each(SHARES)('%s', (_name, net, vault, insurance, treasury) => {
    const world = new RiskWorld();
    const state = stateOf(world.engine);
    const homes = [state.vault, state.insurance, state.treasury];
    const before = homes.map(({ cash }) => cash);
    distributeFee(state, moneyOf(net));
    const received = homes.map(({ cash }, i) => cash - (before[i] ?? 0n));
    expect(received).toEqual([vault, insurance, treasury]);
  });

  test('a fill pays maker, originator and shares from what the taker pays', () => {
    const world = new RiskWorld([{ makerFee: '-0.0001', takerFee: '0.0004' }]);
    world.fund({ ann: '1000', bob: '1000', cat: '1' });
    world.price('100');
    world.order('ann', '10', '100');
    world.order('bob', '-10', '100', { originator: world.addressOf('cat'), originatorFee: 1000 });
    const paid = ['ann', 'bob', 'cat', 'vault', 'insurance', 'treasury'].map((who) =>
      usd(world.balance(who)),
    );
    // Of 0.3 net: a half, a fifth and the rest.
    expect(paid).toEqual(['1000.1', '998.6', '2', '0.15', '0.06', '0.09'].map(usd));
  });
});
