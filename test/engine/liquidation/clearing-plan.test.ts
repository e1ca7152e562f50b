/**
 * The plan of a clearing in isolation: the published bounds on random networks, each
 * with a faulty plan that violates it.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  layDeficit,
  lossOf,
  planClearing,
  planInsurance,
  type ClearingPlan,
  type PlanPosition,
  type PlanUnit,
} from '../../../src/engine/liquidation/clearing-plan.ts';

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((a, b) => a + b, 0n);

interface Input {
  readonly equity: bigint;
  readonly positions: readonly PlanPosition[];
  readonly insurance: bigint;
}
type Planner = (input: Input) => ClearingPlan;
const planned: Planner = ({ equity, positions, insurance }) =>
  planClearing(equity, positions, insurance);

/** Names of the rules that a plan violates. */
function broken({ equity, positions, insurance }: Input, plan: ClearingPlan): Set<string> {
  const found = new Set<string>();
  const { closings, fees, insurance: insured, shortfall } = plan;
  const of = (index: number): PlanPosition => positions[index]!;
  positions.forEach((position, index) => {
    const lots = closings.filter((closing) => closing.position === index);
    if (lots.reduce((total, closing) => total + closing.lots, 0) !== position.lots) {
      found.add('the position is closed');
    }
    if ((insured[index] ?? 0n) > position.allowance) found.add('the market’s allowance');
  });
  if (sum(insured) > insurance) found.add('the allowance of insurance');

  // The unit's final equity: every payment has a source and no money is lost.
  const left =
    equity +
    sum(closings.map(({ charge, relief }) => charge - relief)) +
    sum(insured) +
    shortfall -
    sum(fees);
  if (left < 0n || (equity < 0n && left !== 0n)) found.add('the bankrupt ends at exactly 0');
  if (shortfall < 0n) found.add('the shortfall is not paid out');

  const after = new Map<PlanUnit, bigint>();
  const rooms = closings.map(({ position: index, party, lots, charge, relief }) => {
    const { side, tickLot, markTicks, settleTicks, settleMove, parties } = of(index);
    const { unit } = parties[party]!;
    const move = Math.max(0, -side * settleMove);
    const bound = BigInt(lots) * BigInt(move) * tickLot;
    if (charge < 0n || relief < 0n || charge > bound) found.add('no charge beyond the gain');
    if (unit.isHouse && relief !== 0n) found.add('the house needs no relief');
    const gain = BigInt(lots) * BigInt(side * (markTicks - settleTicks)) * tickLot;
    after.set(unit, (after.get(unit) ?? unit.equity) + gain + relief - charge);
    return { index, unit, left: bound - charge };
  });
  for (const [unit, equityAfter] of after) {
    const before = unit.equity < 0n ? unit.equity : 0n;
    if (!unit.isHouse && equityAfter < before) found.add('no party falls below zero');
  }
  // The shortfall pays last: no party has capacity left where the bankrupt lost more than was
  // charged.
  const deficit = equity < 0n ? -equity : 0n;
  if (sum(closings.map(({ charge }) => charge)) < deficit) {
    positions.forEach((position, index) => {
      const borne = sum(closings.filter((of) => of.position === index).map((of) => of.charge));
      const able = rooms.some(
        (room) =>
          room.index === index &&
          room.left > 0n &&
          (room.unit.isHouse || (after.get(room.unit) ?? 0n) > 0n),
      );
      if (borne < lossOf(position) && able) found.add('the shortfall pays last');
    });
  }
  return found;
}

const ticks = fc.integer({ min: 50, max: 150 });
const drawn = fc.record({
  units: fc.array(
    fc.record({
      equity: fc.bigInt({ min: -2_000n, max: 6_000n }),
      isHouse: fc.integer({ min: 0, max: 5 }).map((face) => face === 0),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  markets: fc.array(
    fc.record({
      side: fc.constantFrom(1 as const, -1 as const),
      lots: fc.integer({ min: 1, max: 40 }),
      tickLot: fc.bigInt({ min: 1n, max: 3n }),
      before: ticks,
      mark: ticks,
      drift: fc.integer({ min: -3, max: 3 }),
      moved: fc.boolean(),
      maintenance: fc.bigInt({ min: 0n, max: 500n }),
      fee: fc.bigInt({ min: 0n, max: 100n }),
      allowance: fc.bigInt({ min: 0n, max: 500n }),
      holders: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 30 })), { maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  equity: fc.bigInt({ min: -9_000n, max: 2_000n }),
  insurance: fc.bigInt({ min: 0n, max: 800n }),
});

const inputs = drawn.map(({ units, markets, equity, insurance }): Input => {
  const positions = markets.map((market): PlanPosition => {
    const seen = new Set<PlanUnit>();
    const parties = market.holders.flatMap(([pick, lots]) => {
      const unit = units[pick % units.length]!;
      // A unit has one position per market.
      if (seen.has(unit)) return [];
      seen.add(unit);
      return [{ unit, lots }];
    });
    const held = parties.reduce((total, { lots }) => total + lots, 0);
    const last = { unit: { equity: 0n, isHouse: true }, lots: market.lots };
    const settle = market.mark + market.drift;
    return {
      side: market.side,
      lots: market.lots,
      tickLot: market.tickLot,
      markTicks: market.mark,
      settleTicks: settle,
      settleMove: market.moved ? settle - market.before : 0,
      maintenance: market.maintenance,
      value: BigInt(market.lots * market.mark) * market.tickLot,
      fee: market.fee,
      allowance: market.allowance,
      parties: held < market.lots ? [...parties, last] : parties,
    };
  });
  return { equity, positions, insurance };
});

const runs = { numRuns: 3_000, seed: 16 };

test('on random networks every bound of R-6.4 holds', () => {
  fc.assert(
    fc.property(inputs, (input) => {
      expect([...broken(input, planned(input))]).toEqual([]);
    }),
    runs,
  );
});

/** Plans that violate one rule each. */
const FAULTS: readonly (readonly [string, Planner])[] = [
  [
    'no party falls below zero',
    (input) => {
      const rich = new Map<PlanUnit, PlanUnit>();
      const unbounded = (unit: PlanUnit): PlanUnit => {
        const known = rich.get(unit) ?? { ...unit, equity: unit.equity + 1_000_000n };
        rich.set(unit, known);
        return known;
      };
      const positions = input.positions.map((position) => ({
        ...position,
        parties: position.parties.map(({ unit, lots }) => ({ unit: unbounded(unit), lots })),
      }));
      return planned({ ...input, positions });
    },
  ],
  [
    'no charge beyond the gain',
    (input) => {
      const wide = (move: number): number => move * 2;
      const positions = input.positions.map((position) => ({
        ...position,
        settleMove: wide(position.settleMove),
      }));
      return planned({ ...input, positions });
    },
  ],
  ['the bankrupt ends at exactly 0', (input) => ({ ...planned(input), shortfall: 0n })],
  [
    'the house needs no relief',
    (input) => {
      const plan = planned(input);
      return { ...plan, closings: plan.closings.map((closing) => ({ ...closing, relief: 1n })) };
    },
  ],
  [
    'the bankrupt ends at exactly 0',
    (input) => {
      const plan = planned(input);
      // A Quantum is lost in rounding.
      const at = plan.closings.findIndex(({ charge }) => charge > 0n);
      return {
        ...plan,
        closings: plan.closings.map((closing, i) =>
          i === at ? { ...closing, charge: closing.charge - 1n } : closing,
        ),
      };
    },
  ],
  [
    'the shortfall pays last',
    (input) => {
      const plan = planned(input);
      const charged = sum(plan.closings.map(({ charge }) => charge));
      return {
        ...plan,
        shortfall: plan.shortfall + charged,
        closings: plan.closings.map((closing) => ({ ...closing, charge: 0n })),
      };
    },
  ],
  [
    'the allowance of insurance',
    (input) => planned({ ...input, insurance: input.insurance * 10n + 1_000n }),
  ],
  [
    'the market’s allowance',
    (input) => {
      const positions = input.positions.map((position) => ({ ...position, allowance: 100_000n }));
      return planned({ ...input, positions });
    },
  ],
  [
    'the position is closed',
    (input) => {
      const plan = planned(input);
      return { ...plan, closings: plan.closings.slice(1) };
    },
  ],
];

test.each(FAULTS)('detects a plan without the rule “%s”', (rule, faulty) => {
  const samples = fc.sample(inputs, runs);
  const found = samples.some((input) => broken(input, faulty(input)).has(rule));
  expect(found).toBe(true);
});

describe('by hand', () => {
  const unit = (equity: bigint, isHouse = false): PlanUnit => ({ equity, isHouse });
  /** A long of 10 lots that fell from 100 to 80. */
  const position = (changes: Partial<PlanPosition>): PlanPosition => ({
    side: 1,
    lots: 10,
    tickLot: 1n,
    markTicks: 80,
    settleTicks: 80,
    settleMove: -20,
    maintenance: 40n,
    value: 800n,
    fee: 4n,
    allowance: 0n,
    parties: [{ unit: unit(1_000n), lots: 10 }],
    ...changes,
  });
  const still = { markTicks: 100, settleTicks: 100, settleMove: 0 } as const;

  test('a deficit is allocated to losses of this step, beyond them by requirement (R-6.3)', () => {
    const positions = [position({}), position(still)];
    expect(layDeficit(150n, positions)).toEqual([150n, 0n]);
    expect(layDeficit(301n, positions)).toEqual([251n, 50n]);
    expect(layDeficit(3n, [position({}), position({})])).toEqual([2n, 1n]);
  });

  test('attack 2: the holder in a market that did not move pays nothing; the shortfall pays the rest', () => {
    const bystander = unit(2_050n);
    const positions = [
      position({ ...still, parties: [{ unit: bystander, lots: 10 }] }),
      position({ parties: [{ unit: unit(30n), lots: 10 }] }),
    ];
    const plan = planClearing(-150n, positions, 0n);
    expect(plan.closings.map(({ charge }) => charge)).toEqual([0n, 30n]);
    expect(plan.shortfall).toBe(120n);
  });

  test('one unit in two markets: its equity bounds both charges together', () => {
    const both = unit(120n);
    const parties = [{ unit: both, lots: 10 }];
    const plan = planClearing(-200n, [position({ parties }), position({ parties })], 0n);
    expect(plan.closings.map(({ charge }) => charge)).toEqual([100n, 20n]);
    expect(plan.shortfall).toBe(80n);
  });

  test('rounds by lots; parties without capacity drop out; the house is bounded only by its gain', () => {
    const parties = [
      { unit: unit(10n), lots: 4 },
      { unit: unit(1_000n), lots: 3 },
      { unit: unit(-500n, true), lots: 3 },
    ];
    const plan = planClearing(-101n, [position({ parties })], 0n);
    // 40 → 10; of the other 91 two halves, the odd Quantum by rank.
    expect(plan.closings.map(({ charge }) => charge)).toEqual([10n, 46n, 45n]);
    const beyond = planClearing(-500n, [position({ parties })], 0n);
    expect(beyond.closings.map(({ charge }) => charge)).toEqual([10n, 60n, 60n]);
    expect(beyond.shortfall).toBe(370n);
  });

  test('a counterparty below zero at the settlement price gets relief: from the owner, insurance, the shortfall', () => {
    // The mark is 5 above the index: a short closed at 85 loses 5 a lot against the mark.
    const parties = [{ unit: unit(20n), lots: 10 }];
    const against = position({
      settleTicks: 85,
      settleMove: 0,
      parties,
      allowance: 7n,
    });
    expect(planClearing(40n, [against], 100n)).toMatchObject({
      closings: [{ relief: 30n, charge: 0n }],
      fees: [4n],
      insurance: [0n],
      shortfall: 0n,
    });
    expect(planClearing(0n, [against], 100n)).toMatchObject({
      fees: [0n],
      insurance: [7n],
      shortfall: 23n,
    });
  });

  test('the fee is at most what the owner can pay without frozen gains, after the relief', () => {
    const closed = position({ settleTicks: 85, settleMove: 0 });
    const feesFor = (payable: bigint) => planClearing(40n, [closed, closed], 0n, payable).fees;
    expect([8n, 6n, 0n, -5n].map(feesFor)).toEqual([
      [4n, 4n],
      [4n, 2n],
      [0n, 0n],
      [0n, 0n],
    ]);
    const parties = [{ unit: unit(20n), lots: 10 }];
    const relieved = position({ settleTicks: 85, settleMove: 0, parties });
    expect(planClearing(40n, [relieved], 0n, 33n)).toMatchObject({
      closings: [{ relief: 30n }],
      fees: [3n],
    });
  });

  test('insurance pays each part within the market’s limit, and in sum within its own', () => {
    const positions = [position({ allowance: 30n }), position({ allowance: 90n })];
    expect(planInsurance([100n, 100n], positions, 70n)).toEqual([30n, 40n]);
  });
});
