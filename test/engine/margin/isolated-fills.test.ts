/**
 * Fills of isolated positions as tables, each figure from the rules (R-5.5, R-5.6, D-25, D-27): the
 * money that a fill moves, the cash that resting orders hold, and both sides of each admission
 * limit. A lot at a tick is one Quantum here; the rates are 10 % initial and 5 % maintenance.
 */
import { describe, expect, test } from 'vitest';
import { NO_FEES, type SideFees } from '../../../src/engine/accounts/order-fees.ts';
import type { Exposure, Subaccount } from '../../../src/engine/accounts/subaccount.ts';
import type { MarginTier } from '../../../src/engine/config.ts';
import {
  admittedIsolatedEquity,
  affordsIsolatedFill,
  isolatedEquity,
  isolatedHold,
  planIsolated,
  type HoldChange,
} from '../../../src/engine/margin/isolated-margin.ts';
import type { Market } from '../../../src/engine/market/market.ts';
import type { State } from '../../../src/engine/state.ts';
import { moneyOf, quantaOf } from '../../../src/num/money.ts';
import { lots, ppm, priceTicks, quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

/** Protocol, originator and liquidation fee. */
type Fees = readonly [protocol: bigint, originator: bigint, liquidation: bigint];

const feesFrom = ([protocol, originator, liquidation]: Fees): SideFees => ({
  protocol: moneyOf(protocol),
  originator: moneyOf(originator),
  liquidation: moneyOf(liquidation),
  others: originator !== 0n || liquidation !== 0n,
});
const amounts = ({ protocol, originator, liquidation }: SideFees): Fees => [
  quantaOf(protocol),
  quantaOf(originator),
  quantaOf(liquidation),
];

/** Initial and maintenance rates in percent from floors of notional. */
const tiersOf = (...tiers: readonly (readonly [floor: bigint, percent: number])[]): MarginTier[] =>
  tiers.map(([floor, percent]) => ({
    floorQuanta: quanta(floor),
    initialMarginPpm: ppm(percent * 10_000),
    maintenanceMarginPpm: ppm(percent * 5000),
  }));

interface Position {
  readonly size?: number;
  readonly cost?: bigint;
  readonly margin?: bigint;
  readonly mark?: number;
  readonly frozen?: boolean;
  readonly ownPercent?: number;
  readonly tiers?: MarginTier[];
  readonly nextTiers?: MarginTier[];
  /** Bounds between which the initial rate rises, and the open interest in lots. */
  readonly rise?: readonly [lower: bigint, upper: bigint, open: number];
}

interface Scene {
  readonly world: RiskWorld;
  readonly state: State;
  readonly subaccount: Subaccount;
  readonly exposure: Exposure;
  readonly market: Market;
}

/** An isolated position as given, in a world that no oracle follows from here. */
function sceneOf(position: Position): Scene {
  const unitLot = { lotSize: '0.000001', makerFee: '0.01', takerFee: '0.02' };
  const world = new RiskWorld([unitLot, { ...unitLot, symbol: 'N' }]);
  world.fund({ ann: '1000', cat: '1' });
  world.price('100');
  world.price('100', 'N');
  expect(world.setMargin('ann', true, '0.1')).toBe('ok');
  const state = stateOf(world.engine);
  const market = state.market(world.marketOf('M'));
  const subaccount = state.subaccount(world.idOf('ann'));
  const exposure = subaccount.exposure(market.id);
  world.checks = false;
  const { size = 0, cost = 0n, margin = 0n, mark = 100, rise } = position;
  market.markTicks = priceTicks(mark);
  market.frozen = position.frozen ?? false;
  market.spec = {
    ...market.spec,
    tiers: position.tiers ?? tiersOf([0n, 10]),
    openNotionalLower: rise === undefined ? null : quanta(rise[0]),
    openNotionalUpper: rise === undefined ? null : quanta(rise[1]),
  };
  market.openInterestLots = lots(rise?.[2] ?? 0);
  const { nextTiers } = position;
  if (nextTiers !== undefined) market.nextSpec = { ...market.spec, tiers: nextTiers };
  exposure.ownMarginPpm = ppm((position.ownPercent ?? 10) * 10_000);
  exposure.positionLots = lots(size);
  exposure.costQuanta = quanta(cost);
  exposure.marginQuanta = quanta(margin);
  return { world, state, subaccount, exposure, market };
}

const LONG: Position = { size: 10, cost: 1000n, margin: 100n };
const SHORT: Position = { size: -10, cost: -1000n, margin: 100n };
const TWO_TIERS = tiersOf([0n, 10], [1000n, 50]);

interface Plan {
  readonly name: string;
  readonly position?: Position;
  readonly fill: readonly [size: number, price: number];
  readonly fees?: Fees;
  readonly received?: bigint;
  readonly release?: boolean;
  readonly pnl?: bigint;
  /** Fees that the margin pays; the cash pays the rest. */
  readonly closing?: Fees;
  readonly returned?: bigint;
  readonly moved?: bigint;
}

const PLANS: readonly Plan[] = [
  { name: 'a buy opens: 10 % of 707, rounded up', fill: [7, 101], fees: [3n, 2n, 1n], moved: 71n },
  { name: 'a sale opens for the same', fill: [-7, 101], fees: [3n, 2n, 1n], moved: 71n },
  { name: 'an exact 10 % of 710', fill: [-10, 71], moved: 71n },
  { name: 'a long grows', position: LONG, fill: [5, 101], moved: 51n },
  { name: 'a short grows', position: SHORT, fill: [-5, 101], moved: 51n },
  { name: 'the own rate', position: { ownPercent: 30 }, fill: [5, 101], moved: 152n },
  {
    name: 'growth across a tier: 50 % above 1,000',
    position: { ...LONG, tiers: TWO_TIERS },
    fill: [5, 100],
    moved: 250n,
  },
  {
    name: 'growth from 500 to 1,500: 50 + 250',
    position: { size: 5, cost: 500n, margin: 50n, tiers: TWO_TIERS },
    fill: [10, 100],
    moved: 300n,
  },
  {
    name: 'the own rate above that of both tiers',
    position: { ...LONG, tiers: TWO_TIERS, ownPercent: 60 },
    fill: [5, 100],
    moved: 300n,
  },
  {
    name: 'the initial rate has risen half of the way to 100 %: 55 %',
    position: { rise: [1000n, 3000n, 20] },
    fill: [10, 100],
    moved: 550n,
  },
  {
    name: 'announced terms of one higher tier',
    position: { nextTiers: tiersOf([0n, 20]) },
    fill: [10, 100],
    moved: 200n,
  },
  {
    name: 'announced terms of two tiers',
    position: { ...LONG, nextTiers: TWO_TIERS },
    fill: [5, 100],
    moved: 250n,
  },
  {
    name: 'a long closes a third: ⌊31 ÷ 3⌋ + 10 − 3',
    position: { size: 3, cost: 300n, margin: 31n },
    fill: [-1, 110],
    fees: [3n, 0n, 0n],
    pnl: 10n,
    closing: [3n, 0n, 0n],
    returned: 17n,
  },
  {
    name: 'the closed cost is rounded up',
    position: { size: 3, cost: 301n, margin: 30n },
    fill: [-1, 110],
    pnl: 9n,
    returned: 19n,
  },
  {
    name: 'a short closes a third: its proceeds are negative',
    position: { size: -3, cost: -300n, margin: 31n },
    fill: [1, 90],
    fees: [1n, 2n, 3n],
    pnl: 10n,
    closing: [1n, 2n, 3n],
    returned: 14n,
  },
  {
    name: 'a rebate of a closing fill is added',
    position: { size: 3, cost: 300n, margin: 31n },
    fill: [-1, 110],
    fees: [-3n, 0n, 0n],
    pnl: 10n,
    closing: [-3n, 0n, 0n],
    returned: 23n,
  },
  {
    name: 'a loss equal to its share returns nothing',
    position: LONG,
    fill: [-5, 90],
    pnl: -50n,
    returned: 0n,
  },
  {
    name: 'one Quantum of margin more returns it',
    position: { ...LONG, margin: 102n },
    fill: [-5, 90],
    pnl: -50n,
    returned: 1n,
  },
  {
    name: 'a larger loss takes no cash while a part stays open',
    position: LONG,
    fill: [-5, 80],
    pnl: -100n,
    returned: 0n,
  },
  {
    name: 'a whole close takes what the margin lacks',
    position: LONG,
    fill: [-10, 80],
    fees: [3n, 0n, 0n],
    pnl: -200n,
    closing: [3n, 0n, 0n],
    returned: -103n,
  },
  {
    name: 'money with a take-over of the whole',
    position: LONG,
    fill: [-10, 80],
    received: 25n,
    pnl: -200n,
    returned: -75n,
  },
  {
    name: 'money with a take-over of a part',
    position: LONG,
    fill: [-5, 100],
    received: 25n,
    returned: 75n,
  },
  {
    name: 'a part that releases no margin',
    position: LONG,
    fill: [-5, 110],
    release: false,
    pnl: 50n,
    returned: 0n,
  },
  {
    name: 'a whole close always returns the margin',
    position: LONG,
    fill: [-10, 110],
    release: false,
    pnl: 100n,
    returned: 200n,
  },
  {
    name: 'a long flips: the closed fees are rounded up',
    position: LONG,
    fill: [-16, 105],
    fees: [17n, 8n, 4n],
    pnl: 50n,
    closing: [11n, 5n, 3n],
    returned: 131n,
    moved: 63n,
  },
  {
    name: 'a short flips',
    position: SHORT,
    fill: [16, 95],
    fees: [17n, 8n, 4n],
    pnl: 50n,
    closing: [11n, 5n, 3n],
    returned: 131n,
    moved: 57n,
  },
  {
    name: 'a rebate of a flip: the closed part is rounded toward zero',
    position: LONG,
    fill: [-16, 100],
    fees: [-17n, 0n, 0n],
    closing: [-10n, 0n, 0n],
    returned: 110n,
    moved: 60n,
  },
  {
    name: 'a flip opens from the first tier',
    position: { ...LONG, tiers: TWO_TIERS },
    fill: [-18, 100],
    returned: 100n,
    moved: 80n,
  },
  {
    name: 'an opening beyond 2^53',
    fill: [2 ** 40 + 1, 1_000_003],
    moved: 109_951_492_631_188_334n,
  },
  {
    name: 'a partial close beyond 2^53',
    position: { size: 2 ** 40, cost: 1_099_511_627_776_000_001n, margin: 144_115_188_075_855_873n },
    fill: [-(2 ** 39) - 1, 1_000_007],
    fees: [9n, 0n, 0n],
    pnl: 3_848_290_697_222n,
    closing: [9n, 0n, 0n],
    returned: 72_061_442_328_756_221n,
  },
];

describe('a fill of an isolated position moves', () => {
  test.each(PLANS)('$name', ({ position = {}, fill: [size, price], received, release, ...row }) => {
    const { exposure, market } = sceneOf(position);
    const { fees = [0n, 0n, 0n], closing = [0n, 0n, 0n] } = row;
    const deal = { lots: lots(size), priceTicks: priceTicks(price), fees: feesFrom(fees) };
    const plan = planIsolated(exposure, market, deal, received, release);
    expect({
      pnl: plan.pnl,
      closing: amounts(plan.closingFees),
      opening: amounts(plan.openingFees),
      returned: plan.returned,
      moved: plan.moved,
    }).toEqual({
      pnl: row.pnl ?? 0n,
      closing,
      opening: fees.map((fee, i) => fee - (closing[i] ?? 0n)),
      returned: row.returned ?? 0n,
      moved: row.moved ?? 0n,
    });
  });
});

test.each([
  ['a gain counts', { ...LONG, mark: 120 }, 300n, 300n],
  ['a frozen gain is no equity for a fill', { ...LONG, mark: 120, frozen: true }, 300n, 100n],
  ['a frozen loss is', { ...LONG, mark: 95, frozen: true }, 50n, 50n],
  ['a frozen short that gained', { ...SHORT, mark: 80, frozen: true }, 300n, 100n],
])('R-5.3b %s', (_name, position, equity, admitted) => {
  const { exposure, market } = sceneOf(position);
  expect(isolatedEquity(exposure, market)).toBe(equity);
  expect(admittedIsolatedEquity(exposure, market)).toBe(admitted);
});

interface Fill {
  readonly name: string;
  readonly position?: Position;
  readonly fill: readonly [size: number, price: number];
  readonly fee?: bigint;
  /** A resting bid at 100 in the same market, in lots; each holds 10 % and 1 %. */
  readonly bid?: number;
  /** Lots of that bid that this fill takes. */
  readonly filling?: number;
  readonly free?: bigint;
  readonly allowed: boolean;
}

/** A limit: allowed with the first value, refused with the second. */
const both = (
  name: string,
  row: Omit<Fill, 'name' | 'allowed'>,
  within: Partial<Fill>,
  beyond: Partial<Fill>,
): readonly Fill[] => [
  { ...row, ...within, name: `${name}: within`, allowed: true },
  { ...row, ...beyond, name: `${name}: beyond`, allowed: false },
];

const NO_CASH = -1_000_000n;

const FILLS: readonly Fill[] = [
  ...both(
    'an opening fill takes margin and fee',
    { fill: [10, 100], fee: 2n },
    { free: 102n },
    { free: 101n },
  ),
  ...both(
    'a sale opens for the same',
    { fill: [-10, 100], fee: 2n },
    { free: 102n },
    { free: 101n },
  ),
  ...both('a rebate helps', { fill: [10, 100], fee: -2n }, { free: 98n }, { free: 97n }),
  ...both(
    'a fill worse than the mark also takes what the position lacks: 104 + 36',
    { fill: [10, 104] },
    { free: 140n },
    { free: 139n },
  ),
  ...both('a sale below the mark: 96 + 44', { fill: [-10, 96] }, { free: 140n }, { free: 139n }),
  ...both('a better fill lacks nothing', { fill: [10, 90] }, { free: 90n }, { free: 89n }),
  ...both(
    'no cash replaces maintenance: 100 for 20 lots',
    { fill: [10, 100], free: 1000n },
    { position: { size: 10, cost: 1001n, margin: 1n } },
    { position: { size: 10, cost: 1001n, margin: 0n } },
  ),
  ...both(
    'a bid of 7 holds 77 besides',
    { fill: [10, 100], bid: 7 },
    { free: 177n },
    { free: 176n },
  ),
  ...both(
    'of a bid of 17 the 10 filled lots hold nothing more',
    { fill: [10, 100], bid: 17, filling: 10 },
    { free: 177n },
    { free: 176n },
  ),
  ...both(
    'a flip returns 100 and takes 40',
    { position: LONG, fill: [-14, 100] },
    { free: -60n },
    { free: -61n },
  ),
  ...both(
    'a flip: margin and cash pay their parts of the fee',
    { position: LONG, fill: [-14, 100], fee: 14n },
    { free: -46n },
    { free: -47n },
  ),
  ...both(
    'a flip below the mark: 23 of 40 are left, and 18 are below maintenance',
    { position: LONG, free: 1000n, fill: [-14, 96] },
    {},
    { fill: [-14, 95] },
  ),
  ...both(
    'it takes the 17 that the position lacks',
    { position: LONG, fill: [-14, 96] },
    { free: -4n },
    { free: -5n },
  ),
  ...both(
    'a flip of a short',
    { position: SHORT, fill: [14, 100] },
    { free: -60n },
    { free: -61n },
  ),
  { name: 'a close needs no cash', position: LONG, fill: [-10, 100], free: NO_CASH, allowed: true },
  ...both(
    'a close may lose the whole margin',
    { position: LONG, fill: [-10, 90], free: NO_CASH },
    { fee: 0n },
    { fee: 1n },
  ),
  ...both(
    'a partial close that leaves the initial requirement of 50',
    { position: { ...LONG, margin: 300n }, fill: [-5, 50], free: NO_CASH },
    { fee: 0n },
    { fee: 1n },
  ),
  ...both(
    'a partial close of 50 that leaves 24, a Quantum less than pro rata',
    { position: { ...LONG, margin: 50n }, fill: [-5, 95], free: NO_CASH },
    { fee: 1n },
    { fee: 2n },
  ),
  ...both(
    'the same of a short',
    { position: { ...SHORT, margin: 50n }, fill: [5, 105], free: NO_CASH },
    { fee: 1n },
    { fee: 2n },
  ),
  {
    name: 'a partial close that leaves a deficit',
    position: { ...LONG, margin: 40n },
    fill: [-5, 90],
    free: 1000n,
    allowed: false,
  },
  ...both(
    'a frozen gain of 200 protects no partial close: 29 of 60 against 24 of 50',
    { position: { size: 10, cost: 800n, margin: 60n, frozen: true }, fill: [-5, 74] },
    { fee: 1n },
    { fee: 2n },
  ),
  ...both(
    'a frozen loss counts',
    { position: { size: 10, cost: 1100n, margin: 160n, frozen: true }, fill: [-5, 94] },
    { fee: 1n },
    { fee: 2n },
  ),
  {
    name: 'a fresh gain of 200 protects it',
    position: { size: 10, cost: 800n, margin: 60n },
    fill: [-5, 74],
    fee: 2n,
    allowed: true,
  },
];

describe('a fill of an isolated position is admitted', () => {
  test.each(FILLS)('$name', ({ position = {}, fill: [size, price], free = 0n, ...row }) => {
    const { world, state, exposure } = sceneOf(position);
    const { bid, filling, fee = 0n } = row;
    if (bid !== undefined) rest(world, bid, 100);
    const deal = {
      lots: lots(size),
      priceTicks: priceTicks(price),
      fees: { ...NO_FEES, protocol: moneyOf(fee) },
    };
    const slot = exposure.orders.head;
    const part = filling === undefined ? null : { slot, lots: filling };
    expect(affordsIsolatedFill(state, exposure, deal, part, free)).toBe(row.allowed);
  });
});

function rest(world: RiskWorld, size: number, price: number, changes = {}): void {
  const quantity = (size / 1e6).toFixed(6);
  expect(world.order('ann', quantity, String(price), changes)).toMatchObject({ reason: null });
}

interface Hold {
  readonly name: string;
  readonly position?: Position;
  readonly orders?: readonly (readonly [size: number, price: number, changes?: object])[];
  readonly change?: HoldChange;
  readonly held: bigint;
}

const added = (side: 1 | -1, size: number, price: number, feePpm = 0): HoldChange => ({
  added: { side, lots: size, priceTicks: priceTicks(price), feePpm },
});

// The maker fee is 1 %.
const HOLDS: readonly Hold[] = [
  { name: 'no order', position: LONG, held: 0n },
  {
    name: 'a bid below the mark: 10 % at the mark, 1 % at its price',
    orders: [[10, 90]],
    held: 109n,
  },
  { name: 'at the mark', orders: [[10, 100]], held: 110n },
  { name: 'an ask above the mark: all at its price', orders: [[-10, 120]], held: 132n },
  {
    name: 'the worse side only, and all fees',
    orders: [
      [10, 90],
      [-6, 120],
    ],
    held: 117n,
  },
  {
    name: 'two bids add up',
    orders: [
      [10, 90],
      [3, 80],
    ],
    held: 142n,
  },
  {
    name: 'a reduce-only order holds nothing',
    position: LONG,
    orders: [[-10, 120, { flags: { ioc: false, postOnly: false, reduceOnly: true } }]],
    held: 0n,
  },
  {
    name: 'an order elsewhere holds nothing here',
    orders: [
      [10, 90],
      [10, 90, { symbol: 'N' }],
    ],
    held: 109n,
  },
  { name: 'an order that closes holds its fee', position: LONG, orders: [[-10, 100]], held: 10n },
  {
    name: 'beyond the position it opens',
    position: LONG,
    orders: [[-14, 100]],
    held: 54n,
  },
  {
    name: 'the same of a short',
    position: SHORT,
    orders: [[14, 100]],
    held: 54n,
  },
  { name: 'on the side of a short all opens', position: SHORT, orders: [[-14, 100]], held: 154n },
  {
    name: 'on the side of the position the tiers continue: 50 % above 1,000',
    position: { ...LONG, tiers: TWO_TIERS },
    orders: [[10, 100]],
    held: 510n,
  },
  { name: 'an order to be added, with its own rate', change: added(1, 10, 90, 20_000), held: 118n },
  { name: 'to be sold', change: added(-1, 10, 90, 20_000), held: 118n },
  {
    name: 'an added order beside one that rests',
    orders: [[10, 90]],
    change: added(1, 10, 100),
    held: 209n,
  },
  {
    name: 'as if the position were 10',
    orders: [[-14, 100]],
    change: { position: 10 },
    held: 54n,
  },
];

describe('resting orders of an isolated market hold', () => {
  test.each(HOLDS)('$name', ({ position = {}, orders = [], change, held }) => {
    const { world, state, subaccount, exposure, market } = sceneOf(position);
    for (const [size, price, changes] of orders) rest(world, size, price, changes);
    expect(isolatedHold(state, subaccount, exposure, market, change)).toBe(held);
  });

  test('the originator’s fee, too', () => {
    const { world, state, subaccount, exposure, market } = sceneOf({});
    rest(world, 10, 100, { originator: world.addressOf('cat'), originatorFee: 1000 });
    expect(isolatedHold(state, subaccount, exposure, market)).toBe(111n);
  });

  test('only what a fill leaves of its order', () => {
    const { world, state, subaccount, exposure, market } = sceneOf({});
    rest(world, 10, 100);
    const filling = { slot: exposure.orders.head, lots: 4 };
    expect(isolatedHold(state, subaccount, exposure, market, { filling })).toBe(66n);
    expect(isolatedHold(state, subaccount, exposure, market, { filling: null })).toBe(110n);
  });
});
