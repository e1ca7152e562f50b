/**
 * Units below maintenance, found through marks and bounds, against a plain scan of all
 * units. Amounts are some Quanta, so a bound is often exact.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Exposure, Subaccount } from '../../../src/engine/accounts/subaccount.ts';
import { findEndangered, firstDanger } from '../../../src/engine/liquidation/endangered.ts';
import { isBelowMaintenance, RiskUnit } from '../../../src/engine/margin/risk-unit.ts';
import type { Market } from '../../../src/engine/market/market.ts';
import type { State } from '../../../src/engine/state.ts';
import { lots, priceTicks, quanta, timeUs } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

const USERS = ['ann', 'bob', 'cat', 'dan'];
/** A lot at one tick is worth one Quantum. */
const TINY = { tickSize: '0.001', lotSize: '0.001' };

interface Position {
  readonly lots: number;
  readonly isolated: boolean;
}

interface Holder {
  readonly cash: number;
  readonly margin: number;
  readonly positions: readonly Position[];
}

interface Scene {
  readonly state: State;
  readonly users: readonly Subaccount[];
  readonly markets: readonly Market[];
  /** Steps of liquidation so far: whose, and which. */
  readonly steps: () => string[];
}

const world = new RiskWorld([
  { ...TINY, symbol: 'M' },
  { ...TINY, symbol: 'N', initialMargin: '0.2', maintenanceMargin: '0.13' },
]);
world.checks = false;
world.fund(Object.fromEntries(USERS.map((name) => [name, '1'])));

/** Holders of positions that were opened at 100, the mark; each is marked for a risk check. */
function sceneOf(holders: readonly Holder[]): Scene {
  const state = stateOf(world.engine);
  const users = USERS.map((name) => state.subaccount(world.idOf(name)));
  const { markets } = state;
  state.drainRiskChecks();
  state.context.due.takeMoved();
  for (const market of markets) {
    market.markTicks = priceTicks(100);
    market.frozen = false;
    market.frozenAtCheck = false;
  }
  for (const [i, user] of users.entries()) {
    const holder = holders[i];
    user.cash = quanta(BigInt(holder?.cash ?? 0));
    user.clearingDebt = quanta(0n);
    for (const [j, market] of markets.entries()) {
      const { lots: size, isolated } = holder?.positions[j] ?? { lots: 0, isolated: false };
      const exposure = user.exposure(market.id);
      market.liquidation.remove(exposure);
      exposure.positionLots = lots(size);
      exposure.costQuanta = quanta(BigInt(size) * 100n);
      exposure.isolated = isolated;
      exposure.marginQuanta = quanta(isolated ? BigInt(holder?.margin ?? 0) : 0n);
      exposure.liquidationLots = 0;
    }
    state.markForRiskCheck(user);
  }
  const from = world.events.length;
  return {
    state,
    users,
    markets,
    steps: () => world.steps(from),
  };
}

const unitsOf = (user: Subaccount): RiskUnit[] => [
  new RiskUnit(user, null),
  ...user.exposures.flatMap((exposure) =>
    exposure?.isolated === true && exposure.positionLots !== 0
      ? [new RiskUnit(user, exposure)]
      : [],
  ),
];

/** `subaccount market` of each unit below maintenance, by a plain scan. */
const scanned = ({ state, users }: Scene): string[] =>
  users
    .flatMap(unitsOf)
    .filter((unit) => isBelowMaintenance(unit.figures(state)))
    .map(nameOf);

const nameOf = (unit: RiskUnit): string => `${unit.subaccount.id} ${String(unit.market)}`;

const found = ({ state }: Scene, ends: boolean): string[] =>
  findEndangered(state, ends).map(({ unit }) => nameOf(unit));

/** The subaccounts that stay marked; they are marked again. */
function marked({ state }: Scene): number[] {
  const subaccounts = state.drainRiskChecks();
  for (const subaccount of subaccounts) state.markForRiskCheck(subaccount);
  return subaccounts.map(({ id }) => id);
}

const idsIn = (units: readonly string[]): number[] => [
  ...new Set(units.map((unit) => Number(unit.split(' ')[0]))),
];

function move({ state }: Scene, market: Market, ticks: number): void {
  market.markTicks = priceTicks(ticks);
  state.context.due.noteMoved(market);
}

/** Freezes or thaws; a change marks all holders. */
function setFrozen(scene: Scene, market: Market, frozen: boolean): void {
  if (market.frozen === frozen) return;
  market.frozen = frozen;
  for (const user of scene.users) scene.state.markForRiskCheck(user);
  scene.state.context.due.noteMoved(market);
}

const positionOf = fc.record({ lots: fc.integer({ min: -9, max: 9 }), isolated: fc.boolean() });
const holderOf = fc.record({
  cash: fc.integer({ min: 0, max: 400 }),
  margin: fc.integer({ min: 0, max: 200 }),
  positions: fc.array(positionOf, { minLength: 2, maxLength: 2 }),
});
const holdersOf = fc.array(holderOf, { minLength: 4, maxLength: 4 });
const stepOf = fc.record({
  kind: fc.constantFrom('mark', 'mark', 'mark', 'mark', 'freeze', 'thaw', 'trade', 'pay'),
  market: fc.nat(1),
  user: fc.nat(3),
  by: fc.integer({ min: -12, max: 12 }),
  ends: fc.boolean(),
});

test('the units found through bounds are those of a plain scan', () => {
  fc.assert(
    fc.property(holdersOf, fc.array(stepOf, { maxLength: 12 }), (holders, steps) => {
      const scene = sceneOf(holders);
      expect(found(scene, true).toSorted()).toEqual(scanned(scene).toSorted());
      for (const step of steps) {
        const market = scene.markets[step.market]!;
        const user = scene.users[step.user]!;
        if (step.kind === 'freeze') setFrozen(scene, market, true);
        else if (step.kind === 'thaw') setFrozen(scene, market, false);
        else if (step.kind === 'mark') {
          if (!market.frozen) move(scene, market, market.markTicks! + step.by);
        } else if (step.kind === 'trade') {
          const exposure = user.exposure(market.id);
          exposure.positionLots = lots(exposure.positionLots + step.by);
          exposure.costQuanta = quanta(
            exposure.costQuanta + BigInt(step.by) * BigInt(market.markTicks!),
          );
          scene.state.markForRiskCheck(user);
        } else {
          user.cash = quanta(user.cash + BigInt(step.by));
          scene.state.markForRiskCheck(user);
        }
        const expected = scanned(scene);
        expect(found(scene, step.ends).toSorted()).toEqual(expected.toSorted());
        expect(marked(scene)).toEqual(idsIn(expected).toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 400 },
  );
});

test('the first mark that endangers a unit is the first of all marks on the way', () => {
  fc.assert(
    fc.property(
      holdersOf,
      fc.nat(1),
      fc.array(fc.integer({ min: -60, max: 60 }), { minLength: 1, maxLength: 3 }),
      (holders, which, moves) => {
        const scene = sceneOf(holders);
        const market = scene.markets[which]!;
        fc.pre(scanned(scene).length === 0);
        for (const by of moves) {
          const to = priceTicks(100 + by);
          const expected = firstOnTheWay(scene, market, to);
          expect(firstDanger(scene.state, market, to)).toBe(expected.ticks);
          expect(market.markTicks).toBe(100);
          expect(marked(scene)).toEqual(expected.subaccounts);
          if (expected.ticks !== null) return;
        }
      },
    ),
    { numRuns: 400 },
  );
});

/** The first mark from 100 to `to` at which a unit is below maintenance, and whose. */
function firstOnTheWay(
  scene: Scene,
  market: Market,
  to: number,
): { readonly ticks: number | null; readonly subaccounts: readonly number[] } {
  const step = to > 100 ? 1 : -1;
  for (let ticks = 100 + step; step > 0 ? ticks <= to : ticks >= to; ticks += step) {
    market.markTicks = priceTicks(ticks);
    const endangered = scanned(scene);
    market.markTicks = priceTicks(100);
    if (endangered.length > 0) {
      return { ticks, subaccounts: idsIn(endangered).toSorted((a, b) => a - b) };
    }
  }
  return { ticks: null, subaccounts: [] };
}

const flat = { lots: 0, isolated: false };
const long = { lots: 5, isolated: false };
/** A cross position of 500 in M needs 25; its owner has as much as given. */
const owner = (cash: number, positions: readonly Position[] = [long, flat]): Holder => ({
  cash,
  margin: 65,
  positions,
});

test('a closed position has no bound', () => {
  const scene = sceneOf([owner(100)]);
  found(scene, true);
  const { liquidation } = scene.markets[0]!;
  // 75 less one Quantum, over 5 a tick.
  expect(liquidation.safeFrom).toBe(86);
  inMarket(scene, 0).positionLots = lots(0);
  scene.state.markForRiskCheck(scene.users[0]!);
  found(scene, true);
  expect(liquidation.safeFrom).toBe(-Infinity);
});

test('a position in a frozen market has no bound, and its owner counts on the others only', () => {
  const scene = sceneOf([owner(400, [long, long])]);
  const [market, other] = scene.markets;
  found(scene, true);
  // 400 − 25 − 65 − 2 = 308, in halves, over 5 a tick.
  expect([market!.liquidation.safeFrom, other!.liquidation.safeFrom]).toEqual([70, 70]);
  setFrozen(scene, market!, true);
  found(scene, true);
  expect([market!.liquidation.safeFrom, other!.liquidation.safeFrom]).toEqual([-Infinity, 39]);
});

const inMarket = ({ users }: Scene, market: number): Exposure =>
  users[0]!.exposure(market as never);

test.each([
  { ends: true, steps: ['ann safe'], left: [0, 0], marked: false },
  { ends: false, steps: [], left: [3, 0], marked: true },
])('a safe liquidation of one of two positions; ends: $ends', ({ ends, left, ...expected }) => {
  const scene = sceneOf([owner(400, [long, long])]);
  inMarket(scene, 0).liquidationLots = 3;
  inMarket(scene, 0).liquidationResumesUs = timeUs(7);
  expect(found(scene, ends)).toEqual([]);
  expect(scene.steps()).toEqual(expected.steps);
  expect([0, 1].map((market) => inMarket(scene, market).liquidationLots)).toEqual(left);
  expect(inMarket(scene, 0).liquidationResumesUs).toBe(ends ? 0 : 7);
  expect(marked(scene)).toEqual(expected.marked ? [scene.users[0]!.id] : []);
});

test('a bar does not end a liquidation, and its owner stays marked', () => {
  const scene = sceneOf([owner(400)]);
  inMarket(scene, 0).liquidationLots = 3;
  expect(firstDanger(scene.state, scene.markets[0]!, priceTicks(110))).toBeNull();
  expect(inMarket(scene, 0).liquidationLots).toBe(3);
  expect(marked(scene)).toEqual([scene.users[0]!.id]);
});

test('a unit that is below maintenance before a bar stays marked, without a bound', () => {
  const scene = sceneOf([owner(24), owner(25)]);
  expect(firstDanger(scene.state, scene.markets[0]!, priceTicks(100))).toBeNull();
  expect(marked(scene)).toEqual([scene.users[0]!.id]);
  expect(scene.markets[0]!.liquidation.safeFrom).toBe(100);
});

test('a bar repays no debt, and its owner stays marked', () => {
  const scene = sceneOf([owner(400)]);
  const user = scene.users[0]!;
  user.clearingDebt = quanta(7n);
  expect(firstDanger(scene.state, scene.markets[0]!, priceTicks(110))).toBeNull();
  expect(user.clearingDebt).toBe(7n);
  expect(marked(scene)).toEqual([user.id]);
});

test('the house has no maintenance', () => {
  const scene = sceneOf([]);
  const { state, markets } = scene;
  const { houseMaker } = state;
  const exposure = houseMaker.exposure(markets[0]!.id);
  exposure.positionLots = lots(5);
  exposure.costQuanta = quanta(500n);
  houseMaker.cash = quanta(-1n);
  state.markForRiskCheck(houseMaker);
  expect(firstDanger(state, markets[0]!, priceTicks(110))).toBeNull();
  expect(marked(scene)).toEqual([]);
  state.markForRiskCheck(houseMaker);
  expect(found(scene, true)).toEqual([]);
  expect(marked(scene)).toEqual([]);
});

/**
 * `was`: frozen at the last check. At the thaw of M, a gain of 100 there repays what N leaves of a
 * debt.
 */
test.each([
  { frozen: [], was: [0], cash: 500, debt: 90, left: 0, paid: 90 },
  { frozen: [], was: [0], cash: 500, debt: 9000, left: 0, paid: 500 },
  { frozen: [], was: [], cash: 500, debt: 90, left: 0, paid: 90 },
  { frozen: [], was: [0], cash: -5, debt: 90, left: 0, paid: 0 },
  // One thaws, and another one is frozen: what remains is owed until that one thaws as well.
  { frozen: [1], was: [0, 1], cash: 500, debt: 9000, left: 8500, paid: 500 },
  { frozen: [1], was: [0, 1], cash: 500, debt: 90, left: 0, paid: 90 },
  { frozen: [1], was: [0], cash: 500, debt: 90, left: 0, paid: 90 },
  // None thaws.
  { frozen: [1], was: [1], cash: 500, debt: 90, left: 90, paid: 0 },
  { frozen: [1], was: [], cash: 500, debt: 90, left: 90, paid: 0 },
  { frozen: [0, 1], was: [0, 1], cash: 500, debt: 90, left: 90, paid: 0 },
  { frozen: [0, 1], was: [0], cash: 500, debt: 90, left: 90, paid: 0 },
])(
  'a debt of $debt, with $cash; frozen: $frozen, before: $was',
  ({ frozen, was, cash, debt, left, paid }) => {
    const scene = sceneOf([owner(cash, [long, long])]);
    const { state, markets, users } = scene;
    const user = users[0]!;
    user.clearingDebt = quanta(BigInt(debt));
    for (const [i, market] of markets.entries()) {
      market.frozen = frozen.includes(i);
      market.frozenAtCheck = was.includes(i);
    }
    const insurance = state.insurance.cash;
    // Before triggers run, a debt only keeps its owner marked.
    findEndangered(state, false);
    expect([user.clearingDebt, marked(scene)]).toEqual([BigInt(debt), [user.id]]);
    const endangered = found(scene, true);
    expect(user.clearingDebt).toBe(BigInt(left));
    expect(state.insurance.cash - insurance).toBe(BigInt(paid));
    expect(user.cash).toBe(BigInt(cash - paid));
    expect(markets.map((market) => market.frozenAtCheck)).toEqual(
      markets.map((market) => market.frozen),
    );
    expect(marked(scene)).toEqual(endangered.length > 0 ? [user.id] : []);
  },
);
